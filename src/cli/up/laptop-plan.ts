/** The laptop fleet as data: its clusters, and what is created next. Pure. */
import type { KubeObject } from "#kube";
import type { CellEndpoints } from "#install";

/** Its kubeconfig is that of the folder, and in a fleet of one cluster it has the services. */
export const MANAGEMENT = "mgmt";
/** Of all clusters: the version that the embedded API server reports. */
export const LAPTOP_VERSION = "v1.36.3";

export type PlannedCluster = {
  readonly name: string;
  readonly parent: string;
  readonly workers: number;
  /** It can have children. */
  readonly isCell: boolean;
};

export const LAPTOP_CHILDREN: readonly PlannedCluster[] = [
  { name: "east", parent: MANAGEMENT, workers: 0, isCell: true },
  { name: "west", parent: MANAGEMENT, workers: 1, isCell: false },
  { name: "edge", parent: "east", workers: 0, isCell: false },
];

/** The cluster that the shop runs on. */
export const SHOP_CLUSTER = "west";
export const SHOP_ITEM = "shop";

export type PlannedItem = { readonly kind: "cluster"; readonly cluster: PlannedCluster } | { readonly kind: "shop" };

export type PlanView = {
  /** Items that were created before. They are not created again: a user may have deleted them. */
  readonly created: ReadonlySet<string>;
  readonly ownsItself: (cluster: string) => boolean;
};

/** A child is created when its parent owns itself, the shop when its cluster does. */
export function nextItems({ created, ownsItself }: PlanView): readonly PlannedItem[] {
  const clusters = LAPTOP_CHILDREN.filter(({ name, parent }) => !created.has(name) && ownsItself(parent));
  const isShopDue = !created.has(SHOP_ITEM) && ownsItself(SHOP_CLUSTER);
  return [...clusters.map((cluster) => ({ kind: "cluster", cluster }) as const), ...(isShopDue ? [{ kind: "shop" } as const] : [])];
}

export function nameOfItem(item: PlannedItem): string {
  return item.kind === "shop" ? SHOP_ITEM : item.cluster.name;
}

/** Items of the plan that cannot be created, since what they belong to was deleted by a user. */
export function isPlanComplete(created: ReadonlySet<string>, exists: (cluster: string) => boolean): boolean {
  const isDone = (name: string, needs: string) => created.has(name) || (created.has(needs) && !exists(needs));
  return LAPTOP_CHILDREN.every(({ name, parent }) => isDone(name, parent)) && isDone(SHOP_ITEM, SHOP_CLUSTER);
}

export type LocalClusterOptions = {
  readonly name: string;
  readonly version: string;
  readonly workers: number;
  readonly endpoints?: CellEndpoints | undefined;
};

export function localClusterObject({ name, version, workers, endpoints }: LocalClusterOptions): KubeObject {
  const spec = {
    provider: { type: "local", kubernetes: { version } },
    nodes: { controlPlane: 1, workers },
    ...(endpoints === undefined ? {} : { endpoints }),
  };
  const object = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name }, spec };
  return object;
}
