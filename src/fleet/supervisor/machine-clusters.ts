/** The clusters of a fleet, as its machines use them: made with the first control-plane machine, removed with the last one. */
import type { Result } from "#base";
import type { ClusterFolder } from "../fleet-types.ts";
import type { ClusterKeeper } from "./cluster-keeper.ts";

export type MachineClusters = {
  readonly find: (name: string) => ClusterKeeper | undefined;
  /** Creates the folders of a cluster. */
  readonly prepare: (folder: ClusterFolder) => Result<void, string>;
  /** Starts a cluster from its settings. */
  readonly add: (name: string) => Result<ClusterKeeper, string>;
  /** Ends its processes; it is not listed any more. */
  readonly remove: (name: string) => Promise<void>;
};
