/** Commands of kubectl that a person runs after `lattice install` has refused a changed file. */
import { latticeClusters } from "#crds";
import { groupResourceOf } from "#kube";

export function editCommand(kubeconfig: string, cluster: string): string {
  return `kubectl --kubeconfig ${kubeconfig} edit ${groupResourceOf(latticeClusters)} ${cluster}`;
}

/** Deletes a management cluster that is being made, with its machines. */
export function discardText(kubeconfig: string, cluster: string): string {
  return `delete what exists with kubectl --kubeconfig ${kubeconfig} delete ${groupResourceOf(latticeClusters)} ${cluster} --wait=false, and run the same command until it has made the cluster anew`;
}
