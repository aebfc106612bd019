import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { controllerRevisions, daemonSets, nodes, pods } from "#kube";
import {
  defined,
  podTemplate,
  SELECTOR,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";
import { isPodReady } from "../pods/pod-state.ts";

let cluster: SimulatedCluster;

async function begin(spec: object = {}, options: SimulatedClusterOptions = {}): Promise<void> {
  cluster = await simulatedCluster({ simulation: { nodes: 3 }, ...options });
  await cluster.create(daemonSets, "agent", { spec: { selector: SELECTOR, template: podTemplate("agent:1"), ...spec } });
}

afterEach(async () => void (await cluster.end()));

const image = (to: string) => ({ spec: { template: { spec: { containers: [{ name: "web", image: to }] } } } });
const status = async () => (await cluster.read(daemonSets, "agent")).status;
const placed = async () => (await cluster.all(pods)).map(({ spec }) => `${spec.nodeName} ${spec.containers[0]?.image}`).toSorted();
const nodesServed = async () => {
  const ready = (await cluster.all(pods)).filter(isPodReady).map(({ spec }) => String(spec.nodeName));
  return [...new Set(ready)].toSorted();
};
const ALL = ["lattice-node-1 agent:1", "lattice-node-2 agent:1", "lattice-node-3 agent:1"];

test("every node has one Pod, and the status counts nodes", async () => {
  await begin();
  await cluster.live(200);
  expect(await placed()).toEqual(ALL);
  expect(await status()).toEqual({
    currentNumberScheduled: 3, numberMisscheduled: 0, desiredNumberScheduled: 3, numberReady: 3, observedGeneration: 1, updatedNumberScheduled: 3, numberAvailable: 3,
  }); // prettier-ignore
});

test("taints and labels decide where Pods run, and a Pod is deleted where it may not stay", async () => {
  await begin(
    {},
    {
      simulation: {
        nodes: [
          { name: "plain" },
          { name: "gpu", taints: [{ key: "gpu", effect: "NoSchedule" }] },
          { name: "labelled", labels: { zone: "a" } },
        ],
      },
    },
  );
  await cluster.live(200);
  expect((await placed()).map((text) => text.split(" ")[0])).toEqual(["labelled", "plain"]);
  await cluster.patch(daemonSets, "agent", { spec: { template: { spec: { nodeSelector: { zone: "a" } } } } });
  await cluster.live(300);
  expect((await placed()).map((text) => text.split(" ")[0])).toEqual(["labelled"]);
  await cluster.patch(nodes, "plain", { metadata: { labels: { zone: "a" } } });
  await cluster.live(200);
  expect((await status())?.desiredNumberScheduled).toBe(2);
});

test("a NoSchedule taint keeps the Pod and counts it as misscheduled; NoExecute evicts it", async () => {
  await begin();
  await cluster.live(200);
  await cluster.patch(nodes, "lattice-node-1", { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } });
  await cluster.live(100);
  expect(await status()).toMatchObject({ numberMisscheduled: 1, desiredNumberScheduled: 2 });
  await cluster.patch(nodes, "lattice-node-1", { spec: { taints: [{ key: "x", effect: "NoExecute" }] } });
  await cluster.live(200);
  expect(await placed()).toEqual(ALL.slice(1));
});

test("an update replaces one node after the other, and old revisions are kept up to the limit", async () => {
  await begin({ revisionHistoryLimit: 1 });
  await cluster.live(200);
  for (const to of ["agent:2", "agent:3", "agent:1"]) {
    await cluster.patch(daemonSets, "agent", image(to));
    for (let at = 0; at < 40; at += 1) {
      await cluster.live(20);
      expect((await status())?.numberAvailable ?? 0).toBeGreaterThanOrEqual(2);
    }
  }
  expect(await placed()).toEqual(ALL);
  expect((await cluster.all(controllerRevisions)).map(({ revision }) => String(revision)).toSorted()).toEqual(["3", "4"]);
});

test("with surge the new Pod is ready before the old one is deleted", async () => {
  await begin({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  await cluster.live(200);
  await cluster.patch(daemonSets, "agent", image("agent:2"));
  // the Pods, not the status: it uses the oldest Pod of each node, and within one second the order is undefined
  for (let at = 0; at < 60; at += 1) {
    await cluster.live(20);
    expect(await nodesServed()).toEqual(["lattice-node-1", "lattice-node-2", "lattice-node-3"]);
  }
  expect(await placed()).toEqual(ALL.map((text) => text.replace(":1", ":2")));
});

test("OnDelete replaces a Pod only after it is deleted", async () => {
  await begin({ updateStrategy: { type: "OnDelete" } });
  await cluster.live(200);
  await cluster.patch(daemonSets, "agent", image("agent:2"));
  await cluster.live(200);
  expect(await placed()).toEqual(ALL);
});

test("a failed or finished Pod is replaced, failed ones with a growing back-off", async () => {
  await begin();
  await cluster.live(200);
  const end = async (phase: string) => {
    const [pod] = (await cluster.all(pods)).filter(
      ({ spec, metadata }) => spec.nodeName === "lattice-node-1" && metadata.deletionTimestamp === undefined,
    );
    const key = { namespace: "default", name: pod?.metadata.name ?? "" };
    expectOk(await cluster.client.patch(pods, key, { type: "merge", patch: { status: { phase } } }, { subresource: "status" }));
    return key.name;
  };
  for (const phase of ["Failed", "Failed", "Succeeded"]) {
    const name = await end(phase);
    await cluster.live(3_000, 100);
    expect((await cluster.all(pods)).map(({ metadata }) => metadata.name)).not.toContain(name);
  }
  expect(await placed()).toEqual(ALL);
  expect(await cluster.eventsOn("DaemonSet")).toContainEqual(
    expect.stringMatching(
      /^Warning FailedDaemonPod: Found failed daemon pod default\/agent-[a-z0-9]+ on node lattice-node-1, will try to kill it$/,
    ),
  );
});

test("of two Pods on one node one is deleted", async () => {
  await begin();
  await cluster.live(200);
  const [pod] = await cluster.all(pods);
  const { apiVersion, kind, metadata, spec } = defined(pod);
  const { name: _name, uid: _uid, resourceVersion: _version, generateName: _generate, ...rest } = metadata;
  expectOk(await cluster.client.create(pods, { apiVersion, kind, metadata: { ...rest, name: "twin" }, spec }));
  await cluster.live(200);
  expect(await placed()).toEqual(ALL);
});

test("minReadySeconds counts, and a waiting Pod is unavailable", async () => {
  await begin({ minReadySeconds: 5 });
  await cluster.live(300);
  expect(await status()).toMatchObject({ numberReady: 3, numberUnavailable: 3 });
  await cluster.live(6_000, 500);
  expect(await status()).toMatchObject({ numberAvailable: 3 });
});

test("a Pod that cannot be created is reported, and is no longer expected", async () => {
  let broken = true;
  await begin(
    {},
    {
      simulation: { nodes: 3 },
      between: (client) => ({
        ...client,
        create: (resource, object, call) =>
          broken && resource.kind === "Pod"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "no" } })
            : client.create(resource, object, call),
      }),
    },
  );
  await cluster.live(60);
  expect(await cluster.eventsOn("DaemonSet")).toContain("Warning FailedCreate: Error creating: no");
  broken = false;
  await cluster.live(30_000, 1_000);
  expect((await status())?.numberReady).toBe(3);
});

test("two revisions with the same template become one when the DaemonSet changes", async () => {
  await begin();
  await cluster.live(200);
  const [revision] = await cluster.all(controllerRevisions);
  const { metadata, ...rest } = defined(revision);
  const { name: _name, uid: _uid, resourceVersion: _version, ...kept } = metadata;
  expectOk(
    await cluster.client.create(controllerRevisions, {
      ...rest,
      metadata: { ...kept, name: "agent-twin", labels: { app: "web", "controller-revision-hash": "twin" } },
      revision: 7,
    }),
  );
  await cluster.live(300);
  expect(await cluster.all(controllerRevisions)).toHaveLength(2);
  await cluster.patch(daemonSets, "agent", { metadata: { annotations: { note: "changed" } } });
  await cluster.live(300);
  expect((await cluster.all(controllerRevisions)).map(({ metadata: { name } }) => name)).toEqual(["agent-twin"]);
  expect((await cluster.all(pods)).map(({ metadata: { labels } }) => labels?.["controller-revision-hash"])).toEqual([
    "twin",
    "twin",
    "twin",
  ]);
});
