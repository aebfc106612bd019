import { describe, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import {
  apiVersionOf,
  azureClusterIdentities,
  azureClusters,
  azureMachineTemplates,
  capiClusters,
  capiMachines,
  capiMachineSets,
  fieldAt,
  findCondition,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  namespaces,
  secrets,
  services,
  type KubeObject,
  type Resource,
} from "#kube";
import { CAPI_KINDS, CellWorld, HOME } from "../../../test/builders/cell-world.ts";
import { decoded } from "../../../test/builders/two-clusters.ts";
import { CONNECTED } from "../../../test/builders/observed-child.ts";

async function openWorld(kinds?: readonly Resource[]): Promise<CellWorld> {
  const world = await CellWorld.openCell(kinds);
  onTestFinished(async () => {
    await world.end();
    await world[Symbol.asyncDispose]();
  });
  return world;
}

/** A cell that runs, and one child without machines. */
async function openCell(): Promise<CellWorld> {
  const world = await openWorld();
  await world.becomeCell();
  world.startCell();
  world.start(world.controllers());
  await world.addCluster("prod");
  await world.pass();
  return world;
}

const ready = async (world: CellWorld, name: string) => findCondition((await world.latticeCluster(name))?.status?.conditions, "Ready");
const inProd = (name: string) => ({ namespace: "capi-prod", name });

const azureSpec = {
  provider: {
    type: "azure",
    kubernetes: { version: "1.36.3" },
    credentialsRef: { name: "office", namespace: HOME },
    azure: {
      subscriptionId: "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
      location: "westeurope",
      controlPlane: { vmSize: "Standard_D4s_v5" },
      workers: { vmSize: "Standard_D4s_v5" },
    },
  },
};

function azureIdentity(spec: object) {
  const metadata = { name: "office", namespace: HOME };
  return { apiVersion: apiVersionOf(azureClusterIdentities), kind: azureClusterIdentities.kind, metadata, spec };
}

/** What Cluster API writes into the status of its Cluster. */
async function report(world: CellWorld, ...types: readonly string[]): Promise<void> {
  const cluster = await world.object<KubeObject>(capiClusters, inProd("prod"));
  const conditions = types.map((type) => ({
    type,
    status: "True",
    reason: "Available",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }));
  if (cluster === undefined) throw new Error("there is no Cluster");
  const reported = { ...cluster, status: { conditions } };
  expectOk(await world.cluster.client.update(capiClusters, reported, { subresource: "status" }));
}

describe("a child", () => {
  test("gets its parent, its namespace, its tokens and its objects, in this order", async () => {
    const world = await openCell();
    const cluster = await world.latticeCluster("prod");
    expect([cluster?.spec.cellRef, cluster?.status?.phase, cluster?.status?.ownedBy]).toEqual(["mgmt", "Provisioning", "mgmt"]);
    const writes = world.writes().filter((write) => write.includes("capi-prod") || write.includes("latticeclusters/prod"));
    const order = ["clusters/prod", "lattice-bootstrap-prod", "prod-kubeconfig", "kubeadmcontrolplanes", "machinedeployments"];
    const at = order.map((name) =>
      writes.findIndex((write) => write.startsWith("PATCH") && write.includes(name) && !write.includes("latticeclusters")),
    );
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(at).not.toContain(-1);
    const kubeconfig = await world.object<KubeObject>(secrets, inProd("prod-kubeconfig"));
    expect(kubeconfig).toMatchObject({ type: "Opaque", metadata: { labels: { "cluster.x-k8s.io/cluster-name": "prod" } } });
    const text = decoded(fieldAt(kubeconfig, "data", "value"));
    expect(text).toContain("server: https://127.0.0.1:8444/clusters/prod");
    expect(text).toContain("token: proxy-1");
    expect((await world.object<KubeObject>(capiClusters, inProd("prod")))?.metadata.ownerReferences).toBeUndefined();
    expect(world.lines.map((line) => JSON.stringify(line)).join()).not.toMatch(/proxy-1|bootstrap-1/);
  });

  test("is complete when its machines run and its agent is connected, and its pivot begins", async () => {
    const world = await openCell();
    await report(world, "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable");
    await world.pass();
    expect((await ready(world, "prod"))?.reason).toBe("WaitingForControlPlane");
    world.link.set("prod", { ...CONNECTED, lastHeartbeat: world.clock.now() });
    await world.pass();
    expect(await ready(world, "prod")).toMatchObject({ status: "False", reason: "Pivoting" });
    expect(world.pivots.asked).toContain("start prod");
    expect((await world.latticeCluster("prod"))?.status).toMatchObject({ phase: "Pivoting", readyNodes: 3, agent: { state: "ready" } });
  });

  test("has no status write for a heartbeat, and one after five minutes", async () => {
    const world = await openCell();
    world.link.set("prod", { ...CONNECTED, lastHeartbeat: world.clock.now() });
    await world.pass();
    const version = async () => (await world.latticeCluster("prod"))?.metadata.resourceVersion;
    const before = await version();
    for (let beat = 0; beat < 9; beat += 1) {
      await world.pass(30_000);
      world.link.set("prod", { ...CONNECTED, lastHeartbeat: world.clock.now() });
    }
    await world.pass();
    expect(await version()).toBe(before);
    await world.pass(30_000);
    world.link.set("prod", { ...CONNECTED, lastHeartbeat: world.clock.now() });
    await world.pass();
    expect(await version()).not.toBe(before);
  });

  test("keeps its tokens over restarts, and its bootstrap-only fields when the authority changes", async () => {
    const world = await openCell();
    world.trustBundle = "CA and its successor";
    await world.end(0);
    world.restart(world.controllers());
    await world.pass();
    expect(world.access.issued).toBe(1);
    const text = decoded(fieldAt(await world.object<KubeObject>(secrets, inProd("prod-kubeconfig")), "data", "value"));
    expect(text).toContain(Buffer.from(world.trustBundle).toString("base64"));
    expect(text).toContain("token: proxy-1");
    const controlPlane = await world.object<KubeObject>(kubeadmControlPlanes, inProd("prod-control-plane"));
    expect(JSON.stringify(controlPlane)).toContain("/etc/lattice/cell-ca.crt");
    expect(JSON.stringify(controlPlane)).not.toContain(world.trustBundle);
  });

  test("gets new tokens when a Secret was deleted", async () => {
    const world = await openCell();
    await world.remove(secrets, inProd("prod-kubeconfig"));
    await world.pass();
    expect(world.access.issued).toBe(2);
    expect(await world.object(secrets, inProd("prod-kubeconfig"))).toBeDefined();
  });

  test("loses an old template when no machine set refers to it any more", async () => {
    const world = await openCell();
    const batch = async () =>
      (await world.objects<KubeObject>(kubeadmConfigTemplates))
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith("prod-batch-"));
    const setPool = async (labels: Readonly<Record<string, string>>) => {
      const patch = { spec: { nodes: { workerPools: { batch: { replicas: 1, labels } } } } };
      expectOk(await world.cluster.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch }));
      await world.pass();
      await world.pass();
    };
    await setPool({ disk: "fast" });
    const [old = ""] = await batch();
    const machineSet = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: { name: "prod-batch-1", namespace: "capi-prod", labels: { "cluster.x-k8s.io/cluster-name": "prod" } },
      spec: { template: { spec: { bootstrap: { configRef: { kind: "KubeadmConfigTemplate", name: old } } } } },
    };
    await world.cluster.add(machineSet);
    await setPool({ disk: "slow" });
    expect(await batch()).toHaveLength(2);
    await world.remove(capiMachineSets, inProd("prod-batch-1"));
    await world.pass();
    await world.pass();
    expect(await batch()).toHaveLength(1);
    expect(await batch()).not.toContain(old);
  });

  test("is failed by its deadline, and progress of a machine starts another attempt", async () => {
    const world = await openCell();
    await world.pass(46 * 60_000);
    expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Failed");
    expect(await ready(world, "prod")).toMatchObject({ reason: "ProvisioningTimedOut" });
    await world.cluster.add({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { name: "prod-1", namespace: "capi-prod", labels: { "cluster.x-k8s.io/cluster-name": "prod" } },
    });
    await world.pass();
    expect((await world.latticeCluster("prod"))?.status?.phase).toBe("Provisioning");
    expect(world.access.records.get("prod")?.expiresAt).toBeGreaterThan(world.clock.now());
    expect(await world.objects(capiMachines)).toHaveLength(1);
  });

  test("is deleted in its own order: the Cluster, the rest, its access, its namespace", async () => {
    const world = await openCell();
    const held = { metadata: { finalizers: ["cluster.cluster.x-k8s.io"] } };
    expectOk(await world.cluster.client.patch(capiClusters, inProd("prod"), { type: "merge", patch: held }));
    await world.remove(latticeClusters, { name: "prod" });
    await world.pass();
    expect((await world.latticeCluster("prod"))?.status).toMatchObject({ phase: "Deleting" });
    expect(await world.objects(kubeadmControlPlanes)).toHaveLength(1);
    expect(world.access.records.has("prod")).toBe(true);
    expectOk(await world.cluster.client.patch(capiClusters, inProd("prod"), { type: "merge", patch: { metadata: { finalizers: [] } } }));
    await world.pass();
    await world.pass();
    expect(await world.latticeCluster("prod")).toBeUndefined();
    expect(await world.objects(kubeadmControlPlanes)).toHaveLength(0);
    expect([world.access.records.has("prod"), world.link.forgotten]).toEqual([false, ["prod: the cluster was deleted on its parent"]]);
    const left = await world.object(namespaces, { name: "capi-prod" });
    expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
  });
});

describe("a cluster that cannot be provisioned", () => {
  test.each([
    {
      name: "without an identity",
      prepare: () => Promise.resolve(),
      reason: "NotACell",
      message: "create ConfigMap lattice-system/lattice-identity",
    },
    {
      name: "on a leaf",
      prepare: (world: CellWorld) => world.becomeCell("leaf", null),
      reason: "NotACell",
      message: "LatticeCluster leaf, its own, has no spec.endpoints",
    },
    { name: "on a cell that starts", prepare: (world: CellWorld) => world.becomeCell(), reason: "CellStarting", message: "being started" },
    {
      name: "of another cell",
      prepare: (world: CellWorld) => (world.startCell(), world.becomeCell()),
      spec: { cellRef: "other" },
      reason: "CellRefDisagrees",
      message: "spec.cellRef: is other, and this cell is mgmt",
    },
    {
      name: "without its credentials",
      prepare: (world: CellWorld) => (world.startCell(), world.becomeCell()),
      spec: {
        provider: { type: "docker", kubernetes: { version: "1.36.3" }, credentialsRef: { name: "key", namespace: "lattice-system" } },
      },
      reason: "CredentialsMissing",
      message: "Secret lattice-system/key does not exist",
    },
    ...[
      { name: "on Azure without its identity", spec: undefined, message: "AzureClusterIdentity lattice-system/office does not exist" },
      { name: "on Azure with an identity for no namespace", spec: {}, message: "does not allow namespace capi-prod" },
      {
        name: "on Azure with an identity for other namespaces",
        spec: { allowedNamespaces: { list: ["capi-office"] } },
        message: "add it to spec.allowedNamespaces.list",
      },
    ].map(({ name, spec, message }) => ({
      name,
      kinds: [...CAPI_KINDS, azureClusterIdentities],
      prepare: async (world: CellWorld) => {
        world.startCell();
        await world.becomeCell();
        if (spec !== undefined) await world.cluster.add(azureIdentity(spec));
      },
      spec: azureSpec,
      reason: "CredentialsMissing",
      message,
    })),
  ])("$name is Pending with the reason", async ({ prepare, spec, reason, message, ...more }) => {
    const world = await openWorld("kinds" in more ? more.kinds : undefined);
    await prepare(world);
    world.start(world.controllers());
    await world.addCluster("prod", spec);
    await world.pass();
    expect((await world.latticeCluster("prod"))?.status).toMatchObject({
      phase: "Pending",
      message: expect.stringContaining(message) as string,
    });
    expect(await ready(world, "prod")).toMatchObject({ status: "False", reason });
    expect(await world.object(namespaces, { name: "capi-prod" })).toBeUndefined();
    await world.remove(latticeClusters, { name: "prod" });
    await world.pass();
    // whether a child has registered is known only to a cell that runs
    if (reason === "CellStarting") {
      world.startCell();
      await world.pass();
    }
    expect(await world.latticeCluster("prod")).toBeUndefined();
  });

  test.each([
    { name: "all namespaces", allowedNamespaces: {} },
    { name: "the namespace", allowedNamespaces: { list: ["capi-prod"] } },
    { name: "namespaces with a label", allowedNamespaces: { selector: { matchLabels: { team: "a" } } } },
  ])("on Azure continues when its identity is created and allows $name", async ({ allowedNamespaces }) => {
    const kinds = [...CAPI_KINDS, azureClusterIdentities, azureClusters, azureMachineTemplates];
    const world = await openWorld(kinds);
    world.startCell();
    await world.becomeCell();
    world.start(world.controllers());
    await world.addCluster("prod", azureSpec);
    await world.pass();
    expect(await ready(world, "prod")).toMatchObject({ reason: "CredentialsMissing" });
    await world.cluster.add(azureIdentity({ allowedNamespaces }));
    await world.pass();
    expect((await ready(world, "prod"))?.reason).not.toBe("CredentialsMissing");
    expect(await world.object(namespaces, { name: "capi-prod" })).toBeDefined();
  });

  test("waits for the end of a namespace of an earlier cluster of its name", async () => {
    const world = await openWorld();
    await world.becomeCell();
    world.startCell();
    await world.cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "capi-prod", finalizers: ["example.com/held"] } });
    await world.remove(namespaces, { name: "capi-prod" });
    world.start(world.controllers());
    await world.addCluster("prod");
    await world.pass();
    expect(await ready(world, "prod")).toMatchObject({ reason: "NamespaceTerminating" });
  });

  test("on a cell without its provider names the kinds and the command", async () => {
    const world = await openWorld([]);
    await world.becomeCell();
    world.startCell();
    world.start(world.controllers());
    await world.addCluster("prod");
    await world.pass();
    const condition = await ready(world, "prod");
    expect(condition?.reason).toBe("ProviderNotInstalled");
    expect(condition?.message).toContain("clusters.cluster.x-k8s.io");
    expect(condition?.message).toContain("local clusters are for a cell that lattice up runs");
  });
});

describe("the operator's own cluster", () => {
  test("has a status from its nodes, and the Service of its cell", async () => {
    const world = await openWorld();
    await world.becomeCell("mgmt", {
      host: "127.0.0.1",
      grpcPort: 5001,
      bootstrapPort: 5002,
      proxyPort: 5003,
      service: { type: "ClusterIP" },
    });
    world.start(world.controllers());
    await world.pass();
    expect(await ready(world, "mgmt")).toMatchObject({ status: "False", reason: "NodesNotReady" });
    const status = { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1.36.3" } };
    await world.cluster.add({ apiVersion: "v1", kind: "Node", metadata: { name: "a" }, status });
    await world.pass();
    expect((await world.latticeCluster("mgmt"))?.status).toMatchObject({ phase: "Ready", readyNodes: 1, ownedBy: "self" });
    expect(await ready(world, "mgmt")).toMatchObject({ status: "True", reason: "SelfManaged" });
    const service = await world.object(services, { namespace: HOME, name: "lattice-cell" });
    expect(service?.spec).toMatchObject({ type: "ClusterIP", selector: { "lattice.dev/leader": "true" } });
    expect(service?.spec?.ports?.map(({ name, port }) => `${name} ${port}`)).toEqual(["grpc 5001", "bootstrap 5002", "proxy 5003"]);
    const patch = { spec: { endpoints: null } };
    expectOk(await world.cluster.client.patch(latticeClusters, { name: "mgmt" }, { type: "merge", patch }));
    await world.pass();
    expect(await world.object(services, { namespace: HOME, name: "lattice-cell" })).toBeUndefined();
  });
});
