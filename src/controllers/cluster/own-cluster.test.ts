/** The cluster controller in a cluster that owns itself: its Cluster API objects were moved to it with their labels and field managers. */
import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { compileCluster } from "#cluster-compiler";
import { FIELD_MANAGER, stamp } from "#controller-runtime";
import { latticeClusters, parseLatticeCluster } from "#crds";
import {
  capiClusters,
  capiMachineDeployments,
  configMaps,
  fieldAt,
  findCondition,
  kubeadmControlPlanes,
  secrets,
  type JsonObject,
  type KubeObject,
} from "#kube";
import { CAPI_KINDS, CellWorld, HOME, identity, localCluster } from "../../../test/builders/cell-world.ts";
import { CELL_VIEW } from "../../../test/builders/observed-child.ts";
import { type SettlingClock, SteppingClock } from "../../../test/builders/settling-clock.ts";
import { decoded } from "../../../test/builders/two-clusters.ts";

const DAY_MS = 86_400_000;
const inProd = (name: string) => ({ namespace: "capi-prod", name });
const RECORD = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "capi-prod", name: "lattice-move-record" } };
const record = (state: string) => ({ ...RECORD, data: { id: "a", state, epoch: "3", source: "s", objects: "1" } });
const JOURNAL = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "capi-prod", name: "lattice-move-journal" }, data: {} };

/** Cluster `prod`, as the parent has left it. */
async function openOwn(state = "committed", more: readonly object[] = [], clock?: SettlingClock): Promise<CellWorld> {
  const objects = [
    identity("prod"),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "capi-prod" } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "lattice-cluster-api", namespace: HOME } },
    ...(more as []),
  ];
  const world = await CellWorld.openCell(CAPI_KINDS, objects, clock);
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  await world.addCluster("prod", { nodes: { controlPlane: 3, workers: 2 } });
  const { client } = world.cluster;
  const object = expectOk(await client.get<KubeObject>(latticeClusters, { name: "prod" }));
  const parsed = expectOk(parseLatticeCluster(localCluster("prod", { nodes: { controlPlane: 3, workers: 2 } })));
  const { name, host, bootstrapPort, proxyPort, trustBundle: caBundle } = CELL_VIEW;
  const compiled = expectOk(compileCluster(parsed, { cell: { name, host, bootstrapPort, proxyPort, caBundle } }));
  for (const wanted of compiled.objects.filter(({ kind }) => kind !== "Namespace")) {
    const resource = world.cluster.resource(wanted.kind, wanted.apiVersion);
    const stamped = stamp(wanted, { controller: "cluster", object, ownerReferences: "none" });
    expectOk(await client.apply<KubeObject>(resource, stamped, { fieldManager: FIELD_MANAGER }));
  }
  if (state !== "") await world.cluster.add(record(state));
  world.start(world.controllers());
  await world.pass();
  return world;
}

const ready = async (world: CellWorld) => findCondition((await world.latticeCluster("prod"))?.status?.conditions, "Ready");
const replicas = async (world: CellWorld) =>
  fieldAt(await world.object<KubeObject>(capiMachineDeployments, inProd("prod-default")), "spec", "replicas");
const written = (world: CellWorld) => world.writes().filter((write) => write.startsWith("PATCH") && write.includes("cluster.x-k8s.io"));

async function scale(world: CellWorld, workers: number): Promise<void> {
  const patch = { spec: { nodes: { workers } } };
  expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }));
  await world.pass();
}

describe("a cluster that owns itself", () => {
  test("changes nothing of what its parent has applied, and keeps the fields that only new machines read", async () => {
    const world = await openOwn();
    const before = expectOk(await world.cluster.client.get<KubeObject>(kubeadmControlPlanes, inProd("prod-control-plane")));
    expect(fieldAt(before, "spec", "kubeadmConfigSpec", "postKubeadmCommands")).toBeDefined();
    const setUp = written(world).length;
    await world.pass(120_000);
    expect(written(world)).toHaveLength(setUp);
    expect((await world.latticeCluster("prod"))?.status).toMatchObject({ phase: "Ready", ownedBy: "self" });
  });

  test("applies changes of its own spec", async () => {
    const world = await openOwn();
    await scale(world, 5);
    expect(await replicas(world)).toBe(5);
  });

  test("becomes a cell without a new control plane, and gets one for names that a user adds to its certificate", async () => {
    const world = await openOwn();
    const plane = () => world.object<KubeObject>(kubeadmControlPlanes, inProd("prod-control-plane"));
    const patchSpec = async (spec: JsonObject) => {
      expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch: { spec } }));
      await world.pass();
    };
    const before = await plane();
    await patchSpec({ endpoints: { host: "cell.example.com" } });
    await patchSpec({ endpoints: { host: "other.example.com" } });
    expect(await plane()).toEqual(before);
    await patchSpec({ provider: { kubernetes: { certSANs: ["api.example.com"] } } });
    expect(fieldAt(await plane(), "spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "certSANs")).toEqual([
      "api.example.com",
      "127.0.0.1",
      "localhost",
    ]);
  });

  test("writes the kubeconfig of Cluster API with a token of its own, and renews it in time", async () => {
    const world = await openOwn();
    const first = await world.object<KubeObject>(secrets, inProd("prod-kubeconfig"));
    expect(first).toMatchObject({ type: "Opaque", metadata: { labels: { "cluster.x-k8s.io/cluster-name": "prod" } } });
    const text = decoded(fieldAt(first, "data", "value"));
    expect(text).toContain("server: https://127.0.0.1:6443");
    expect(text).toContain("name: lattice-cluster-api");
    const expires = Date.parse(first?.metadata.annotations?.["lattice.dev/token-expires"] ?? "");
    expect((expires - world.clock.now()) / DAY_MS).toBeGreaterThan(80);
    const token = /token: (.*)/.exec(text)?.[1] ?? "";
    expect(token.length).toBeGreaterThan(100);
    expect(world.lines.map((line) => JSON.stringify(line)).join()).not.toContain(token);

    const due = { metadata: { annotations: { "lattice.dev/token-renew-after": new Date(world.clock.now() + 30_000).toISOString() } } };
    expectOk(await world.cluster.client.patch(secrets, inProd("prod-kubeconfig"), { type: "merge", patch: due }));
    const before = await world.object<KubeObject>(secrets, inProd("prod-kubeconfig"));
    await world.pass();
    expect((await world.object<KubeObject>(secrets, inProd("prod-kubeconfig")))?.metadata.resourceVersion).toBe(
      before?.metadata.resourceVersion,
    );
    await world.pass(120_000);
    const renewed = await world.object<KubeObject>(secrets, inProd("prod-kubeconfig"));
    expect(renewed?.metadata.resourceVersion).not.toBe(first?.metadata.resourceVersion);
    expect(Date.parse(renewed?.metadata.annotations?.["lattice.dev/token-expires"] ?? "")).toBeGreaterThan(expires);
  });

  test("replaces the kubeconfig of its parent, or of another address", async () => {
    const annotations = { "lattice.dev/kubeconfig-of": "another" };
    const metadata = { ...inProd("prod-kubeconfig"), labels: { "cluster.x-k8s.io/cluster-name": "prod" }, annotations };
    const world = await openOwn("committed", [{ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: { value: "b2xk" } }]);
    const secret = await world.object<KubeObject>(secrets, inProd("prod-kubeconfig"));
    expect(decoded(fieldAt(secret, "data", "value"))).toContain("https://127.0.0.1:6443");
  });

  test("reports that the account of Cluster API is missing, and applies its objects all the same", async () => {
    const world = await openOwn();
    const { client } = world.cluster;
    expectOk(await client.delete(world.cluster.resource("ServiceAccount"), { namespace: HOME, name: "lattice-cluster-api" }));
    expectOk(await client.delete(secrets, inProd("prod-kubeconfig")));
    await scale(world, 4);
    expect(await replicas(world)).toBe(4);
    expect(await ready(world)).toMatchObject({ status: "Unknown", message: expect.stringContaining("lattice-cluster-api") as string });
  });

  test("applies nothing while its objects are moved away, also when its cache does not show that yet, and goes on when the move is aborted", async () => {
    const world = await openOwn();
    await world.cluster.add(JOURNAL);
    await scale(world, 5);
    expect(await replicas(world)).toBe(2);
    expect((await world.latticeCluster("prod"))?.status).toMatchObject({ phase: "Unpivoting", ownedBy: "self" });
    expect((await ready(world))?.reason).toBe("ObjectsMoving");
    expectOk(await world.cluster.client.delete(secrets, inProd("lattice-move-journal")));
    await world.pass();
    expect(await replicas(world)).toBe(5);
  });

  test.each(["receiving", "revoked"])("applies nothing while a move to it is %s", async (state) => {
    const world = await openOwn(state);
    await scale(world, 5);
    expect(await replicas(world)).toBe(2);
    expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Pivoting");
    expect(await world.object(secrets, inProd("prod-kubeconfig"))).toBeUndefined();
  });

  test("applies nothing before any move", async () => {
    const world = await openOwn("");
    await scale(world, 5);
    expect(await replicas(world)).toBe(2);
  });

  test("never makes a second control plane when its own is missing", async () => {
    const world = await openOwn();
    expectOk(await world.cluster.client.delete(kubeadmControlPlanes, inProd("prod-control-plane")));
    await world.pass();
    expect(await world.object(kubeadmControlPlanes, inProd("prod-control-plane"))).toBeUndefined();
    expect(await ready(world)).toMatchObject({ status: "False", reason: "ClusterApiMissing" });
  });

  test("reports a change that is not possible, and what is invalid", async () => {
    const world = await openOwn();
    const patch = { spec: { provider: { kubernetes: { version: "1.34.0" } } } };
    expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }));
    await world.pass();
    expect(await ready(world)).toMatchObject({
      status: "False",
      reason: "CompileError",
      message: expect.stringContaining("cannot go back from v1.36.3 to v1.34.0") as string,
    });
  });

  test("without a parent, its deletion deletes its machines; its children prevent that", async () => {
    const world = await openOwn();
    await world.addCluster("leaf");
    expectOk(await world.cluster.client.delete(latticeClusters, { name: "prod" }));
    await world.pass();
    expect(await ready(world)).toMatchObject({ reason: "HasChildren", message: expect.stringContaining("leaf") as string });
    expect(await world.object(capiClusters, inProd("prod"))).toBeDefined();
    expectOk(await world.cluster.client.delete(latticeClusters, { name: "leaf" }));
    await world.pass(120_000);
    expect(await world.object(capiClusters, inProd("prod"))).toBeUndefined();
    expect(await world.latticeCluster("prod")).toBeUndefined();
  });

  test("with a parent, it is deleted from here only when that has been away for five minutes since the last connection", async () => {
    const parent = { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: HOME } };
    const world = await openOwn("committed", [parent]);
    const connect = (connected: boolean) => world.uplink.set({ parent: "mgmt", cluster: "prod", connected }, world.clock.monotonic());
    const exists = async () => (await world.object(capiClusters, inProd("prod"))) !== undefined;
    connect(true);
    await world.remove(latticeClusters, { name: "prod" });
    for (let round = 0; round < 2; round += 1) {
      await world.pass(3_600_000);
      connect(false);
      await world.pass(240_000);
      expect(await exists()).toBe(true);
      connect(true);
    }
    connect(false);
    await world.pass(400_000);
    await world.pass();
    expect([await exists(), await world.latticeCluster("prod")]).toEqual([false, undefined]);
  });

  test("whose parent was lost right after the commit of its pivot unpauses its Cluster itself, once", async () => {
    const world = await openOwn("");
    const pause = async (paused: boolean) => {
      const patch = { spec: { paused } };
      expectOk(await world.cluster.client.patch<KubeObject>(capiClusters, inProd("prod"), { type: "merge", patch }));
      await world.pass();
    };
    const isPaused = async () => fieldAt(await world.object<KubeObject>(capiClusters, inProd("prod")), "spec", "paused") === true;
    await pause(true);
    expect(await isPaused()).toBe(true);
    await world.cluster.add({ ...RECORD, data: { ...record("committed").data, finishedAt: "", stillPaused: "" } });
    await world.pass();
    expect(await isPaused()).toBe(false);
    await pause(true);
    await world.pass(120_000);
    expect(await isPaused()).toBe(true);
  });

  test("leaves a Cluster paused that a person had paused before the move", async () => {
    const world = await openOwn("");
    const patch = { spec: { paused: true } };
    expectOk(await world.cluster.client.patch<KubeObject>(capiClusters, inProd("prod"), { type: "merge", patch }));
    await world.cluster.add({ ...RECORD, data: { ...record("committed").data, finishedAt: "", stillPaused: "Cluster/prod" } });
    await world.pass(120_000);
    expect(fieldAt(await world.object<KubeObject>(capiClusters, inProd("prod")), "spec", "paused")).toBe(true);
  });

  test("without a parent, its Cluster is unpaused before it is deleted", async () => {
    const world = await openOwn("");
    await world.end(0);
    const patch = { spec: { paused: true } };
    expectOk(await world.cluster.client.patch<KubeObject>(capiClusters, inProd("prod"), { type: "merge", patch }));
    await world.cluster.add({ ...RECORD, data: { ...record("committed").data, finishedAt: "", stillPaused: "" } });
    expectOk(await world.cluster.client.delete(latticeClusters, { name: "prod" }));
    const deleted: unknown[] = [];
    world.cluster.intercept({ verb: "delete", resource: "clusters.cluster.x-k8s.io", times: 1 }, (_action, next) => {
      deleted.push(fieldAt(world.cluster.peek<KubeObject>(capiClusters, inProd("prod")), "spec", "paused"));
      return next();
    });
    world.restart(world.controllers());
    for (let pass = 0; pass < 3; pass += 1) await world.pass(120_000);
    expect([deleted, await world.object(capiClusters, inProd("prod"))]).toEqual([[undefined], undefined]);
  });

  test("is not the owner with a record that names no move", async () => {
    const world = await openOwn();
    expectOk(await world.cluster.client.delete(configMaps, inProd("lattice-move-record")));
    await scale(world, 5);
    expect(await replicas(world)).toBe(2);
  });
});

test("a step of the wall clock does not delete the machines of a cluster whose agent has not connected yet; five minutes without its parent do", async () => {
  const clock = new SteppingClock();
  const parent = { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: HOME } };
  const world = await openOwn("committed", [parent], clock);
  const deletions = () => world.writes().filter((write) => /^DELETE .*capi-prod\/clusters\/prod/.test(write));
  await world.remove(latticeClusters, { name: "prod" });
  // the operator starts on a machine whose clock is slow
  world.uplink.starting(clock.monotonic());
  await world.pass();
  clock.step(3_600_000);
  for (let pass = 0; pass < 2; pass += 1) await world.pass(61_000);
  expect(deletions()).toEqual([]);
  expect((await ready(world))?.message).toContain("is not connected");
  for (let pass = 0; pass < 4; pass += 1) await world.pass(61_000);
  expect(deletions()).not.toEqual([]);
});
