/** A child's objects by the compiler, split where the kubeconfig Secret is written: before the KubeadmControlPlane. Pure. */
import type { Result } from "#base";
import type { WantedObject } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import type { KubeObject } from "#kube";
import type { CellView, ChildObjects } from "./observed.ts";

export type CompileChildInput = {
  readonly cell: CellView;
  /** The KubeadmControlPlane that exists: its bootstrap-only fields stay as they are. */
  readonly controlPlane: KubeObject | undefined;
};

export type CompileChild = (
  cluster: LatticeCluster,
  input: CompileChildInput,
) => Result<Pick<ChildObjects, "first" | "rest">, string>;

/** Up to the KubeadmControlPlane, and from there on. */
export function splitAtControlPlane(objects: readonly WantedObject[]): Pick<ChildObjects, "first" | "rest"> {
  const at = objects.findIndex((wanted) => ("once" in wanted ? wanted.object : wanted).kind === "KubeadmControlPlane");
  return at < 0 ? { first: objects, rest: [] } : { first: objects.slice(0, at), rest: objects.slice(at) };
}
