import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger, expectOk, MetricsRegistry, noTracing, seededRandom } from "#base";
import { DEFERRED_OBJECTS, providerInventory, reducedCapiCrds } from "#bundle";
import { latticeKinds } from "#crds";
import { failWith, startEmbeddedCluster } from "#embedded-cluster";
import { capiProviders, configMaps, fieldAt, formatYamlDocuments, type KubeObject } from "#kube";
import { SettlingClock } from "../../test/builders/settling-clock.ts";
import { startOperator } from "./operator.ts";

const HOME = "lattice-system";
const inventory = providerInventory("local");
const providers = inventory.filter(({ kind }) => kind === "Provider");
const providerCrd = reducedCapiCrds("local").filter(({ metadata }) => metadata.name === "providers.clusterctl.cluster.x-k8s.io");
const core = { namespace: "capi-system", name: "cluster-api" };

const deferred = (objects: readonly KubeObject[]): KubeObject =>
  Object.assign(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: DEFERRED_OBJECTS, namespace: HOME } },
    { data: { "objects.yaml": formatYamlDocuments(objects) } },
  );

async function setUp(...objects: readonly KubeObject[]) {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } };
  const namespaces = inventory.filter(({ kind }) => kind === "Namespace");
  const cluster = await startEmbeddedCluster({
    clock: new SettlingClock(),
    objects: [home, ...namespaces, ...latticeKinds.map(({ crd }) => crd()), ...objects],
  });
  const lines: string[] = [];
  const logger = createLogger((_level, message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`));
  const stop = new AbortController();
  const config = { namespace: HOME, identity: "one", leaderElection: false, health: { host: "127.0.0.1", port: 0 } };
  const { client, clock } = cluster;
  const dependencies = { client, clock, random: seededRandom(3), logger, metrics: new MetricsRegistry(), tracer: noTracing };
  const operator = expectOk(await startOperator(config, dependencies, stop.signal));
  const running = operator.run(stop.signal);
  const pass = async () => {
    for (let second = 0; second < 35; second += 1) await clock.advance(1_000);
  };
  await pass();
  const end = async () => {
    stop.abort();
    await pass();
    await running;
  };
  onTestFinished(async () => {
    await end();
    await cluster.close();
  });
  const names = async () => {
    const listed = await client.list(capiProviders);
    return listed.ok ? listed.value.items.map(({ metadata }) => metadata.name).toSorted() : [];
  };
  const versionOfCore = async () => fieldAt(expectOk(await client.get<KubeObject>(capiProviders, core)), "version");
  return { cluster, client, clock, lines, pass, end, names, versionOfCore };
}

const ALL = providers.map(({ metadata }) => metadata.name).toSorted();
const WAITS = "objects of the cluster's manifests cannot be applied yet";

describe("deferred objects", () => {
  test("are applied as they are when their kinds are served, and the wait is logged once", async () => {
    const world = await setUp(deferred(providers));
    expect(await world.names()).toEqual([]);
    await world.cluster.add(...providerCrd);
    await world.pass();
    expect(await world.names()).toEqual(ALL);
    const wanted = providers.find(({ metadata }) => metadata.name === core.name);
    const { metadata, ...found } = expectOk(await world.client.get<KubeObject>(capiProviders, core));
    expect(found).toEqual({ ...wanted, metadata: undefined });
    expect(metadata.labels).toEqual(wanted?.metadata.labels);
    expect(world.lines.filter((line) => line.startsWith(WAITS))).toEqual([
      `${WAITS} {"service":"deferred-objects","reason":"Provider capi-system/cluster-api: the API server does not serve Provider of clusterctl.cluster.x-k8s.io/v1alpha3 yet"}`,
    ]);
  });

  test("are applied once: versions that clusterctl writes stay, and so do deletions", async () => {
    const world = await setUp(...providerCrd, deferred(providers));
    expect(await world.names()).toEqual(ALL);
    expectOk(await world.client.patch(capiProviders, core, { type: "merge", patch: { version: "v9.9.9" } }));
    expectOk(await world.client.delete(capiProviders, { namespace: "capl-system", name: "infrastructure-local" }));
    await world.pass();
    expect(await world.versionOfCore()).toBe("v9.9.9");
    expect(await world.names()).toEqual(ALL.filter((name) => name !== "infrastructure-local"));
  });

  test("are applied again when the ConfigMap has another content", async () => {
    const world = await setUp(...providerCrd, deferred(providers));
    const newer = providers.map((provider) => ({ ...provider, version: "v1.15.0" }));
    expectOk(await world.client.apply(configMaps, deferred(newer), { fieldManager: "kubectl", force: true }));
    await world.pass();
    expect(await world.versionOfCore()).toBe("v1.15.0");
  });

  test("that are refused are tried again, and the others are applied before", async () => {
    const world = await setUp(deferred(providers));
    const refused = world.cluster.intercept({ resource: "providers", name: "control-plane-kubeadm", times: 1_000 }, failWith("forbidden"));
    await world.cluster.add(...providerCrd);
    await world.pass();
    expect(await world.names()).toEqual(["bootstrap-kubeadm", "cluster-api"]);
    refused.remove();
    await world.pass();
    expect(await world.names()).toEqual(ALL);
  });

  test.each([
    { apiVersion: "v1", kind: "Secret" },
    { apiVersion: "apps/v1", kind: "Deployment" },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
    { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService" },
    { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy" },
    { apiVersion: "cilium.io/v2", kind: "CiliumNetworkPolicy" },
  ])(
    "are refused as a whole when one is a $kind: writers of ConfigMaps have less rights than the operator",
    async ({ apiVersion, kind }) => {
      const world = await setUp(
        ...providerCrd,
        deferred([...providers, { apiVersion, kind, metadata: { name: "open", namespace: "default" } }]),
      );
      expect(world.lines.join("\n")).toContain(`${kind} default/open cannot be in ConfigMap ${DEFERRED_OBJECTS}`);
      expect(await world.names()).toEqual([]);
    },
  );

  test("that cannot be read change nothing, and end with the operator", async () => {
    const world = await setUp(
      ...providerCrd,
      Object.assign({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: DEFERRED_OBJECTS, namespace: HOME } }, { data: {} }),
    );
    expect(world.lines.join("\n")).toContain(`ConfigMap ${DEFERRED_OBJECTS} has no key objects.yaml`);
    expect(await world.names()).toEqual([]);
    await world.end();
    expect(world.clock.pending).toBe(0);
  });
});
