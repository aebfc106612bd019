/** The plugin in a server: refused requests, their messages, and that concurrent requests cannot exceed a quota. */
import { describe, expect, it } from "vitest";
import { fieldAt, type Json } from "#kube";
import { realServer, type TestResponse, type TestServer } from "../../rest/server.test-support.ts";
import type { AdmissionPlugin } from "../../protocol/admission-port.ts";
import { resourceQuota } from "./index.ts";

const PATH = "/api/v1/namespaces/default";

type Amounts = Readonly<Record<string, string>>;

function server(before: readonly AdmissionPlugin[] = []): TestServer {
  return realServer({ admission: (context) => [...before, resourceQuota(context)] });
}

type Given = { readonly spec?: Json; readonly hard?: Amounts; readonly used?: Amounts };

/** In the state that the quota controller writes. */
async function addQuota({ ask }: TestServer, name: string, { spec = {}, hard = {}, used }: Given): Promise<void> {
  const zero = Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"]));
  const metadata = { name, namespace: "default" };
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard, ...(spec as object) } };
  expect((await ask("POST", `${PATH}/resourcequotas`, { body: quota })).status).toBe(201);
  const body = { ...quota, status: { hard, used: used ?? zero } };
  expect((await ask("PUT", `${PATH}/resourcequotas/${name}/status`, { body })).status).toBe(200);
}

async function usedOf({ ask }: TestServer, name: string): Promise<Json | undefined> {
  return fieldAt((await ask("GET", `${PATH}/resourcequotas/${name}`)).body, "status", "used");
}

function pod(name: string, resources: Json = {}, spec: Json = {}): Json {
  const containers = [{ name: "c", image: "i", resources }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers, ...(spec as object) } };
}

function configMap(name: string): Json {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
}

const messageOf = ({ body }: TestResponse): Json | undefined => fieldAt(body, "message");

describe("the ResourceQuota plugin", () => {
  it("records admitted objects and refuses those that exceed the quota", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { "count/configmaps": "2", configmaps: "5" } });
    await running.ask("POST", `${PATH}/configmaps`, { body: configMap("a") });
    await running.ask("POST", `${PATH}/configmaps`, { body: configMap("b") });
    const refused = await running.ask("POST", `${PATH}/configmaps`, { body: configMap("c") });
    expect(refused.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
      reason: "Forbidden",
      details: { name: "c", kind: "configmaps" },
      code: 403,
    });
    expect(await usedOf(running, "q")).toEqual({ "count/configmaps": "2", configmaps: "2" });
  });

  it("writes the status with the field manager of the API server", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { configmaps: "2" } });
    await running.ask("POST", `${PATH}/configmaps`, { body: configMap("a") });
    const { body } = await running.ask("GET", `${PATH}/resourcequotas/q`);
    const owners = fieldAt(body, "metadata", "managedFields");
    expect(owners).toContainEqual({
      manager: "kube-apiserver",
      operation: "Update",
      apiVersion: "v1",
      time: expect.any(String) as string,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:status": { "f:used": { "f:configmaps": {} } } },
      subresource: "status",
    });
  });

  it("admits exactly as many as fit of a hundred concurrent requests", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { "count/configmaps": "10" } });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => running.ask("POST", `${PATH}/configmaps`, { body: configMap(`c${index}`) })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(await usedOf(running, "q")).toEqual({ "count/configmaps": "10" });
  });

  it("admits exactly as many as fit when another plugin delays each request", async () => {
    const turns = (left: number): Promise<void> => (left === 0 ? Promise.resolve() : Promise.resolve().then(() => turns(left - 1)));
    let asked = 0;
    const slow: AdmissionPlugin = {
      name: "Slow",
      validate: async () => {
        asked += 1;
        await turns((asked * 7) % 13);
        return { ok: true, value: undefined };
      },
    };
    const running = server([slow]);
    await addQuota(running, "q", { hard: { "count/configmaps": "10" } });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => running.ask("POST", `${PATH}/configmaps`, { body: configMap(`c${index}`) })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const listed = await running.ask("GET", `${PATH}/configmaps`);
    expect(fieldAt(listed.body, "items")).toHaveLength(10);
  });

  it("does not charge a dry run, but refuses one that exceeds the quota", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { configmaps: "1" } });
    expect((await running.ask("POST", `${PATH}/configmaps?dryRun=All`, { body: configMap("a") })).status).toBe(201);
    expect(await usedOf(running, "q")).toEqual({ configmaps: "0" });
    await running.ask("POST", `${PATH}/configmaps`, { body: configMap("a") });
    expect((await running.ask("POST", `${PATH}/configmaps?dryRun=All`, { body: configMap("b") })).status).toBe(403);
  });

  it("enforces nothing before the quota controller has set status.hard", async () => {
    const running = server();
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard: { configmaps: "0" } } };
    await running.ask("POST", `${PATH}/resourcequotas`, { body: quota });
    expect((await running.ask("POST", `${PATH}/configmaps`, { body: configMap("a") })).status).toBe(201);
  });

  it.each([
    {
      name: "pods without the requests that a compute quota counts",
      quota: { hard: { "requests.cpu": "1", "limits.memory": "1Gi" } },
      given: pod("p"),
      want: 'pods "p" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
    },
    {
      name: "resources without a recorded usage",
      quota: { hard: { pods: "1", "requests.cpu": "1" }, used: { "requests.cpu": "0" } },
      given: pod("p", { requests: { cpu: "1" } }),
      want: 'pods "p" is forbidden: status unknown for quota: q, resources: pods,requests.cpu',
    },
    {
      name: "several amounts at once, in their own units",
      quota: { hard: { "requests.cpu": "1", "requests.memory": "1Gi" }, used: { "requests.cpu": "900m", "requests.memory": "512Mi" } },
      given: pod("p", { requests: { cpu: "0.2", memory: "600Mi" } }),
      want: 'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=200m,requests.memory=600Mi, used: requests.cpu=900m,requests.memory=512Mi, limited: requests.cpu=1,requests.memory=1Gi',
    },
    {
      name: "pods in the scope of the quota",
      quota: { hard: { pods: "0" }, spec: { scopes: ["BestEffort"] } },
      given: pod("p"),
      want: 'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
    },
    {
      name: "no pods outside of the scope",
      quota: { hard: { pods: "0" }, spec: { scopes: ["BestEffort"] } },
      given: pod("p", { requests: { cpu: "1" } }),
      want: undefined,
    },
  ])("refuses $name", async ({ quota, given, want }) => {
    const running = server();
    await addQuota(running, "q", quota);
    expect(messageOf(await running.ask("POST", `${PATH}/pods`, { body: given }))).toBe(want);
  });

  it("charges an update for its growth, and does not reduce the usage", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { services: "1", "services.nodeports": "1" } });
    const service = (type: string, ports: number): Json => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { type, ports: Array.from({ length: ports }, (_, index) => ({ name: `p${index}`, port: 80 + index })) },
    });
    await running.ask("POST", `${PATH}/services`, { body: service("ClusterIP", 1) });
    expect(await usedOf(running, "q")).toEqual({ services: "1", "services.nodeports": "0" });
    expect((await running.ask("PUT", `${PATH}/services/s`, { body: service("NodePort", 1) })).status).toBe(200);
    expect(await usedOf(running, "q")).toEqual({ services: "1", "services.nodeports": "1" });
    expect(messageOf(await running.ask("PUT", `${PATH}/services/s`, { body: service("NodePort", 2) }))).toBe(
      'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    );
    await running.ask("PUT", `${PATH}/services/s`, { body: service("ClusterIP", 1) });
    expect(await usedOf(running, "q")).toEqual({ services: "1", "services.nodeports": "1" });
  });

  it("checks a pod again when it gets a deadline", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { pods: "0" }, spec: { scopes: ["Terminating"] } });
    await running.ask("POST", `${PATH}/pods`, { body: pod("p") });
    const patch = { spec: { activeDeadlineSeconds: 5 } };
    const refused = await running.ask("PATCH", `${PATH}/pods/p`, { body: patch, type: "application/merge-patch+json" });
    expect(refused.status).toBe(403);
    const labels = { metadata: { labels: { a: "b" } } };
    expect((await running.ask("PATCH", `${PATH}/pods/p`, { body: labels, type: "application/merge-patch+json" })).status).toBe(200);
  });

  it("does not refuse the status of a volume that has already grown", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { "requests.storage": "1Gi" } });
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    await running.ask("POST", `${PATH}/persistentvolumeclaims`, { body: claim });
    const body = { status: { allocatedResources: { storage: "2Gi" } } };
    const path = `${PATH}/persistentvolumeclaims/c/status`;
    expect((await running.ask("PATCH", path, { body, type: "application/merge-patch+json" })).status).toBe(200);
    expect(await usedOf(running, "q")).toEqual({ "requests.storage": "2Gi" });
  });

  it("ignores events and cluster-scoped objects", async () => {
    const running = server();
    await addQuota(running, "q", { hard: { "count/events": "0", "count/namespaces": "0" } });
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } };
    expect((await running.ask("POST", "/api/v1/namespaces", { body: namespace })).status).toBe(201);
    const event = { apiVersion: "v1", kind: "Event", metadata: { name: "e" }, involvedObject: { namespace: "default" } };
    expect((await running.ask("POST", `${PATH}/events`, { body: event })).status).toBe(201);
  });
});
