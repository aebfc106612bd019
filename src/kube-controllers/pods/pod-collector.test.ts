/** Pods that no other controller deletes. */
import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { nodes, pods, type Node, type Pod } from "#kube";
import { controlledCluster, type ControlledCluster } from "../../../test/builders/controlled-cluster.ts";
import { podCollector } from "./pod-collector.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

async function start(terminatedPodThreshold?: number) {
  const cluster = await controlledCluster({
    controllers: [podCollector(terminatedPodThreshold === undefined ? {} : { terminatedPodThreshold })],
  });
  clusters.push(cluster);
  const { client } = cluster;
  await cluster.running.idle();
  const make = async (name: string, nodeName = "", phase = "", metadata: Partial<Pod["metadata"]> = {}, reason = "") => {
    const spec = { containers: [{ name: "c", image: "i" }], ...(nodeName === "" ? {} : { nodeName }) };
    expectOk(await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", ...metadata }, spec }));
    const patch = { status: { phase, ...(reason === "" ? {} : { reason }) } };
    if (phase !== "")
      expectOk(await client.patch(pods, { namespace: "default", name }, { type: "merge", patch }, { subresource: "status" }));
  };
  const makeNode = async (name: string, more: Partial<Node> = {}) =>
    expectOk(await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name }, ...more }));
  const names = async () => expectOk(await client.list(pods)).items.map(({ metadata }) => metadata.name);
  return { ...cluster, make, makeNode, names };
}

test("Pods on deleted nodes become Failed and are deleted, after the node had time to appear", async () => {
  const { make, makeNode, names, advance, client, writes } = await start();
  await makeNode("here");
  await make("kept", "here", "Running");
  await make("lost", "gone", "Running", { finalizers: ["example.org/look"] });
  await make("done", "gone", "Succeeded");
  await advance(39_000);
  expect([await names(), writes]).toEqual([["done", "kept", "lost"], []]);
  await advance(41_000);
  expect(await names()).toEqual(["kept", "lost"]);
  const lost = expectOk(await client.get(pods, { namespace: "default", name: "lost" }));
  expect(lost.status).toMatchObject({
    phase: "Failed",
    conditions: [{ type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC", message: "PodGC: node no longer exists" }],
  });
  expect(writes.toSorted()).toEqual(["DELETE pods/default/done", "DELETE pods/default/lost", "PATCH pods/default/lost/status"]);
});

test("a node that appears in time keeps its Pods", async () => {
  const { make, makeNode, names, advance } = await start();
  await make("early", "late", "Running");
  await advance(20_000);
  await makeNode("late");
  await advance(80_000);
  expect(await names()).toEqual(["early"]);
});

test("terminating Pods without a node are deleted at once", async () => {
  const { make, names, advance, client } = await start();
  await make("waiting", "", "", { finalizers: ["example.org/look"] });
  await client.delete(pods, { namespace: "default", name: "waiting" });
  await advance(20_000);
  const left = expectOk(await client.get(pods, { namespace: "default", name: "waiting" }));
  expect([await names(), left.status?.phase]).toEqual([["waiting"], "Failed"]);
});

test("terminating Pods are deleted when their node is out of service, and not before", async () => {
  const { make, makeNode, names, advance, client } = await start();
  const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
  await makeNode("broken", { spec: { taints } });
  await makeNode("slow");
  await make("stuck", "broken", "Running");
  await make("ending", "slow", "Running");
  for (const name of ["stuck", "ending"]) await client.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 3_600 });
  await advance(20_000);
  expect(await names()).toEqual(["ending"]);
});

test("a limited number of finished Pods is kept: evicted ones are deleted first, then the oldest", async () => {
  const { make, names, advance } = await start(2);
  await make("evicted", "", "Failed", {}, "Evicted");
  await make("a-first", "", "Succeeded");
  await make("b-second", "", "Failed");
  await make("running", "", "Running");
  await make("z-third", "", "Succeeded");
  await advance(20_000);
  expect(await names()).toEqual(["b-second", "running", "z-third"]);
});

test("when a tenth more Pods have finished than are kept, the surplus is deleted at once", async () => {
  const { make, names, running } = await start(10);
  for (let number = 0; number < 11; number += 1) await make(`done-${number}`, "", "Succeeded");
  await running.idle();
  expect(await names()).toHaveLength(11);
  await make("done-11", "", "Failed");
  await running.idle();
  expect(await names()).toHaveLength(10);
});
