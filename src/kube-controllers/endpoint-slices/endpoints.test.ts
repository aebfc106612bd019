/** Services and their endpoints on an API server in this process. */
import { afterEach, expect, test } from "vitest";
import { err, expectOk } from "#base";
import { endpoints, endpointSlices, namespaces, nodes, pods, services, type Pod, type Service } from "#kube";
import { controlledCluster, type ControlledCluster, type ControlledClusterOptions } from "../../../test/builders/controlled-cluster.ts";
import { endpointsController } from "./endpoints-controller.ts";
import { endpointSliceController } from "./slice-controller.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

const key = { namespace: "default", name: "shop" };

async function start(options: ControlledClusterOptions = {}) {
  const cluster = await controlledCluster({ controllers: [endpointSliceController, endpointsController], ...options });
  clusters.push(cluster);
  const { client, running } = cluster;
  expectOk(await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "node" } }));
  await running.idle();
  const makeService = async (spec: Service["spec"] = {}, name = "shop") =>
    expectOk(
      await client.create(services, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: "default" },
        spec: { selector: { app: "shop" }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
      }),
    );
  const makePod = async (name: string, ip: string, { ready = true, nodeName = "node" } = {}) => {
    const spec = { nodeName, containers: [{ name: "c", image: "i" }] };
    expectOk(
      await client.create<Pod>(pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "default", labels: { app: "shop" } },
        spec,
      }),
    );
    await setReady(name, ready, { podIP: ip, podIPs: [{ ip }] });
  };
  const setReady = async (name: string, ready: boolean, more: object = {}) => {
    const lastTransitionTime = new Date(cluster.clock.now()).toISOString().replace(".000", "");
    const patch = {
      status: { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime }], ...more },
    };
    expectOk(await client.patch(pods, { namespace: "default", name }, { type: "merge", patch }, { subresource: "status" }));
  };
  const addresses = async () => {
    const slices = expectOk(await client.list(endpointSlices, { namespace: "default" })).items;
    const old = await client.get(endpoints, key);
    return {
      slices: slices.map(({ endpoints }) =>
        (endpoints ?? []).map(({ addresses: ips, conditions }) => `${ips.join()} ${conditions.ready}`).toSorted(),
      ),
      ready: old.ok ? (old.value.subsets ?? []).flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip)) : undefined,
      notReady: old.ok ? (old.value.subsets ?? []).flatMap((subset) => (subset.notReadyAddresses ?? []).map(({ ip }) => ip)) : undefined,
    };
  };
  return { ...cluster, makeService, makePod, setReady, addresses };
}

test("endpoints follow Pods, and nothing is written without a visible change", async () => {
  const { makeService, makePod, setReady, addresses, client, running, writes } = await start();
  await makeService();
  await running.idle();
  expect(await addresses()).toEqual({ slices: [[]], ready: [], notReady: [] });
  await makePod("a", "10.1.0.1");
  await makePod("b", "10.1.0.2", { ready: false });
  await running.idle();
  expect(await addresses()).toEqual({ slices: [["10.1.0.1 true", "10.1.0.2 false"]], ready: ["10.1.0.1"], notReady: ["10.1.0.2"] });
  const before = writes.length;
  await client.patch(pods, { namespace: "default", name: "a" }, { type: "merge", patch: { metadata: { annotations: { x: "y" } } } });
  await running.idle();
  expect(writes).toHaveLength(before);
  await setReady("b", true);
  await client.patch(pods, { namespace: "default", name: "a" }, { type: "merge", patch: { metadata: { labels: { app: "other" } } } });
  await running.idle();
  expect(await addresses()).toEqual({ slices: [["10.1.0.2 true"]], ready: ["10.1.0.2"], notReady: [] });
});

test("the trigger time of a change is recorded", async () => {
  const { makeService, makePod, setReady, client, running, clock } = await start();
  const { metadata } = await makeService();
  await running.idle();
  const changeTimes = async () => {
    const annotation = "endpoints.kubernetes.io/last-change-trigger-time";
    const [slice] = expectOk(await client.list(endpointSlices, { namespace: "default" })).items;
    const old = expectOk(await client.get(endpoints, key));
    return [slice?.metadata.annotations?.[annotation], old.metadata.annotations?.[annotation]];
  };
  expect(await changeTimes()).toEqual([metadata.creationTimestamp, metadata.creationTimestamp]);
  await clock.advance(5_000);
  await makePod("a", "10.1.0.1", { ready: false });
  await clock.advance(5_000);
  await setReady("a", true);
  await running.idle();
  expect(await changeTimes()).toEqual(["2026-01-01T00:00:10Z", "2026-01-01T00:00:10Z"]);
  await client.delete(pods, { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
  await running.idle();
  expect(await changeTimes()).toEqual([undefined, undefined]);
});

test("a slice has at most a hundred endpoints", async () => {
  const { makeService, makePod, addresses, running } = await start();
  for (let at = 0; at < 120; at += 1) await makePod(`p${at}`, `10.1.0.${at}`);
  await makeService();
  await running.idle();
  const { slices, ready } = await addresses();
  expect([slices.map((slice) => slice.length).toSorted((a, b) => b - a), ready?.length]).toEqual([[100, 20], 120]);
});

test("Services without a selector, and ExternalName Services, are ignored", async () => {
  const { client, running, writes } = await start();
  const metadata = (name: string) => ({ name, namespace: "default" });
  await client.create(services, { apiVersion: "v1", kind: "Service", metadata: metadata("own"), spec: { ports: [{ port: 80 }] } });
  const spec = { type: "ExternalName", externalName: "example.org", selector: { a: "b" } };
  await client.create(services, { apiVersion: "v1", kind: "Service", metadata: metadata("name"), spec });
  expectOk(await client.create(endpoints, { apiVersion: "v1", kind: "Endpoints", metadata: metadata("nobodys") }));
  await running.idle();
  expect(writes).toEqual([]);
  expect((await client.get(endpoints, metadata("nobodys"))).ok).toBe(true);
});

test("changes and deletions by other clients are reverted", async () => {
  const { makeService, makePod, addresses, client, running } = await start();
  await makeService();
  await makePod("a", "10.1.0.1");
  await running.idle();
  const want = await addresses();
  const [slice] = expectOk(await client.list(endpointSlices, { namespace: "default" })).items;
  const name = slice?.metadata.name ?? "";
  expectOk(await client.patch(endpointSlices, { namespace: "default", name }, { type: "merge", patch: { endpoints: [] } }));
  await running.idle();
  expect(await addresses()).toEqual(want);
  await client.delete(endpointSlices, { namespace: "default", name });
  await client.delete(endpoints, key);
  await running.idle();
  expect(await addresses()).toEqual(want);
  const [again] = expectOk(await client.list(endpointSlices, { namespace: "default" })).items;
  const taken = { metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "me" } } };
  await client.patch(endpointSlices, { namespace: "default", name: again?.metadata.name ?? "" }, { type: "merge", patch: taken });
  await running.idle();
  expect((await addresses()).slices).toEqual([["10.1.0.1 true"], ["10.1.0.1 true"]]);
});

test("Endpoints are deleted with their Service", async () => {
  const { makeService, client, running } = await start();
  await makeService();
  await running.idle();
  await client.delete(services, key);
  await running.idle();
  expect((await client.get(endpoints, key)).ok).toBe(false);
});

test("Endpoints whose Service was deleted while the controller was stopped are deleted at start, except old leader elections", async () => {
  const election = { "control-plane.alpha.kubernetes.io/leader": "{}" };
  const { client } = await start({
    before: async (own) => {
      for (const [name, annotations] of [
        ["left", {}],
        ["election", election],
      ] as const) {
        expectOk(
          await own.create(endpoints, { apiVersion: "v1", kind: "Endpoints", metadata: { name, namespace: "default", annotations } }),
        );
      }
    },
  });
  expect(expectOk(await client.list(endpoints)).items.map(({ metadata }) => metadata.name)).toEqual(["election"]);
});

test("a Pod on an unknown node is left out until the node exists", async () => {
  const { makeService, makePod, addresses, client, running } = await start();
  await makeService();
  await makePod("a", "10.1.0.1", { nodeName: "late" });
  await running.idle();
  expect((await addresses()).slices).toEqual([[]]);
  expectOk(await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "late" } }));
  await running.idle();
  expect((await addresses()).slices).toEqual([["10.1.0.1 true"]]);
});

test("a rejected write is reported and retried", async () => {
  const fails = { now: true };
  const { makeService, makePod, addresses, client, running, advance } = await start({
    between: (inner) => ({
      ...inner,
      create: (resource, object, options) =>
        fails.now && resource.plural === "endpointslices"
          ? Promise.resolve(err({ kind: "server-error", message: "no space" }))
          : inner.create(resource, object, options),
    }),
  });
  await makeService();
  await makePod("a", "10.1.0.1");
  await running.idle();
  fails.now = false;
  await advance(10_000);
  expect((await addresses()).slices).toEqual([["10.1.0.1 true"]]);
  const events = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true };
  expect(expectOk(await client.list(events)).items).toMatchObject([
    { reason: "FailedToUpdateEndpointSlices", message: "Error updating Endpoint Slices for Service default/shop: no space" },
  ]);
});

test("nothing is created in a terminating namespace", async () => {
  const { makePod, client, running, writes } = await start();
  await makePod("a", "10.1.0.1");
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "ending" } });
  const metadata = { name: "shop", namespace: "ending" };
  expectOk(
    await client.create(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: { app: "shop" }, ports: [{ port: 80 }] },
    }),
  );
  await client.delete(namespaces, { name: "ending" });
  await running.idle();
  const [slice] = expectOk(await client.list(endpointSlices, { namespace: "ending" })).items;
  await client.delete(endpointSlices, { namespace: "ending", name: slice?.metadata.name ?? "x" });
  await client.delete(endpoints, metadata);
  const before = writes.length;
  await running.idle();
  expect(writes).toHaveLength(before);
});
