/** Quotas on an API server in this process: the controller's count and the server's admission have the same result. */
import { afterEach, describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { defineResource, persistentVolumeClaims, pods, resourceQuotas, services, type KubeObject, type ResourceQuota } from "#kube";
import { controlledCluster, type ControlledCluster } from "../../../test/builders/controlled-cluster.ts";
import { quotaController } from "./quota-controller.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

const configMaps = defineResource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const jobs = defineResource({ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true });
const namespace = "default";

type Hard = Readonly<Record<string, string>>;

async function start() {
  const cluster = await controlledCluster({ controllers: [quotaController] });
  clusters.push(cluster);
  const { client, running } = cluster;
  await running.idle();
  const makeQuota = async (hard: Hard, spec: object = {}) => {
    const quota: ResourceQuota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q", namespace },
      spec: { hard, ...spec },
    };
    expectOk(await client.create(resourceQuotas, quota));
    await running.idle();
  };
  const status = async () => expectOk(await client.get(resourceQuotas, { namespace, name: "q" })).status;
  const make = (name: string) => client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } });
  return { ...cluster, makeQuota, status, make };
}

type Specified = KubeObject & { readonly spec: object };

function pod(name: string): Specified {
  const containers = [{ name: "c", image: "i", resources: { requests: { cpu: "500m" } } }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec: { containers } };
}

describe("the quota controller", () => {
  it("fills in the status of a new quota, including existing objects", async () => {
    const { make, makeQuota, status } = await start();
    await make("a");
    await makeQuota({ configmaps: "2", "count/jobs.batch": "1", "count/nothing.example.com": "1" });
    expect(await status()).toEqual({
      hard: { configmaps: "2", "count/jobs.batch": "1", "count/nothing.example.com": "1" },
      used: { configmaps: "1", "count/jobs.batch": "0" },
    });
  });

  it("recounts when an object is deleted, and a new one is admitted", async () => {
    const { client, make, makeQuota, running, status } = await start();
    await makeQuota({ configmaps: "1" });
    expectOk(await make("a"));
    expect((await make("b")).ok).toBe(false);
    expectOk(await client.delete(configMaps, { namespace, name: "a" }));
    await running.idle();
    expect((await status())?.used).toEqual({ configmaps: "0" });
    expectOk(await make("b"));
  });

  it("updates a changed limit", async () => {
    const { client, makeQuota, running, status } = await start();
    await makeQuota({ configmaps: "1" });
    const patch = { spec: { hard: { configmaps: null, secrets: "3" } } };
    expectOk(await client.patch(resourceQuotas, { namespace, name: "q" }, { type: "merge", patch }));
    await running.idle();
    expect(await status()).toEqual({ hard: { secrets: "3" }, used: { secrets: "0" } });
  });

  it("releases the resources of a finished pod, and keeps counting it as an object", async () => {
    const { client, makeQuota, running, status } = await start();
    await makeQuota({ pods: "5", "count/pods": "5", "requests.cpu": "1" });
    expectOk(await client.create(pods, pod("p")));
    expect((await status())?.used).toEqual({ "count/pods": "1", pods: "1", "requests.cpu": "500m" });
    const patch = { status: { phase: "Succeeded" } };
    expectOk(await client.patch(pods, { namespace, name: "p" }, { type: "merge", patch }, { subresource: "status" }));
    await running.idle();
    expect((await status())?.used).toEqual({ "count/pods": "1", pods: "0", "requests.cpu": "0" });
  });

  it("recounts a Service whose type changed to one that uses less", async () => {
    const { client, makeQuota, running, status } = await start();
    await makeQuota({ "services.nodeports": "5" });
    const spec = { type: "NodePort", ports: [{ port: 80 }] };
    const service: Specified = { apiVersion: "v1", kind: "Service", metadata: { name: "s", namespace }, spec };
    expectOk(await client.create(services, service));
    expect((await status())?.used).toEqual({ "services.nodeports": "1" });
    const patch = { spec: { type: "ClusterIP" } };
    expectOk(await client.patch(services, { namespace, name: "s" }, { type: "merge", patch }));
    await running.idle();
    expect((await status())?.used).toEqual({ "services.nodeports": "0" });
  });

  it("counts a claim by the size of its volume", async () => {
    const { client, makeQuota, running, status } = await start();
    await makeQuota({ "requests.storage": "5Gi" });
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const claim: Specified = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c", namespace }, spec };
    expectOk(await client.create(persistentVolumeClaims, claim));
    const grown = { status: { allocatedResources: { storage: "2Gi" } } };
    const key = { namespace, name: "c" };
    expectOk(await client.patch(persistentVolumeClaims, key, { type: "merge", patch: grown }, { subresource: "status" }));
    await running.idle();
    expect((await status())?.used).toEqual({ "requests.storage": "2Gi" });
  });

  it("admits exactly as many as fit while objects are created and deleted", async () => {
    const { client, make, makeQuota, running, status } = await start();
    await makeQuota({ configmaps: "10" });
    const first = await Promise.all(Array.from({ length: 50 }, (_, index) => make(`a${index}`)));
    expect(first.filter(({ ok }) => ok)).toHaveLength(10);
    const kept = expectOk(await client.list(configMaps, { namespace })).items;
    const churn = await Promise.all([
      ...kept.slice(0, 4).map(({ metadata }) => client.delete(configMaps, { namespace, name: metadata.name })),
      ...Array.from({ length: 50 }, (_, index) => make(`b${index}`)),
    ]);
    expect(churn.length).toBe(54);
    await running.idle();
    const there = expectOk(await client.list(configMaps, { namespace })).items;
    expect(there.length).toBeLessThanOrEqual(10);
    expect((await status())?.used).toEqual({ configmaps: String(there.length) });
  });

  it("releases the usage of a create that failed after admission", async () => {
    const { advance, make, makeQuota, status } = await start();
    await makeQuota({ configmaps: "5" });
    expectOk(await make("a"));
    expect((await make("a")).ok).toBe(false);
    expect((await status())?.used).toEqual({ configmaps: "2" });
    await advance(5 * 60_000);
    expect((await status())?.used).toEqual({ configmaps: "1" });
  });

  it("writes nothing without a change, and forgets a deleted quota", async () => {
    const { advance, client, make, makeQuota, running, writes } = await start();
    await makeQuota({ configmaps: "5", pods: "1" });
    await make("a");
    const before = writes.length;
    await advance(5 * 60_000);
    expect(writes.length).toBe(before);
    expectOk(await client.delete(resourceQuotas, { namespace, name: "q" }));
    expectOk(await client.delete(configMaps, { namespace, name: "a" }));
    await running.idle();
    await advance(5 * 60_000);
    expect(writes.length).toBe(before);
  });

  it("counts kinds by their metadata", async () => {
    const { client, makeQuota, running, status } = await start();
    const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } };
    const job: Specified = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j", namespace }, spec };
    expectOk(await client.create(jobs, job));
    await makeQuota({ "count/jobs.batch": "1" });
    expect((await status())?.used).toEqual({ "count/jobs.batch": "1" });
    expectOk(await client.delete(jobs, { namespace, name: "j" }, { propagation: "Background" }));
    await running.idle();
    expect((await status())?.used).toEqual({ "count/jobs.batch": "0" });
  });
});
