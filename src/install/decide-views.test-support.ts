/** What the tests of the decisions observe: both clusters in the states of an installation. */
import type { BootstrapView, ClusterObservation, InstallView, ManagementView } from "./decide.ts";

export const there = <T>(view: T): ClusterObservation<T> => ({ state: "there", view });
export const absent = { state: "absent" } as const;
export const silent = { state: "unknown", why: "connection refused" } as const;

export const fresh: BootstrapView = {
  atEnd: "removed",
  isBeingCleaned: false,
  ownership: "never-moved",
  objects: [],
  isDeleting: true,
  hasNamespace: false,
};
export const cell: BootstrapView = { ...fresh, cell: { ready: true, message: "" } };
export const requested = (phase: string, message = "") => ({
  isOurs: true,
  isBeingDeleted: false,
  phase,
  message,
  isPivoted: phase === "Ready",
});
export const provisioning: BootstrapView = {
  ...cell,
  cluster: requested("Provisioning", "1 of 2 machines run"),
  objects: ["Cluster mgmt"],
  isDeleting: false,
  hasNamespace: true,
};
export const pivoted: BootstrapView = { ...cell, cluster: requested("Ready") };
export const young: ManagementView = { ownership: "never-moved", hasCluster: false, hasParent: true, children: [] };
export const owner: ManagementView = { ownership: "owner", hasCluster: true, hasParent: true, children: [] };
export const detached: ManagementView = { ...owner, hasParent: false };

export type Row = {
  readonly name: string;
  readonly bootstrap: ClusterObservation<BootstrapView>;
  readonly management: ClusterObservation<ManagementView>;
  readonly want: object;
};
export const view = ({ bootstrap, management }: Pick<Row, "bootstrap" | "management">): InstallView => ({
  name: "mgmt",
  bootstrapName: "lattice-bootstrap",
  bootstrap,
  management,
});
