/** What a pure function can see of a LatticeCluster that passes its schema and cannot work. All errors are found at once. */
import type { LatticeCluster } from "#crds";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterContext, ClusterSettingsInput } from "../input.ts";
import { checkEndpoints } from "./endpoints.ts";
import { checkNetworks } from "./networks.ts";
import { checkNodes } from "./nodes.ts";
import { checkParent } from "./parent.ts";
import { checkPools } from "./pools.ts";
import { checkProvider } from "./provider.ts";
import { checkVersion } from "./version.ts";

export function checkCluster(
  cluster: LatticeCluster,
  context: ClusterContext,
  settings: ClusterSettingsInput,
): readonly ClusterSpecError[] {
  return [
    ...checkProvider(cluster),
    ...checkVersion(cluster, settings),
    ...checkNodes(cluster, context),
    ...checkPools(cluster, context),
    ...checkNetworks(cluster, context),
    ...checkEndpoints(cluster, context),
    ...checkParent(cluster, settings),
  ];
}
