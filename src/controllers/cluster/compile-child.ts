/** A child's objects by the compiler, split where the kubeconfig Secret is written: before the KubeadmControlPlane. Pure. */
import { map, mapErr, type Result } from "#base";
import { compileCluster, describeClusterError } from "#cluster-compiler";
import type { WantedObject } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import { kubeadmControlPlanes, namespaces, type KubeObject } from "#kube";
import type { CellView, ChildObjects } from "./observed.ts";

export type CompileChildInput = {
  readonly cell: CellView;
  /** The KubeadmControlPlane that exists: its bootstrap-only fields stay as they are. */
  readonly controlPlane: KubeObject | undefined;
};

const MAX_ERRORS_SHOWN = 10;

/** The error is one sentence for the user. */
export function compileChild(
  cluster: LatticeCluster,
  { cell, controlPlane }: CompileChildInput,
): Result<Pick<ChildObjects, "first" | "rest">, string> {
  const { name, host, bootstrapPort, proxyPort, trustBundle: caBundle } = cell;
  const existing = controlPlane === undefined ? {} : { existing: { controlPlane } };
  const compiled = compileCluster(cluster, { cell: { name, host, bootstrapPort, proxyPort, caBundle }, ...existing });
  const described = mapErr(compiled, (errors) => errors.slice(0, MAX_ERRORS_SHOWN).map(describeClusterError).join("; "));
  return map(described, ({ wanted: all }) => {
    // the namespace is created by a command: another controller applies labels to it, and two appliers with one name would undo each other
    const wanted = all.filter(({ object }) => object.kind !== namespaces.kind);
    const objects = wanted.map(({ object, once }): WantedObject => (once === undefined ? object : { object, once }));
    const at = wanted.findIndex(({ object }) => object.kind === kubeadmControlPlanes.kind);
    return { first: objects.slice(0, at), rest: objects.slice(at) };
  });
}
