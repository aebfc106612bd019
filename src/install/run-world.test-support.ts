/**
 * Installations on embedded clusters, which are killed after a number of writes. The world does what the operator of the bootstrap cluster and Cluster API do.
 */
import { expect } from "vitest";
import { err, expectOk, ok, seededRandom, systemClock, type Clock } from "#base";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { latticeClusters, latticeKinds, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { capiClusters, configMaps, secrets, type Json, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { moveNamespace } from "#pivot";
import { localCluster } from "../../test/builders/cell-world.ts";
import { makeProvisioned } from "../../test/builders/move-world.ts";
import type { BootstrapHost, ManagementAccess } from "./ports.ts";
import type { InstallProgress, RunOptions } from "./run-install.ts";

export const HOME = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
export const NAMESPACE = "capi-prod";
const random = seededRandom(1);
/** Waiting takes no time: what is waited for happens with the next look. */
export const eagerClock: Clock = {
  ...systemClock,
  after: (_ms, callback) => {
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

export class World {
  bootstrap: EmbeddedCluster | undefined;
  management: EmbeddedCluster | undefined;
  readonly isPermanent: boolean;
  /** Writes and other effects until the run is killed. */
  budget = Infinity;
  kill = new AbortController();
  readonly steps: string[] = [];
  /** Its machines do not become ready. */
  isHanging: (requested: LatticeCluster) => boolean = () => false;

  constructor(isPermanent = false) {
    this.isPermanent = isPermanent;
  }

  async start(): Promise<EmbeddedCluster> {
    const kinds = [HOME, ...latticeKinds.map(({ crd }) => crd()), ...reducedCapiCrds("docker"), ...providerInventory("docker")];
    return startEmbeddedCluster({ objects: kinds as unknown as readonly FixtureObject[], logActions: false, seed: random() * 1e6 });
  }

  async close(): Promise<void> {
    await this.bootstrap?.close();
    await this.management?.close();
  }

  spend(): void {
    this.budget -= 1;
    if (this.budget <= 0) this.kill.abort();
  }

  /** Counts writes; none is sent after the kill. */
  watched(client: KubeClient): KubeClient {
    const writes = new Set<string | symbol>(["create", "update", "apply", "patch", "delete"]);
    return new Proxy(client, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...args: readonly unknown[]) => {
          if (writes.has(name) && this.kill.signal.aborted) return err({ kind: "cancelled", message: "killed", retry: "useless" });
          const answer: unknown = await Reflect.apply(method, target, args);
          if (writes.has(name)) this.spend();
          return answer;
        };
      },
    });
  }

  readonly host: BootstrapHost = {
    name: "boot",
    atEnd: "removed",
    find: async () => {
      await this.operate();
      return ok(this.bootstrap === undefined ? undefined : this.watched(this.bootstrap.client));
    },
    create: async () => {
      this.bootstrap = await this.start();
      this.spend();
      return ok(undefined);
    },
    remove: async () => {
      await this.bootstrap?.close();
      this.bootstrap = undefined;
      this.spend();
      return ok(undefined);
    },
    endpoints: () =>
      Promise.resolve(ok({ host: "10.0.0.1", grpcPort: 1, bootstrapPort: 2, proxyPort: 3, service: { type: "ClusterIP" as const } })),
    discard: "delete it",
  };

  readonly access: ManagementAccess = {
    find: () => Promise.resolve(ok(this.management === undefined ? undefined : this.watched(this.management.client))),
    kubeconfig: () => Promise.resolve(ok("apiVersion: v1\nkind: Config\n")),
    edit: "kubectl edit",
  };

  /** One pass of the operator and of Cluster API in the bootstrap cluster. */
  async operate(): Promise<void> {
    const client = this.bootstrap?.client;
    if (client === undefined) return;
    const cluster = await client.get<KubeObject>(capiClusters, { namespace: NAMESPACE, name: "prod" });
    if (cluster.ok && cluster.value.metadata.deletionTimestamp !== undefined) return this.#removeMachines(client);
    await setStatus(client, "boot", { phase: "Ready", conditions: [ready()] });
    const requested = await client.get(latticeClusters, { name: "prod" });
    if (!requested.ok) return;
    if (requested.value.metadata.deletionTimestamp !== undefined) return;
    if (this.management === undefined) {
      this.management = await this.start();
      await makeProvisioned(client, "prod", 1, NAMESPACE);
      return setStatus(client, "prod", { phase: "Provisioning", message: "machines exist" });
    }
    if (!cluster.ok) return setStatus(client, "prod", { phase: "Ready", conditions: [ready()] });
    if (this.isHanging(requested.value)) return;
    await this.#pivot(client, this.management.client, requested.value);
  }

  async #pivot(source: KubeClient, target: KubeClient, { spec }: LatticeCluster): Promise<void> {
    const parent = { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: "lattice-system" } };
    await target.create(secrets, parent);
    const identity = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: "lattice-system" } };
    await target.create(configMaps, { ...identity, data: { cluster: "prod" } });
    const own = {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeCluster",
      metadata: { name: "prod" },
      spec: { ...spec, cellRef: "boot" },
    };
    await target.create(latticeClusters, own as LatticeCluster);
    const ports = { clock: systemClock, random, signal: new AbortController().signal, report: () => {}, onWait: () => {} };
    expectOk(await moveNamespace({ source, target, namespace: NAMESPACE, identity: "cell", leaseMs: 5_000, waitMs: 1_000, ...ports }));
  }

  /** Every object of the cluster goes, as its controllers do. */
  async #removeMachines(client: KubeClient): Promise<void> {
    const definitions = expectOk(await client.raw("/apis/cluster.x-k8s.io/v1beta2"));
    expect(definitions).toContain("clusters");
    for (const { resource, object } of await this.#objects(client)) {
      const key = { namespace: NAMESPACE, name: object.metadata.name };
      await client.patch<KubeObject>(resource, key, { type: "merge", patch: { metadata: { finalizers: null } } });
      await client.delete(resource, key);
    }
    await this.management?.close();
    this.management = undefined;
  }

  async #objects(client: KubeClient) {
    const found: { readonly resource: Resource; readonly object: KubeObject }[] = [];
    for (const crd of reducedCapiCrds("docker")) {
      const { group, names, versions, scope } = (crd as unknown as { spec: unknown }).spec as {
        group: string;
        names: { kind: string; plural: string };
        versions: readonly { name: string; storage: boolean }[];
        scope: string;
      };
      if (scope !== "Namespaced" || group.startsWith("clusterctl")) continue;
      const version = versions.find(({ storage }) => storage)?.name ?? "";
      const resource: Resource = { group, version, kind: names.kind, plural: names.plural, namespaced: true };
      const listed = await client.list<KubeObject>(resource, { namespace: NAMESPACE });
      if (listed.ok) found.push(...listed.value.items.map((object) => ({ resource, object })));
    }
    return found;
  }

  options(): RunOptions {
    this.kill = new AbortController();
    const host: BootstrapHost = { ...this.host, atEnd: this.isPermanent ? "kept" : "removed" };
    const report = (progress: InstallProgress) => {
      if (progress.kind === "step") this.steps.push(progress.step);
    };
    const ports = { clock: eagerClock, random, signal: this.kill.signal, identity: "test", patienceMs: 60_000, report };
    return { name: "prod", host, management: this.access, ...ports };
  }
}

function ready() {
  return { type: "Ready", status: "True", reason: "SelfManaged", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

async function setStatus(client: KubeClient, name: string, status: Json): Promise<void> {
  await client.patch(latticeClusters, { name }, { type: "merge", patch: { status } }, { subresource: "status" });
}

export const cluster = localCluster("prod", { endpoints: { host: "10.0.0.2" } }) as unknown as KubeObject;
