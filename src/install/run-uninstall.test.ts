/** Uninstallations on embedded clusters. */
import { afterEach, expect, test } from "vitest";
import { base64OfText, err, expectOk, ok, seededRandom, systemClock } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { capiClusters, configMaps, fieldAt, namespaces, secrets, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { localCluster } from "../../test/builders/cell-world.ts";
import type { BootstrapHost, ManagementAccess } from "./ports.ts";
import { runInstall, runUninstall, type InstallProgress } from "./run-install.ts";
import { cluster, NAMESPACE, World } from "./run-world.test-support.ts";

let world: World;
afterEach(() => world.close());

test("the reverse with the kubeconfig of another cluster is refused", async () => {
  world = new World();
  world.management = await world.start();
  const identity = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: "lattice-system" } };
  expectOk(await world.management.client.create(configMaps, { ...identity, data: { cluster: "east" } }));
  const refused = await runUninstall({ ...world.options(), orphanChildren: false });
  const message = "the kubeconfig of prod leads to cluster east; give the one of prod, and run the same command again";
  expect(refused).toEqual(err({ kind: "refused", message }));
});

test("the reverse of a child is refused with the name of its parent, and nothing is started", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  const client = world.management?.client;
  const data = { cell: base64OfText("east") };
  await client?.create<KubeObject>(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "lattice-parent-config", namespace: "lattice-system" },
    data,
  } as KubeObject);
  world.steps.length = 0;
  const refused = await runUninstall({ ...world.options(), orphanChildren: true });
  expect(refused).toMatchObject({
    error: { kind: "refused", message: expect.stringMatching(/^prod is a child of east: delete its LatticeCluster there/) as string },
  });
  expect([world.steps, world.bootstrap]).toEqual([[], undefined]);
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
