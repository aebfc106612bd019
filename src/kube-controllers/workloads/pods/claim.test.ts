import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { pods, replicaSets } from "#kube";
import { podTemplate, SELECTOR, simulatedCluster, type SimulatedCluster } from "../../../../test/builders/simulated-cluster.ts";

let cluster: SimulatedCluster;
afterEach(async () => void (await cluster.end()));

const owners = async () =>
  (await cluster.all(pods))
    .map(({ metadata }) => `${metadata.name.replace(/-[a-z0-9]{5}$/, "-x")} ${metadata.ownerReferences?.[0]?.name ?? "-"}`)
    .toSorted();
const stray = (labels: object) =>
  cluster.create(pods, "stray", { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } });

test("a matching orphan is adopted and counts; a Pod that stops matching is released and replaced", async () => {
  cluster = await simulatedCluster();
  await stray({ app: "web" });
  await cluster.create(replicaSets, "web", { spec: { replicas: 2, selector: SELECTOR, template: podTemplate("web:1") } });
  await cluster.live(100);
  expect(await owners()).toEqual(["stray web", "web-x web"]);
  await cluster.patch(pods, "stray", { metadata: { labels: { app: "other" } } });
  await cluster.live(100);
  expect(await owners()).toEqual(["stray -", "web-x web", "web-x web"]);
  await cluster.patch(pods, "stray", { metadata: { labels: { app: "web" } } });
  await cluster.live(200);
  expect((await owners()).length).toBe(2);
});

test("an owner that has just been deleted, or was replaced, adopts nothing", async () => {
  let state: "deleted" | "replaced" | "gone" = "deleted";
  cluster = await simulatedCluster({
    between: (client) => ({
      ...client,
      get: async (resource, key, call) => {
        const answer = await client.get(resource, key, call);
        if (!answer.ok || resource.kind !== "ReplicaSet") return answer;
        if (state === "gone") return { ok: false, error: { kind: "not-found", message: "gone" } };
        const change = state === "deleted" ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : { uid: "other" };
        return { ok: true, value: { ...answer.value, metadata: { ...answer.value.metadata, ...change } } };
      },
    }),
  });
  await stray({ app: "web" });
  await cluster.create(replicaSets, "web", { spec: { replicas: 1, selector: SELECTOR, template: podTemplate("web:1") } });
  for (state of ["deleted", "replaced", "gone"] as const) {
    await cluster.clock.advance(2_000);
    expect(await owners()).toEqual(["stray -"]);
  }
});

test("Pods that cannot be deleted are reported, and an already deleted Pod is no failure", async () => {
  let answer: "refuse" | "gone" | "pass" = "refuse";
  cluster = await simulatedCluster({
    between: (client) => ({
      ...client,
      delete: (resource, key, call) => {
        if (resource.kind !== "Pod" || answer === "pass" || call?.gracePeriodSeconds === 0) return client.delete(resource, key, call);
        return Promise.resolve(answer === "gone" ? { ok: true, value: false } : { ok: false, error: { kind: "forbidden", message: "no" } });
      },
    }),
  });
  await cluster.create(replicaSets, "web", { spec: { replicas: 2, selector: SELECTOR, template: podTemplate("web:1") } });
  await cluster.live(100);
  await cluster.patch(replicaSets, "web", { spec: { replicas: 1 } });
  await cluster.live(40);
  const { status } = await cluster.read(replicaSets, "web");
  expect(status?.conditions).toMatchObject([{ type: "ReplicaFailure", reason: "FailedDelete", message: "unable to delete pods: no" }]);
  expect(await cluster.eventsOn("ReplicaSet")).toContain("Warning FailedDelete: Error deleting: no");
  answer = "gone";
  await cluster.live(2_000, 200);
  expect((await cluster.read(replicaSets, "web")).status?.conditions ?? []).toEqual([]);
  answer = "pass";
  expectOk(await cluster.client.delete(replicaSets, { namespace: "default", name: "web" }));
});
