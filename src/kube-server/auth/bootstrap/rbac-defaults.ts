/** The default Roles and bindings, parsed from the generated table when they are first needed. */
import { once } from "#base";
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { RBAC_DEFAULTS } from "./generated/rbac-defaults.ts";

const GROUP = "rbac.authorization.k8s.io";
const AGGREGATE = `${GROUP}/aggregate-to-`;

/** A Role or binding without uid and creationTimestamp. */
export type DefaultObject = {
  readonly collection: string;
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The fields after metadata. */
  readonly content: JsonObject;
  readonly owned: JsonObject;
};

export const rbacDefaults = once((): readonly DefaultObject[] => RBAC_DEFAULTS.split(/\n(?! )/).map(readObject));

const COLLECTIONS: Readonly<Record<string, string>> = {
  ClusterRole: `${GROUP}/clusterroles`,
  ClusterRoleBinding: `${GROUP}/clusterrolebindings`,
  Role: `${GROUP}/roles`,
  RoleBinding: `${GROUP}/rolebindings`,
};

function readObject(block: string): DefaultObject {
  const [head = "", ...below] = block.split("\n");
  const [kind = "", place = "", name = "", ...more] = head.split(" ");
  const namespace = place === "-" ? undefined : place;
  const lines = below.map((line) => line.trim().split(" "));
  const labels = {
    "kubernetes.io/bootstrapping": "rbac-defaults",
    ...Object.fromEntries(marked(more, "to:").map((to) => [`${AGGREGATE}${to}`, "true"])),
  };
  const content = kind.endsWith("Binding") ? bindingOf(more, lines) : roleOf(more, lines);
  return {
    collection: COLLECTIONS[kind] ?? "",
    key: namespace === undefined ? name : `${namespace}/${name}`,
    kind,
    name,
    namespace,
    labels,
    annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
    content,
    owned: ownedOf(labels, content),
  };
}

function marked(words: readonly string[], mark: string): readonly string[] {
  return words.filter((word) => word.startsWith(mark)).map((word) => word.slice(mark.length));
}

/** An aggregated role begins without rules: a controller sets them. */
function roleOf(words: readonly string[], lines: readonly (readonly string[])[]): JsonObject {
  const gathers = marked(words, "from:");
  if (gathers.length === 0) return { rules: lines.map(ruleOf) };
  const clusterRoleSelectors = gathers.map((from) => ({ matchLabels: { [`${AGGREGATE}${from}`]: "true" } }));
  return { rules: null, aggregationRule: { clusterRoleSelectors } };
}

function ruleOf([verbs = "", groups = "", targets = "", names]: readonly string[]): Json {
  if (groups === "url") return { verbs: verbs.split(","), nonResourceURLs: targets.split(",") };
  return {
    verbs: verbs.split(","),
    apiGroups: groups.split(",").map((group) => (group === "core" ? "" : group)),
    resources: targets.split(","),
    ...(names === undefined ? {} : { resourceNames: names.split(",") }),
  };
}

function bindingOf([roleKind = "", role = ""]: readonly string[], lines: readonly (readonly string[])[]): JsonObject {
  const subjects = lines.map(([kind = "", namespace = "", name = ""]) =>
    kind === "ServiceAccount" ? { kind, name, namespace } : { kind, apiGroup: GROUP, name },
  );
  return { ...(subjects.length === 0 ? {} : { subjects }), roleRef: { apiGroup: GROUP, kind: roleKind, name: role } };
}

/** managedFields in the order of a real server. */
function ownedOf(labels: Readonly<Record<string, string>>, content: JsonObject): JsonObject {
  const fields = (names: readonly string[]) => ({ ".": {}, ...Object.fromEntries(names.map((name) => [`f:${name}`, {}])) });
  const own = Object.keys(content).filter((name) => content[name] !== null && name !== "aggregationRule");
  return {
    ...("aggregationRule" in content ? { "f:aggregationRule": { ".": {}, "f:clusterRoleSelectors": {} } } : {}),
    "f:metadata": {
      "f:annotations": fields(["rbac.authorization.kubernetes.io/autoupdate"]),
      "f:labels": fields(Object.keys(labels)),
    },
    ...Object.fromEntries(own.toSorted().map((name) => [`f:${name}`, {}])),
  };
}

/** Whether an object is unchanged since its creation: then nothing must be restored. */
export function isUntouched(object: KubeObject, { content }: DefaultObject): boolean {
  return Object.entries(content).every(([name, value]) => jsonEqual((object as unknown as JsonObject)[name] ?? null, value));
}
