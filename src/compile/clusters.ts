/**
 * The LatticeClusters among documents, compiled to their Cluster API objects.
 *
 * The parent is not known here, so the objects have no bootstrap script: the cell adds it when it creates the cluster.
 */
import { compileCluster } from "#cluster-compiler";
import type { KubeObject } from "#kube";
import type { DocumentProblem, LoadedWorld } from "./documents.ts";

/** The objects of all clusters, and the mistakes of those that have none. */
export type CompiledClusters = {
  /** In apply order. They can be applied repeatedly: replicas that an autoscaler sets are left out. */
  readonly objects: readonly KubeObject[];
  readonly problems: readonly DocumentProblem[];
  /** Clusters that were compiled. */
  readonly names: readonly string[];
};

/**
 * Compiles the LatticeClusters of loaded documents. A cluster whose document has mistakes is left out: those are in `problems` of the world.
 *
 * @example
 * const loaded = loadWorld(documents);
 * const { objects, problems } = compileClusters(loaded);
 */
export function compileClusters({ documents, incomplete }: Pick<LoadedWorld, "documents" | "incomplete">): CompiledClusters {
  const objects: KubeObject[] = [];
  const problems: DocumentProblem[] = [];
  const names: string[] = [];
  for (const [from, { object }] of documents) {
    if (object?.kind !== "LatticeCluster" || incomplete.has(from)) continue;
    const compiled = compileCluster(object);
    if (compiled.ok) {
      names.push(object.metadata.name);
      objects.push(...compiled.value.wanted.map((wanted) => wanted.object));
    } else problems.push(...compiled.error.map(({ path, message }) => ({ from, path, message })));
  }
  return { objects, problems, names };
}
