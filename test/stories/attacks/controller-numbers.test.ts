/**
 * Workloads with 2,147,483,647 replicas. The controllers create them in bursts and up to the cluster's limit, the server stays
 * responsive, and other workloads still become ready: during the attack, and after a restart on the same data.
 */
import { expect, test } from "vitest";
import { field, fieldAt, type Json, type JsonObject } from "#kube";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const MAX_INT32 = 2_147_483_647;
const TIMEOUT = { timeout: 120_000 };
const [APPS, CORE, BATCH] = ["/apis/apps/v1", "/api/v1", "/apis/batch/v1"];

async function send(server: MeasuredApiServer, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const answer = await server.exchange.request({ method, path, body });
  if (answer === "in doubt") throw new Error(`no answer to ${method} ${path}: ${server.process.stderr.slice(-2_000)}`);
  expect(answer.code, `${method} ${path}: ${JSON.stringify(answer.body).slice(0, 500)}`).toBeLessThan(300);
  return answer.body;
}

const create = (server: MeasuredApiServer, base: string, plural: string, body: JsonObject) =>
  send(server, "POST", `${base}/namespaces/default/${plural}`, body);
const read = (server: MeasuredApiServer, base: string, path: string) => send(server, "GET", `${base}/namespaces/default/${path}`);

/** Polls: the server is another process, and its clock is the real one. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`it did not happen within a minute: ${what}`);
}

function workload(kind: string, name: string, spec: JsonObject): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  return { apiVersion: "apps/v1", kind, metadata: { name }, spec: { selector: { matchLabels: labels }, template, ...spec } };
}

function job(name: string, spec: JsonObject): JsonObject {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template, ...spec } };
}

const replicas = (status: Json | undefined, name = "replicas") => Number(field(status, name) ?? 0);

async function statusOf(server: MeasuredApiServer, base: string, path: string): Promise<Json | undefined> {
  return (await read(server, base, path))["status"];
}

/** From the first page of a list. */
function podCount(list: JsonObject): number {
  return (list["items"] as readonly Json[]).length + Number(fieldAt(list, "metadata", "remainingItemCount") ?? 0);
}

/** A small Deployment becomes available during the attack. */
async function expectOthersProgress(server: MeasuredApiServer, name: string): Promise<void> {
  await create(server, APPS, "deployments", workload("Deployment", name, { replicas: 3 }));
  await until(`Deployment ${name} is available`, async () => {
    return replicas(await statusOf(server, APPS, `deployments/${name}`), "availableReplicas") === 3;
  });
}

async function eventsOf(server: MeasuredApiServer, name: string, reason: string): Promise<readonly string[]> {
  const list = await read(server, CORE, `events?fieldSelector=involvedObject.name=${name},reason=${reason}`);
  return (list["items"] as readonly Json[]).map((event) => JSON.stringify(field(event, "message")));
}

test("StatefulSets of 2147483647 Pods leave the server responsive, also after a restart on the same data", TIMEOUT, async () => {
  await using server = await startMeasuredApiServer({ persistent: true, args: ["--pod-limit", "400"] });
  const data = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  for (const podManagementPolicy of ["OrderedReady", "Parallel"]) {
    const name = podManagementPolicy.toLowerCase();
    const spec = { replicas: MAX_INT32, podManagementPolicy, volumeClaimTemplates: name === "parallel" ? [data] : [] };
    await create(server, APPS, "statefulsets", workload("StatefulSet", name, spec));
  }
  await expectOthersProgress(server, "during");
  await until("the parallel set has a hundred Pods and the ordered one ten", async () => {
    const parallel = await statusOf(server, APPS, "statefulsets/parallel");
    const ordered = await statusOf(server, APPS, "statefulsets/orderedready");
    return replicas(parallel) >= 100 && replicas(ordered, "readyReplicas") >= 10;
  });
  await server.process.expectWithinLimits("StatefulSets of 2147483647 Pods");
  await server.process[Symbol.asyncDispose]();
  await using restarted = await startMeasuredApiServer({ persistent: true, home: server.home, args: ["--pod-limit", "400"] });
  await expectOthersProgress(restarted, "after");
  await restarted.process.expectWithinLimits("StatefulSets of 2147483647 Pods, after a restart");
});

test("ReplicaSets and Deployments of 2147483647 Pods stop at the Pod limit and report it", TIMEOUT, async () => {
  await using server = await startMeasuredApiServer({ args: ["--pod-limit", "600"] });
  await create(server, APPS, "deployments", workload("Deployment", "huge", { replicas: MAX_INT32 }));
  await create(server, APPS, "replicasets", workload("ReplicaSet", "set", { replicas: MAX_INT32 }));
  const budget = { selector: { matchLabels: { app: "huge" } }, maxUnavailable: "50%" };
  await create(server, "/apis/policy/v1", "poddisruptionbudgets", {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "huge" },
    spec: budget,
  });
  await create(server, "/apis/autoscaling/v2", "horizontalpodautoscalers", {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "huge" },
    spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "huge" }, minReplicas: MAX_INT32, maxReplicas: MAX_INT32 },
  });
  await create(server, CORE, "services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "huge" },
    spec: { selector: { app: "huge" }, ports: [{ port: 80 }] },
  });
  await expectOthersProgress(server, "during");
  await until("both have a hundred Pods", async () => {
    const counts = await Promise.all(["deployments/huge", "replicasets/set"].map((path) => statusOf(server, APPS, path)));
    return counts.every((status) => replicas(status) >= 100);
  });
  await until("an event names the limit", async () => (await eventsOf(server, "set", "FailedCreate")).length > 0);
  expect((await eventsOf(server, "set", "FailedCreate"))[0]).toContain("limited to 600 pods");
  await until("the Deployment shows the failure", async () => {
    const conditions = field(await statusOf(server, APPS, "deployments/huge"), "conditions") as readonly Json[] | undefined;
    return (conditions ?? []).some((condition) => field(condition, "type") === "ReplicaFailure");
  });
  expect(podCount(await read(server, CORE, "pods?limit=1"))).toBeLessThanOrEqual(600);
  await until("the budget expects as many Pods as the Deployment wants", async () => {
    const status = await statusOf(server, "/apis/policy/v1", "poddisruptionbudgets/huge");
    return replicas(status, "expectedPods") === MAX_INT32 && replicas(status, "desiredHealthy") === Math.floor(MAX_INT32 / 2);
  });
  for (const path of ["deployments/huge", "replicasets/set"]) await send(server, "DELETE", `${APPS}/namespaces/default/${path}`);
  await until("the Pods of both are gone", async () => podCount(await read(server, CORE, "pods?limit=1")) <= 3);
  await server.process.expectWithinLimits("ReplicaSets and Deployments of 2147483647 Pods, created and deleted");
});

test("for 2147483647 Pods of half a megabyte each the Pod limit counts their size", TIMEOUT, async () => {
  await using server = await startMeasuredApiServer();
  const set = workload("ReplicaSet", "large", { replicas: MAX_INT32 });
  const env = [{ name: "TEXT", value: "x".repeat(500_000) }];
  const spec = {
    ...(set["spec"] as JsonObject),
    template: { metadata: { labels: { app: "large" } }, spec: { containers: [{ name: "web", image: "web:1", env }] } },
  };
  await create(server, APPS, "replicasets", { ...set, spec });
  await until("an event names the limit", async () => (await eventsOf(server, "large", "FailedCreate")).length > 0);
  await expectOthersProgress(server, "during");
  const { length } = (await read(server, CORE, "pods?labelSelector=app=large&limit=100"))["items"] as readonly Json[];
  // 62 units of 8 KiB each, of half of 5,000
  expect(length).toBeGreaterThan(30);
  expect(length).toBeLessThanOrEqual(40);
  await server.process.expectWithinLimits("2147483647 Pods of half a megabyte each");
});

test("Jobs of 2147483647 Pods, indexed or not, leave the server responsive", TIMEOUT, async () => {
  await using server = await startMeasuredApiServer({ args: ["--pod-limit", "600"] });
  await create(server, BATCH, "jobs", job("parallel", { parallelism: MAX_INT32 }));
  await create(server, BATCH, "jobs", job("complete", { parallelism: 50, completions: MAX_INT32 }));
  await create(server, BATCH, "jobs", job("indexed", { parallelism: 50, completions: MAX_INT32, completionMode: "Indexed" }));
  await expectOthersProgress(server, "during");
  await until("both Jobs with completions go on, beyond the Pods that the cluster keeps", async () => {
    const counts = await Promise.all(["jobs/complete", "jobs/indexed"].map((path) => statusOf(server, BATCH, path)));
    return counts.every((status) => replicas(status, "succeeded") > 300);
  });
  expect(podCount(await read(server, CORE, "pods?limit=1"))).toBeLessThanOrEqual(600);
  await server.process.expectWithinLimits("Jobs of 2147483647 Pods");
});

test("Services with thousands of ports get node ports while the server stays responsive", TIMEOUT, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const service = (name: string, count: number) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { type: "NodePort", ports: Array.from({ length: count }, (_, number) => ({ name: `p${number}`, port: number + 1 })) },
  });
  await create(server, CORE, "services", service("first", 1_300));
  await create(server, CORE, "services", service("second", 1_300));
  const answer = await server.exchange.request({
    method: "POST",
    path: "/api/v1/namespaces/default/services",
    body: service("third", 5_000),
  });
  expect(answer).toMatchObject({ body: { kind: "Status" } });
  const ports = fieldAt(await read(server, CORE, "services/second"), "spec", "ports") as readonly Json[];
  expect(new Set(ports.map((port) => field(port, "nodePort"))).size).toBe(1_300);
  await server.process.expectWithinLimits("Services with thousands of ports");
});
