/**
 * A cluster with the cluster controller, whose cell is replaced: agents connect and tokens are issued when a test does it.
 */
import { ok, sensitive } from "#base";
import { bindController, type BoundController } from "#controller-runtime";
import {
  CellSlot,
  clusterController,
  selfManagerController,
  UplinkSlot,
  type ChildAccess,
  type ChildAccessRecords,
  type ChildAgent,
  type ChildPivots,
  type ClusterShared,
  type PivotView,
} from "#controllers";
import { latticeClusterKind, latticeClusters, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import {
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachines,
  capiMachineSets,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  localClusters,
  localMachineTemplates,
  type Resource,
} from "#kube";
import { ControllerWorld } from "./controller-world.ts";
import { openCrd } from "./open-crd.ts";
import { SettlingClock } from "./settling-clock.ts";
import { rawCluster } from "./valid-resources.ts";

export const HOME = "lattice-system";
export const CAPI_KINDS: readonly Resource[] = [
  capiClusters,
  capiMachines,
  capiMachineSets,
  capiMachineDeployments,
  capiMachineHealthChecks,
  kubeadmControlPlanes,
  kubeadmConfigTemplates,
  localClusters,
  localMachineTemplates,
];

/** Records in memory; they count the tokens that were issued. */
export class FakeAccess implements ChildAccessRecords {
  readonly records = new Map<string, ChildAccess>();
  issued = 0;

  read = (cluster: string) => this.records.get(cluster);

  issueTokens = (cluster: string, expiresAt: number) => {
    this.issued += 1;
    this.records.set(cluster, { spent: false, revoked: false, certificates: [], ...this.records.get(cluster), expiresAt });
    return Promise.resolve(ok({ bootstrap: sensitive(`bootstrap-${this.issued}`), proxy: sensitive(`proxy-${this.issued}`) }));
  };

  issueProxyToken = () => {
    this.issued += 1;
    return Promise.resolve(ok(sensitive(`proxy-${this.issued}`)));
  };

  extend = (cluster: string, expiresAt: number) => {
    const record = this.records.get(cluster);
    if (record !== undefined) this.records.set(cluster, { ...record, expiresAt });
    return Promise.resolve(ok(undefined));
  };

  remove = (cluster: string) => {
    this.records.delete(cluster);
    return Promise.resolve(ok(undefined));
  };
}

export class FakeLink {
  readonly views = new Map<string, ChildAgent>();
  readonly forgotten: string[] = [];
  readonly #listeners = new Set<(cluster: string) => void>();

  agents = (): ReadonlyMap<string, ChildAgent> => this.views;

  subscribe = (listener: (cluster: string) => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  forget = (cluster: string, reason: string) => void this.forgotten.push(`${cluster}: ${reason}`);

  set(cluster: string, agent: ChildAgent): void {
    this.views.set(cluster, agent);
    for (const listener of this.#listeners) listener(cluster);
  }
}

/** Moves that a test ends. */
export class FakePivots implements ChildPivots {
  readonly views = new Map<string, PivotView>();
  readonly asked: string[] = [];
  readonly #listeners = new Set<(cluster: string) => void>();

  view = (cluster: string) => this.views.get(cluster);
  start = ({ metadata: { name } }: LatticeCluster) => void this.asked.push(`start ${name}`);
  abort = ({ metadata: { name } }: LatticeCluster) => void this.asked.push(`abort ${name}`);
  unpivot = ({ metadata: { name } }: LatticeCluster) => void this.asked.push(`unpivot ${name}`);
  mirror = (cluster: string) => void this.asked.push(`mirror ${cluster}`);
  forget = (cluster: string) => void this.views.delete(cluster);

  subscribe = (listener: (cluster: string) => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  set(cluster: string, view: PivotView): void {
    this.views.set(cluster, view);
    for (const listener of this.#listeners) listener(cluster);
  }
}

export class CellWorld extends ControllerWorld {
  readonly slot = new CellSlot();
  readonly uplink = new UplinkSlot();
  readonly link = new FakeLink();
  readonly access = new FakeAccess();
  readonly pivots = new FakePivots();
  trustBundle = "CA";
  /** Of this cluster, as its operator reaches it. */
  apiServer = { url: "https://127.0.0.1:6443", ca: "OWN CA" };

  static async openCell(
    kinds: readonly Resource[] = CAPI_KINDS,
    objects: readonly FixtureObject[] = [],
    clock = new SettlingClock(),
    controllers = false,
  ): Promise<CellWorld> {
    const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } };
    const crds = [latticeClusterKind.crd(), ...kinds.map(openCrd)];
    return new CellWorld(await startEmbeddedCluster({ clock, controllers, objects: [home, ...crds, ...objects] }));
  }

  get shared(): ClusterShared {
    return { home: HOME, cell: this.slot, uplink: this.uplink, apiServer: this.apiServer };
  }

  controllers(): readonly BoundController[] {
    return [bindController(clusterController, this.shared), bindController(selfManagerController, { home: HOME, cell: this.slot })];
  }

  /** Starts the link, as the cell's service does. */
  startCell(): void {
    this.slot.set({
      link: this.link,
      access: this.access,
      pivots: this.pivots,
      trustBundle: () => this.trustBundle,
      since: this.clock.now(),
    });
  }

  async becomeCell(name = "mgmt", endpoints: object | null = { host: "127.0.0.1" }): Promise<void> {
    const spec = endpoints === null ? {} : { endpoints };
    await this.cluster.add(identity(name), rawCluster(spec, name));
  }

  async addCluster(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await this.cluster.add(localCluster(name, spec));
  }

  async pass(ms = 3_000): Promise<void> {
    await this.clock.advance(ms);
    await this.cluster.settled();
  }

  latticeCluster(name: string): Promise<LatticeCluster | undefined> {
    return this.object(latticeClusters, { name });
  }
}

export function identity(name: string): FixtureObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: HOME }, data: { cluster: name } };
}

export function localCluster(name: string, spec: Readonly<Record<string, unknown>> = {}): FixtureObject {
  const provider = { type: "local", kubernetes: { version: "1.36.3" } };
  return rawCluster({ provider, ...spec }, name);
}
