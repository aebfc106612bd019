/** The Cluster API objects of a namespace: of all kinds that a move would take, by the label of their definitions. */
import { err, ok, type Result } from "#base";
import { customResourceDefinitions, field, fieldAt, type KubeObject, type Resource } from "#kube";
import type { CallOptions, KubeClient } from "#kube-client";

const CLUSTERCTL_LABEL = "clusterctl.cluster.x-k8s.io";
/** clusterctl's own inventory stays where it is. */
const INVENTORY_GROUP = "clusterctl.cluster.x-k8s.io";
const AT_ONCE = 8;
const MOST_NAMED = 100;

/** "Cluster mgmt", "Machine mgmt-…" and so on, at most 100. */
export async function remainingObjects(
  client: KubeClient,
  namespace: string,
  options: CallOptions,
): Promise<Result<readonly string[], string>> {
  const definitions = await client.list<KubeObject>(customResourceDefinitions, { labelSelector: CLUSTERCTL_LABEL }, options);
  if (!definitions.ok) return err(definitions.error.message);
  const queue = definitions.value.items.flatMap(resourceOf);
  const found: string[] = [];
  let failed: string | undefined;
  const work = async () => {
    for (let next = queue.shift(); next !== undefined && failed === undefined && found.length < MOST_NAMED; next = queue.shift()) {
      const { kind } = next;
      const page = await client.list<KubeObject>(next, { namespace, limit: MOST_NAMED }, options);
      if (page.ok) found.push(...page.value.items.map(({ metadata }) => `${kind} ${metadata.name}`));
      else if (page.error.kind !== "not-found") failed = page.error.message;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed === undefined ? ok(found.toSorted().slice(0, MOST_NAMED)) : err(failed);
}

function resourceOf(definition: KubeObject): readonly Resource[] {
  const [group, scope, kind, plural] = [["group"], ["scope"], ["names", "kind"], ["names", "plural"]].map((path) =>
    textAt(definition, ...path),
  );
  const versions = fieldAt(definition, "spec", "versions");
  const served = Array.isArray(versions) ? versions.find((version) => field(version, "storage") === true) : undefined;
  const version = field(served, "name");
  if (scope !== "Namespaced" || group === INVENTORY_GROUP || typeof version !== "string") return [];
  return [{ group: group ?? "", version, kind: kind ?? "", plural: plural ?? "", namespaced: true }];
}

function textAt(definition: KubeObject, ...path: readonly string[]): string {
  const value = fieldAt(definition, "spec", ...path);
  return typeof value === "string" ? value : "";
}
