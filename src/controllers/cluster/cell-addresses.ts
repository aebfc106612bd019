/** The condition about the addresses of a cell: which children keep it from serving those of its spec alone. Pure. */
import type { LatticeCluster } from "#crds";
import { findCondition, type NewCondition } from "#kube";
import type { ObservedOwn } from "./observed.ts";
import { namesOf } from "./own-state.ts";
import type { ClusterReason } from "./reasons.ts";
import { endpointsText } from "./served-endpoints.ts";

const TYPE = "EndpointsCurrent";

/** Absent until the address of the cell has changed once. */
export function endpointsCondition({ metadata: { name }, status }: LatticeCluster, { addresses }: ObservedOwn): readonly NewCondition[] {
  const written = findCondition(status?.conditions, TYPE);
  if (addresses === undefined)
    return written === undefined ? [] : [condition("True", "EndpointsCurrent", "the cluster is no cell any more")];
  const { served, children, linkIsNew } = addresses;
  const { current, former, isRemoved } = served;
  if (isRemoved) {
    const message =
      `spec.endpoints was removed, and ${namesOf(children)} connect to this cell: it goes on serving them at ${endpointsText(current)}, and takes no others; ` +
      `delete them, give each another parent (lattice reparent NAME --kubeconfig <kubeconfig of NAME> --to <kubeconfig of another cell>), or set spec.endpoints again`;
    return [condition("False", "EndpointsRemoved", message)];
  }
  if (former.length > 0 && linkIsNew) return written === undefined ? [] : [written];
  if (former.length > 0 && children.length > 0) {
    const message =
      `${namesOf(children)} may have a former address of this cell (${former.map(endpointsText).join("; ")}), which is served beside ${endpointsText(current)} until none has it; ` +
      `for each that owns itself, run: lattice reparent NAME --kubeconfig <kubeconfig of NAME> --to <kubeconfig of ${name}>`;
    return [condition("False", "FormerEndpointsInUse", message)];
  }
  return written === undefined ? [] : [condition("True", "EndpointsCurrent", `all children connect to ${endpointsText(current)}`)];
}

function condition(status: NewCondition["status"], reason: ClusterReason, message: string): NewCondition {
  return { type: TYPE, status, reason, message };
}
