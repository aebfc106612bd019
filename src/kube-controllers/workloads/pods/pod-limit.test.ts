/** Workloads with more replicas than the Pod limit of the cluster. */
import { afterEach, expect, test } from "vitest";
import { expectOk, FakeClock, ok } from "#base";
import type { CacheChange, ChangeHandler } from "#controller-runtime";
import { daemonSets, deployments, jobs, persistentVolumeClaims, pods, replicaSets, statefulSets, type KubeObject, type Pod } from "#kube";
import type { SharedInformers } from "../../shared-informers.ts";
import { podTemplate, simulatedCluster, type SimulatedCluster } from "../../../../test/builders/simulated-cluster.ts";
import { podLimitOf } from "./pod-limit.ts";

const HUGE = 2_147_483_647;
const LIMITED =
  "exceeded limit: this cluster is limited to 40 pods (larger ones count once per 8 KiB), and one owner to as many as are left";

let cluster: SimulatedCluster | undefined;
afterEach(async () => {
  await cluster?.end();
  cluster = undefined;
});

async function begin(podLimit = 40): Promise<SimulatedCluster> {
  return (cluster = await simulatedCluster({ podLimit }));
}

const workload = (app: string, spec: object = {}, more: Parameters<typeof podTemplate>[1] = {}) => {
  const template = podTemplate("web:1", more);
  const labels = { app };
  return {
    spec: {
      replicas: HUGE,
      selector: { matchLabels: labels },
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...spec,
    },
  };
};

const podsOf = async ({ all }: SimulatedCluster, app: string) =>
  (await all(pods)).filter(({ metadata }) => metadata.labels?.["app"] === app).length;

test("a ReplicaSet of 2147483647 stops at half of the limit, reports it, and leaves room for others", async () => {
  const { create, read, eventsOn, live, client } = await begin();
  await create(replicaSets, "huge", workload("huge"));
  await live(200);
  const { status } = await read(replicaSets, "huge");
  expect(status).toMatchObject({ replicas: 20, readyReplicas: 20 });
  expect(status?.conditions?.[0]).toMatchObject({ type: "ReplicaFailure", status: "True", reason: "FailedCreate" });
  expect(await eventsOn("ReplicaSet")).toContain(
    `Warning FailedCreate: Error creating: ${LIMITED}; delete some, or raise the limit (lattice api-server --pod-limit)`,
  );
  await create(deployments, "small", workload("small", { replicas: 3 }));
  await live(200);
  expect((await read(deployments, "small")).status?.availableReplicas).toBe(3);
  expectOk(await client.delete(replicaSets, { namespace: "default", name: "huge" }));
  await live(2_000, 100);
  await create(replicaSets, "next", workload("next", { replicas: 10 }));
  await live(200);
  expect((await read(replicaSets, "next")).status?.replicas).toBe(10);
});

test("StatefulSets of 2147483647 create Pods in order or in bursts, up to the limit", async () => {
  const one = await begin(200);
  await one.create(statefulSets, "ordered", workload("ordered"));
  await one.create(statefulSets, "parallel", workload("parallel", { podManagementPolicy: "Parallel" }));
  await one.live(300);
  const [ordered, parallel] = [await podsOf(one, "ordered"), await podsOf(one, "parallel")];
  expect(parallel).toBeGreaterThanOrEqual(60);
  expect(ordered).toBeGreaterThan(3);
  expect(ordered).toBeLessThan(20);
  expect((await one.read(statefulSets, "parallel")).status).toMatchObject({ replicas: parallel, currentReplicas: parallel });
});

test("claims of a StatefulSet are limited as its Pods are", async () => {
  const one = await begin();
  const claim = (name: string, annotations = {}) => ({
    metadata: { name, annotations },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const five = Array.from({ length: 5 }, (_, number) => claim(`data-${number}`));
  await one.create(statefulSets, "db", workload("db", { podManagementPolicy: "Parallel", volumeClaimTemplates: five }));
  await one.live(300);
  expect((await one.all(persistentVolumeClaims)).length).toBeLessThanOrEqual(40);
  expect(await podsOf(one, "db")).toBeGreaterThan(1);
  expect((await one.eventsOn("StatefulSet")).join("\n")).toContain("limited to 40 persistentvolumeclaims of StatefulSets");
  const large = [claim("large", { text: "x".repeat(200_000) }), claim("other", { text: "x".repeat(200_000) })];
  await one.create(statefulSets, "large", workload("large", { volumeClaimTemplates: large }));
  await one.live(100);
  expect(await podsOf(one, "large")).toBe(0);
});

test("a Pod of 80 KiB counts as ten", async () => {
  const one = await begin();
  const env = [{ name: "TEXT", value: "x".repeat(80_000) }];
  await one.create(replicaSets, "large", workload("large", {}, { container: { env } }));
  await one.live(200);
  expect(await podsOf(one, "large")).toBe(2);
});

test("Jobs continue beyond the limit, because ended Pods are deleted", async () => {
  const one = await begin(24);
  const template = podTemplate("work:1", { spec: { restartPolicy: "Never" } });
  await one.create(jobs, "work", { spec: { parallelism: 6, completions: HUGE, template } });
  await one.create(jobs, "indexed", { spec: { parallelism: 6, completions: HUGE, completionMode: "Indexed", template } });
  const succeeded = async (name: string) => (await one.read(jobs, name)).status?.succeeded ?? 0;
  for (let round = 0; round < 12 && ((await succeeded("work")) <= 24 || (await succeeded("indexed")) <= 24); round += 1) {
    await one.live(100, 25);
    expect((await one.all(pods)).length).toBeLessThanOrEqual(24);
  }
  expect(await succeeded("work")).toBeGreaterThan(24);
  expect(await succeeded("indexed")).toBeGreaterThan(24);
});

test("DaemonSets are limited too", async () => {
  const one = await begin(1);
  await one.create(pods, "other", { spec: podTemplate("web:1").spec });
  const { spec } = workload("daemon");
  await one.create(daemonSets, "daemon", { spec: { selector: spec.selector, template: spec.template } });
  await one.live(100);
  expect(await podsOf(one, "daemon")).toBe(0);
  expect((await one.eventsOn("DaemonSet")).join("\n")).toContain("limited to 1 pods");
});

/** A limit on an informer that a test controls. */
function limitOf(podLimit: number) {
  const clock = new FakeClock();
  const handlers: ChangeHandler<Pod>[] = [];
  const known = new Map<string, Pod>();
  const informers = {
    of: () => ({ get: ({ name }: { name: string }) => known.get(name) }),
    subscribe: (_resource: unknown, handler: ChangeHandler<Pod>) => void handlers.push(handler),
  } as unknown as SharedInformers;
  const context = { informers, clock, podLimit };
  const see = (change: Omit<CacheChange<Pod>, "key">) => {
    const { name = "" } = (change.after ?? change.before)?.metadata ?? {};
    if (change.after === undefined) known.delete(name);
    else known.set(name, change.after);
    for (const handler of handlers) handler({ key: { name }, ...change });
  };
  return { clock, see, limit: podLimitOf(context), again: () => podLimitOf(context) };
}

const owner = (uid: string): KubeObject => ({ apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: uid, uid } });
function ownedPod(name: string, by: string): Pod {
  const reference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: by, uid: by, controller: true };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, uid: `uid-${name}`, ownerReferences: [reference] }, spec: { containers: [] } };
}

test("Pods count from their creation on, once, whether or not they are in the cache", async () => {
  const { limit, see, again, clock } = limitOf(4);
  expect(again()).toBe(limit);
  const create = async (name: string, sees = false) => {
    const pod = ownedPod(name, "a");
    const answer = await limit.admit(owner("a"), pod, () => {
      if (sees) see({ before: undefined, after: pod });
      return Promise.resolve(ok(pod));
    });
    return answer.ok;
  };
  expect([await create("one"), await create("two", true), await create("three")]).toEqual([true, true, false]);
  see({ before: undefined, after: ownedPod("one", "a") });
  expect(await create("three")).toBe(false);
  see({ before: ownedPod("two", "a"), after: undefined });
  expect([await create("three"), await create("four")]).toEqual([true, false]);
  // never observed: it was created and deleted without a watch
  await clock.advance(61_000);
  expect(await create("five")).toBe(true);
});

test("a Pod that changes its owner counts for the new one", async () => {
  const { limit, see } = limitOf(4);
  const created = (by: string, name: string) =>
    limit.admit(owner(by), ownedPod(name, by), () => Promise.resolve(ok(ownedPod(name, by)))).then((answer) => answer.ok);
  see({ before: undefined, after: ownedPod("one", "a") });
  see({ before: undefined, after: ownedPod("two", "a") });
  expect(await created("a", "three")).toBe(false);
  see({ before: ownedPod("two", "a"), after: ownedPod("two", "b") });
  see({ before: ownedPod("two", "b"), after: ownedPod("two", "b") });
  expect([await created("b", "four"), await created("a", "three")]).toEqual([true, false]);
});
