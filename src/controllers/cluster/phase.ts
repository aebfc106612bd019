/** The phase of any LatticeCluster. Pure. */
import type { LatticeCluster } from "#crds";
import { childStateOf, type ClusterPhase } from "./child-state.ts";
import type { ObservedCluster } from "./observed.ts";
import { ownStateOf } from "./own-state.ts";

export function phaseOf(cluster: LatticeCluster, observed: ObservedCluster): ClusterPhase {
  return observed.kind === "own" ? ownStateOf(cluster, observed).phase : childStateOf(cluster, observed).phase;
}
