/**
 * The kinds whose objects a move reads: those of CRDs that clusterctl has labelled, in their storage version, and Secrets and ConfigMaps.
 *
 * As in clusterctl, every Cluster, ClusterClass and ClusterResourceSet is moved with all that it owns; labels add other kinds.
 */
import { configMaps, field, fieldAt, groupResourceOf, secrets, type KubeObject, type Resource } from "#kube";
import { ADDONS_GROUP, CORE_GROUP, MOVE_HIERARCHY_LABEL, MOVE_LABEL } from "./names.ts";

/** "hierarchy": every object with all that it owns; "alone": every object; "owned": only what a moved object owns. */
export type MoveRule = "hierarchy" | "alone" | "owned";

export type MoveKind = {
  readonly resource: Resource;
  readonly rule: MoveRule;
  /** Its status is a subresource: it is not part of a create. */
  readonly hasStatus: boolean;
};

const ROOTS: ReadonlySet<string> = new Set([`${CORE_GROUP}/Cluster`, `${CORE_GROUP}/ClusterClass`, `${ADDONS_GROUP}/ClusterResourceSet`]);
const BUILT_IN: readonly MoveKind[] = [secrets, configMaps].map((resource) => ({ resource, rule: "owned", hasStatus: false }));

/** `crds`: the definitions with clusterctl's label. */
export function moveKinds(crds: readonly KubeObject[]): readonly MoveKind[] {
  return [...crds.flatMap(kindOf), ...BUILT_IN];
}

function kindOf(crd: KubeObject): readonly MoveKind[] {
  const resource = storedResource(crd);
  if (resource === undefined) return [];
  const { labels = {} } = crd.metadata;
  const version = versionsOf(crd).find((one) => field(one, "storage") === true);
  const hasStatus = fieldAt(version, "subresources", "status") !== undefined;
  return [{ resource, rule: ruleOf(resource, labels), hasStatus }];
}

function ruleOf({ group, kind }: Resource, labels: Readonly<Record<string, string>>): MoveRule {
  if (ROOTS.has(`${group}/${kind}`) || Object.hasOwn(labels, MOVE_HIERARCHY_LABEL)) return "hierarchy";
  return Object.hasOwn(labels, MOVE_LABEL) ? "alone" : "owned";
}

/** The kind of a definition in its storage version; undefined when the definition is incomplete. */
function storedResource(crd: KubeObject): Resource | undefined {
  const [group, kind, plural] = [["group"], ["names", "kind"], ["names", "plural"]].map((path) => fieldAt(crd, "spec", ...path));
  const version = field(
    versionsOf(crd).find((one) => field(one, "storage") === true),
    "name",
  );
  if (typeof group !== "string" || typeof kind !== "string" || typeof plural !== "string" || typeof version !== "string") return undefined;
  return { group, version, kind, plural, namespaced: fieldAt(crd, "spec", "scope") === "Namespaced" };
}

/** "machines.cluster.x-k8s.io/v1beta2": every version that the definitions serve. */
export function servedVersions(crds: readonly KubeObject[]): ReadonlySet<string> {
  const served = new Set(BUILT_IN.map(({ resource }) => versionText(resource)));
  for (const crd of crds) {
    const resource = storedResource(crd);
    if (resource === undefined) continue;
    for (const version of versionsOf(crd)) {
      const name = field(version, "name");
      if (field(version, "served") === true && typeof name === "string") served.add(versionText({ ...resource, version: name }));
    }
  }
  return served;
}

export function versionText(resource: Resource): string {
  return `${groupResourceOf(resource)}/${resource.version}`;
}

function versionsOf(crd: KubeObject): readonly unknown[] {
  const versions = fieldAt(crd, "spec", "versions");
  return Array.isArray(versions) ? versions : [];
}
