/** Installations on embedded clusters, killed after every write: the next run continues. The test does what the operator of the bootstrap cluster does. */
import { afterEach, expect, test } from "vitest";
import { err, expectOk, ok, seededRandom, systemClock, type Clock } from "#base";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { latticeClusters, latticeKinds, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { capiClusters, configMaps, fieldAt, namespaces, secrets, type Json, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { moveNamespace } from "#pivot";
import { localCluster } from "../../test/builders/cell-world.ts";
import { makeProvisioned } from "../../test/builders/move-world.ts";
import type { BootstrapHost, ManagementAccess } from "./ports.ts";
import { runInstall, runUninstall, type InstallProgress, type RunOptions } from "./run-install.ts";

const HOME = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
const NAMESPACE = "capi-prod";
const random = seededRandom(1);
/** Waiting takes no time: what is waited for happens with the next look. */
const eagerClock: Clock = {
  ...systemClock,
  after: (_ms, callback) => {
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  },
};

class World {
  bootstrap: EmbeddedCluster | undefined;
  management: EmbeddedCluster | undefined;
  readonly isPermanent: boolean;
  /** Writes and other effects until the run is killed. */
  budget = Infinity;
  kill = new AbortController();
  readonly steps: string[] = [];

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
  };

  readonly access: ManagementAccess = {
    find: () => Promise.resolve(ok(this.management === undefined ? undefined : this.watched(this.management.client))),
    kubeconfig: () => Promise.resolve(ok("apiVersion: v1\nkind: Config\n")),
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

const cluster = localCluster("prod", { endpoints: { host: "10.0.0.2" } }) as unknown as KubeObject;
let world: World;
afterEach(() => world.close());

async function expectInstalled(): Promise<void> {
  const client = world.management?.client;
  if (client === undefined) throw new Error("there is no management cluster");
  expect(await client.get(secrets, { namespace: "lattice-system", name: "lattice-parent-config" })).toMatchObject({ ok: false });
  expect(expectOk(await client.get(latticeClusters, { name: "prod" })).spec.cellRef).toBeUndefined();
  expect(await client.get<KubeObject>(capiClusters, { namespace: NAMESPACE, name: "prod" })).toMatchObject({ ok: true });
}

test("an installation makes a cluster that owns itself, and removes the bootstrap cluster", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  expect(world.steps).toEqual(["create-bootstrap", "make-cell", "apply-cluster", "detach", "remove-bootstrap"]);
  expect(world.bootstrap).toBeUndefined();
  await expectInstalled();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
});

test("an installation that is killed after every write is continued by the next run", async () => {
  world = new World();
  let killed = 0;
  for (let run = 0; run < 20; run += 1) {
    const options = world.options();
    // a step with two writes is killed after each of them, and ended by a later run
    world.budget = 1 + (run % 2);
    const ended = await runInstall({
      ...options,
      cluster,
      beside: [{ resource: namespaces, object: { ...HOME, metadata: { name: "credentials" } } }],
    });
    if (ended.ok) break;
    expect(ended.error.kind).toBe("stopped");
    killed += 1;
  }
  expect(killed).toBeGreaterThanOrEqual(4);
  expect(world.bootstrap).toBeUndefined();
  await expectInstalled();
});

test("a bootstrap cluster that was there before is released and stays", async () => {
  world = new World(true);
  world.bootstrap = await world.start();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  expect(world.steps.at(-1)).toBe("release-bootstrap");
  expect(await world.bootstrap.client.get(latticeClusters, { name: "prod" })).toMatchObject({ ok: false });
  await expectInstalled();
});

test("a LatticeCluster that is deleted meanwhile is waited for, and made again only by the next run", async () => {
  world = new World();
  let looks = 0;
  const find: BootstrapHost["find"] = async (signal) => {
    const client = world.bootstrap?.client;
    if ((await client?.get(latticeClusters, { name: "prod" }))?.ok === true) {
      looks += 1;
      if (looks === 1) await setFinalizers(client, ["test.dev/machines"]);
      if (looks === 1) await client?.delete(latticeClusters, { name: "prod" });
      if (looks === 3) await setFinalizers(client, null);
    }
    return world.host.find(signal);
  };
  const waits = new Set<string>();
  const report = (progress: InstallProgress) => void (progress.kind === "wait" && waits.add(progress.text));
  const ended = await runInstall({ ...world.options(), host: { ...world.host, find }, cluster, beside: [], report });
  expect(waits).toContain("LatticeCluster prod is being deleted in the bootstrap cluster");
  const message = "LatticeCluster prod was deleted in the bootstrap cluster; run the same command again to make it anew";
  expect(ended).toEqual(err({ kind: "refused", message }));
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  await expectInstalled();
});

async function setFinalizers(client: KubeClient | undefined, finalizers: readonly string[] | null): Promise<void> {
  await client?.patch(latticeClusters, { name: "prod" }, { type: "merge", patch: { metadata: { finalizers } } as Json });
}

test("an installation after a killed uninstallation makes no second cluster, also while the first one does not answer", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  const options = { ...world.options(), clock: systemClock };
  const report = (progress: InstallProgress) => void (progress.kind === "step" && progress.step === "delete-cluster" && world.kill.abort());
  await runUninstall({ ...options, report, orphanChildren: false });
  world.steps.length = 0;
  const find: ManagementAccess["find"] = () => Promise.resolve(err("its API server starts"));
  const ended = await runInstall({ ...world.options(), management: { ...world.access, find }, cluster, beside: [] });
  expect(ended).toEqual(err({ kind: "refused", message: "the removal of prod has begun; lattice uninstall continues it" }));
  expect(world.steps).toEqual([]);
}, 30_000);

test("a cluster that the bootstrap cluster does not accept is refused with its reason", async () => {
  world = new World();
  const invalid = { ...cluster, spec: { provider: { type: "none" } } } as KubeObject;
  const ended = await runInstall({ ...world.options(), cluster: invalid, beside: [] });
  expect(ended).toMatchObject({
    ok: false,
    error: { kind: "refused", message: expect.stringContaining("is not accepted by the bootstrap cluster") as string },
  });
});

test("steps that fail for too long end the run, and the reason is reported meanwhile", async () => {
  world = new World();
  const reported: string[] = [];
  const host = { ...world.host, create: () => Promise.resolve(err("no disk space")) };
  const report = (progress: InstallProgress) => void (progress.kind === "failed" && reported.push(progress.message));
  const ended = await runInstall({ ...world.options(), host, cluster, beside: [], patienceMs: 5, report });
  expect(ended).toEqual(err({ kind: "failed", message: "no disk space" }));
  expect(new Set(reported)).toEqual(new Set(["no disk space"]));
});

test("a wait between two failures of a step is no failure: the patience begins again", async () => {
  world = new World();
  let elapsedMs = 0;
  const clock: Clock = { ...eagerClock, monotonic: () => elapsedMs };
  let attempts = 0;
  const host: BootstrapHost = {
    ...world.host,
    create: (signal) => {
      attempts += 1;
      return attempts > 2 ? world.host.create(signal) : Promise.resolve(err("no disk space"));
    },
    find: (signal) => {
      if (attempts === 1 && elapsedMs === 0) {
        elapsedMs = 120_000;
        return Promise.resolve(err("it starts"));
      }
      return world.host.find(signal);
    },
  };
  const stop = new AbortController();
  const failures: string[] = [];
  const report = (progress: InstallProgress) => {
    if (progress.kind === "failed") failures.push(progress.message);
    if (progress.kind === "step" && progress.step === "make-cell") stop.abort();
  };
  const ended = await runInstall({ ...world.options(), clock, host, cluster, beside: [], report, signal: stop.signal });
  expect(failures).toEqual(["no disk space", "no disk space"]);
  expect(ended).toMatchObject({ error: { kind: "stopped" } });
});

test("a Secret without its namespace is refused, and the namespace is named", async () => {
  world = new World();
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "credentials", namespace: "providers" } };
  const ended = await runInstall({ ...world.options(), cluster, beside: [{ resource: secrets, object }] });
  const message = "Secret credentials is not accepted by the bootstrap cluster: there is no namespace providers; add it to the file";
  expect(ended).toEqual(err({ kind: "refused", message }));
});

test("the reverse with the kubeconfig of another cluster is refused", async () => {
  world = new World();
  world.management = await world.start();
  const identity = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: "lattice-system" } };
  expectOk(await world.management.client.create(configMaps, { ...identity, data: { cluster: "east" } }));
  const refused = await runUninstall({ ...world.options(), orphanChildren: false });
  const message = "the kubeconfig of prod leads to cluster east; give the one of prod, and run the same command again";
  expect(refused).toEqual(err({ kind: "refused", message }));
});

test("the reverse moves the objects back, and deletes the cluster with the bootstrap cluster; a cluster with children is refused", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  const child = localCluster("east") as unknown as LatticeCluster;
  expectOk(
    (await world.management?.client.create(latticeClusters, child)) ??
      err({ kind: "network" as const, message: "", retry: "useless" as const }),
  );
  const options = () => ({ ...world.options(), clock: systemClock });
  const refused = await runUninstall({ ...options(), orphanChildren: false });
  expect(refused).toMatchObject({
    ok: false,
    error: { kind: "refused", message: expect.stringContaining("has children (east)") as string },
  });
  expectOk(await runUninstall({ ...options(), orphanChildren: true }));
  expect(world.steps.slice(-4)).toEqual(["create-bootstrap", "move-back", "delete-cluster", "remove-bootstrap"]);
  expect([world.bootstrap, world.management]).toEqual([undefined, undefined]);
}, 30_000);

test("a bootstrap cluster that stays has no kubeconfig of the cluster after its objects are refused", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  world.bootstrap = await world.start();
  const { client } = world.bootstrap;
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  const other = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "prod", namespace: NAMESPACE }, spec: {} };
  expectOk(await client.create<KubeObject>(capiClusters, other));
  const host: BootstrapHost = { ...world.host, atEnd: "kept" };
  const refused = await runUninstall({ ...world.options(), host, clock: systemClock, orphanChildren: false });
  expect(refused).toMatchObject({ ok: false, error: { kind: "refused" } });
  expect(await client.get(secrets, { namespace: NAMESPACE, name: "prod-kubeconfig" })).toMatchObject({ error: { kind: "not-found" } });
}, 30_000);

test("two uninstallations at the same time have different names in the lease of the move", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  world.bootstrap = await world.start();
  const stop = new AbortController();
  const uninstall = async (seed: number) => {
    const holders = new Set<string>();
    const find: ManagementAccess["find"] = async (signal) => {
      const found = await world.access.find(signal);
      return found.ok && found.value !== undefined ? ok(withHolders(found.value, holders)) : found;
    };
    const report = (progress: InstallProgress) => {
      if (progress.kind === "step" && progress.step === "delete-cluster") stop.abort();
    };
    const management = { ...world.access, find };
    const ports = { clock: systemClock, random: seededRandom(seed), signal: stop.signal, management, report };
    await runUninstall({ ...world.options(), ...ports, orphanChildren: false });
    return holders;
  };
  const [first, second] = await Promise.all([uninstall(1), uninstall(2)]);
  expect(first.size + second.size).toBeGreaterThan(0);
  expect([...first].filter((holder) => second.has(holder))).toEqual([]);
}, 30_000);

/** Records the names under which leases are written. */
function withHolders(client: KubeClient, holders: Set<string>): KubeClient {
  return new Proxy(client, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...args: readonly unknown[]): unknown => {
        for (const arg of args) {
          const holder = fieldAt(arg, "spec", "holderIdentity");
          if (typeof holder === "string" && holder !== "") holders.add(holder);
        }
        return Reflect.apply(method, target, args);
      };
    },
  });
}
