import { expect, onTestFinished, test } from "vitest";
import { err, expectOk } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { nodes, pods, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { SettlingClock } from "../../../../test/builders/settling-clock.ts";
import { drainNode } from "./drain-node.ts";

const pod = (name: string, nodeName: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", ...more },
  spec: { nodeName, containers: [{ name: "a", image: "a" }], terminationGracePeriodSeconds: 0 },
});
const node = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Node", metadata: { name } });
const daemon = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "1", controller: true }] };

test("a drain evicts the Pods of one Node, and leaves those of DaemonSets and those that have ended", async () => {
  const cluster = await startEmbeddedCluster({
    clock: new SettlingClock(),
    objects: [node("a"), node("b"), pod("one", "a"), pod("other", "b"), pod("daemon", "a", daemon), pod("ended", "a")],
  });
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  const { client } = cluster;
  const ended = expectOk(await client.get(pods, { namespace: "default", name: "ended" }));
  expectOk(await client.update(pods, { ...ended, status: { phase: "Succeeded" } }, { subresource: "status" }));
  expect(await drainNode(client, "a")).toBe(true);
  expect(expectOk(await client.get(nodes, { name: "a" })).spec).toMatchObject({ unschedulable: true });
  expect(await drainNode(client, "a")).toBe(false);
  expect(expectOk(await client.list(pods)).items.map(({ metadata }) => metadata.name)).toEqual(["daemon", "ended", "other"]);
  expect(expectOk(await client.get(nodes, { name: "b" })).spec).not.toHaveProperty("unschedulable");
});

test("a cluster that cannot be read is not drained", async () => {
  const client = { list: () => Promise.resolve(err({ kind: "network", message: "" })) } as unknown as KubeClient;
  expect(await drainNode(client, "a")).toBe(false);
});
