/** What a pass over the operator's own cluster observes: three ready nodes, no parent, never moved. */
import type { ObservedOwn } from "../../src/controllers/cluster/observed.ts";
import { childCluster, NO_CAPI, NOON } from "./observed-child.ts";

export const OWN_NODES: ObservedOwn["nodes"] = {
  ready: 3,
  total: 3,
  kubernetesVersion: "v1.36.3",
  byPool: new Map([["default", { total: 2, ready: 2 }]]),
};

export function observedOwn(change: Partial<ObservedOwn> = {}): ObservedOwn {
  return {
    kind: "own",
    now: NOON,
    cluster: childCluster(),
    errors: [],
    nodes: OWN_NODES,
    capi: NO_CAPI,
    hasParent: false,
    parent: undefined,
    uplink: undefined,
    cellProblem: undefined,
    management: { state: "never-moved" },
    children: [],
    ...change,
  };
}
