/** StatefulSet: little of its spec may change, and its claim templates count as volumes. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { statefulSetCells } from "../cells/workloads.ts";
import { at, numberAt, objectAt, objectsAt, textAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, forbidden, invalid, nonNegative } from "../rules/causes.ts";
import { validateClaimSpec } from "../rules/claim.ts";
import { dnsLabel } from "../rules/formats.ts";
import { validateAnnotations, validateLabels } from "../rules/object-meta.ts";
import {
  alwaysRestarts,
  selectorFitsTemplate,
  templateOf,
  unreadableSelector,
  validatePodTemplate,
  validateSelector,
} from "../rules/pod/pod-template.ts";
import { ifSetOneOf, textIfSet } from "../rules/shared.ts";
import { templateWarnings } from "../rules/warnings.ts";
import { atMostReplicas, availableAtMostReady, collisionsGrow, counts, specOf } from "../rules/workloads.ts";

const TEMPLATE = "spec.template";

const CHANGEABLE = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
];

const FIXED_SPEC =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export const statefulSet: KindRules = {
  name: dnsLabel,
  generation: specOf,
  validate: (object, previous) => [
    ...validateManagement(object),
    ...(previous === undefined ? validateClaimTemplates(object) : []),
    ...counts(object, "spec", "replicas", "minReadySeconds"),
    ...nonNegative("spec.ordinals.start", numberAt(object, "spec", "ordinals", "start")),
    ...(previous === undefined ? textIfSet("spec.serviceName", textAt(object, "spec", "serviceName"), dnsLabel) : []),
    ...validateSelector(object, "statefulset"),
    ...validateStatefulTemplate(object),
    ...alwaysRestarts(object, "StatefulSet"),
  ],
  validateUpdate: (next, previous) => {
    const fixed = (object: KubeObject) =>
      Object.fromEntries(Object.entries(objectAt(object, "spec") ?? {}).filter(([name]) => !CHANGEABLE.includes(name)));
    return jsonEqual(fixed(next), fixed(previous)) ? [] : [forbidden("spec", FIXED_SPEC)];
  },
  validateStatus: (next, previous) => [
    ...counts(
      next,
      "status",
      "replicas",
      "readyReplicas",
      "currentReplicas",
      "updatedReplicas",
      "availableReplicas",
      "observedGeneration",
      "collisionCount",
    ),
    ...atMostReplicas(next, ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"]),
    ...availableAtMostReady(next, "cannot be greater than status.readyReplicas"),
    ...collisionsGrow(next, previous),
  ],
  warnings: (next, previous) => templateWarnings(next, previous, "spec.template"),
  cells: statefulSetCells,
};

function validateManagement(object: KubeObject): Causes {
  const [policy, strategy] = [textAt(object, "spec", "podManagementPolicy"), objectAt(object, "spec", "updateStrategy") ?? {}];
  const type = textAt(strategy, "type");
  return [
    ...(["OrderedReady", "Parallel"].includes(policy)
      ? []
      : [invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")]),
    ...(["RollingUpdate", "OnDelete"].includes(type)
      ? []
      : [invalid("spec.updateStrategy", shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")]),
    ...validateRolling(strategy),
    ...["whenDeleted", "whenScaled"].flatMap((when) =>
      ifSetOneOf(`spec.persistentVolumeClaimRetentionPolicy.${when}`, at(object, "spec", "persistentVolumeClaimRetentionPolicy", when), [
        "Retain",
        "Delete",
      ]),
    ),
  ];
}

function validateRolling(strategy: JsonObject): Causes {
  const path = "spec.updateStrategy.rollingUpdate";
  if (textAt(strategy, "type") === "RollingUpdate")
    return nonNegative(`${path}.partition`, numberAt(strategy, "rollingUpdate", "partition"));
  if (textAt(strategy, "type") !== "OnDelete" || objectAt(strategy, "rollingUpdate") === undefined) return [];
  return [invalid(path, shownStrategy(strategy)["RollingUpdate"], "only allowed for updateStrategy 'RollingUpdate'")];
}

function shownStrategy(strategy: JsonObject): JsonObject {
  const rolling = objectAt(strategy, "rollingUpdate");
  const shown = { Partition: numberAt(rolling, "partition") ?? 0, MaxUnavailable: at(rolling, "maxUnavailable") ?? null };
  return { Type: textAt(strategy, "type"), RollingUpdate: rolling === undefined ? null : shown };
}

function validateClaimTemplates(object: KubeObject): Causes {
  return objectsAt(object, "spec", "volumeClaimTemplates").flatMap((claim, index) =>
    validateClaimSpec(objectAt(claim, "spec") ?? {}, `spec.volumeClaimTemplates[${index}].spec`),
  );
}

/** Claim templates become volumes; hostname and subdomain are the StatefulSet's own. */
function validateStatefulTemplate(object: KubeObject): Causes {
  const unreadable = unreadableSelector(object, "");
  if (unreadable.length > 0) return unreadable;
  const template = templateOf(object);
  const claims = [...new Set(objectsAt(object, "spec", "volumeClaimTemplates").map((claim) => textAt(claim, "metadata", "name")))];
  const own = objectsAt(template, "spec", "volumes").filter((volume) => !claims.includes(textAt(volume, "name")));
  const mounted = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = objectAt(template, "spec") ?? {};
  const checked: JsonObject = { ...template, spec: { ...spec, volumes: [...mounted, ...own] } };
  return [
    ...selectorFitsTemplate(object),
    ...validatePodTemplate(checked, TEMPLATE),
    ...validateLabels(at(template, "metadata", "labels"), `${TEMPLATE}.labels`),
    ...validateAnnotations(at(template, "metadata", "annotations"), `${TEMPLATE}.annotations`),
  ];
}
