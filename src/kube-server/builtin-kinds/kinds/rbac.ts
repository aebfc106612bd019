/** Role, ClusterRole and their bindings. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { bindingCells } from "../cells/others.ts";
import { at, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { invalid, invalidEach, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsSubdomain, pathSegment } from "../rules/formats.ts";
import { requiredText, validateLabelSelector } from "../rules/shared.ts";

const GROUP = "rbac.authorization.k8s.io";

function role(namespaced: boolean): KindRules {
  return {
    name: pathSegment,
    createOnUpdate: true,
    onUpdate: "meta-and-spec-first",
    validate: (object) => [
      ...objectsAt(object, "rules").flatMap((rule, index) => validateRule(rule, `rules[${index}]`, namespaced)),
      ...(objectAt(object, "aggregationRule") !== undefined && objectsAt(object, "aggregationRule", "clusterRoleSelectors").length === 0
        ? [required("aggregationRule.clusterRoleSelectors", "at least one clusterRoleSelector required if aggregationRule is non-nil")]
        : []),
      ...objectsAt(object, "aggregationRule", "clusterRoleSelectors").flatMap((selector, index) =>
        validateSelector(selector, `aggregationRule.clusterRoleSelectors[${index}]`),
      ),
    ],
  };
}

/** A real server validates a selector and then parses it, and reports the errors of both. */
function validateSelector(selector: JsonObject, path: string): Causes {
  const causes = validateLabelSelector(selector, path);
  return causes.length === 0 ? [] : [...causes, invalid(path, null, "invalid label selector.")];
}

function validateRule(rule: JsonObject, path: string, namespaced: boolean): Causes {
  const [urls, groups, resources] = [textsAt(rule, "nonResourceURLs"), textsAt(rule, "apiGroups"), textsAt(rule, "resources")];
  const verbs = textsAt(rule, "verbs").length === 0 ? [required(`${path}.verbs`, "verbs must contain at least one value")] : [];
  if (urls.length > 0) {
    const mixed = groups.length + resources.length + textsAt(rule, "resourceNames").length > 0;
    return [
      ...verbs,
      ...(namespaced ? [invalid(`${path}.nonResourceURLs`, urls, "namespaced rules cannot apply to non-resource URLs")] : []),
      ...(mixed ? [invalid(`${path}.nonResourceURLs`, urls, "rules cannot apply to both regular resources and non-resource URLs")] : []),
    ];
  }
  return [
    ...verbs,
    ...(groups.length === 0 ? [required(`${path}.apiGroups`, "resource rules must supply at least one api group")] : []),
    ...(resources.length === 0 ? [required(`${path}.resources`, "resource rules must supply at least one resource")] : []),
  ];
}

function binding(namespaced: boolean): KindRules {
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return {
    name: pathSegment,
    createOnUpdate: true,
    onUpdate: "meta-and-spec-first",
    validate: (object) => [
      ...validateRoleRef(objectAt(object, "roleRef") ?? {}, kinds),
      ...objectsAt(object, "subjects").flatMap((subject, index) => validateSubject(subject, `subjects[${index}]`, namespaced)),
    ],
    validateUpdate: sameRoleRef,
    cells: bindingCells,
  };
}

function validateRoleRef(roleRef: JsonObject, kinds: readonly string[]): Causes {
  const [group, kind] = [textAt(roleRef, "apiGroup"), textAt(roleRef, "kind")];
  return [
    ...(group === GROUP ? [] : [notSupported("roleRef.apiGroup", group, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported("roleRef.kind", kind, kinds)]),
    ...requiredText("roleRef.name", textAt(roleRef, "name"), pathSegment),
  ];
}

function validateSubject(subject: JsonObject, path: string, namespaced: boolean): Causes {
  const [kind, name, group] = [textAt(subject, "kind"), textAt(subject, "name"), textAt(subject, "apiGroup")];
  const unnamed = name === "" ? [required(`${path}.name`)] : [];
  switch (kind) {
    case "ServiceAccount":
      return [
        ...unnamed,
        ...(name === "" ? [] : invalidEach(`${path}.name`, name, dnsSubdomain(name))),
        ...(group === "" ? [] : [notSupported(`${path}.apiGroup`, group, [""])]),
        ...(!namespaced && textAt(subject, "namespace") === "" ? [required(`${path}.namespace`)] : []),
      ];
    case "User":
    case "Group":
      return [...unnamed, ...(group === GROUP ? [] : [notSupported(`${path}.apiGroup`, group, [GROUP])])];
    default:
      return [...unnamed, notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

function sameRoleRef(next: KubeObject, previous: KubeObject): Causes {
  const roleRef = objectAt(next, "roleRef") ?? {};
  if (jsonEqual(roleRef, at(previous, "roleRef"))) return [];
  const shown = { APIGroup: textAt(roleRef, "apiGroup"), Kind: textAt(roleRef, "kind"), Name: textAt(roleRef, "name") };
  return [invalid("roleRef", shown, "cannot change roleRef")];
}

export const rbacKinds: RulesByKind = {
  Role: role(true),
  ClusterRole: role(false),
  RoleBinding: binding(true),
  ClusterRoleBinding: binding(false),
};
