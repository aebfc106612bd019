import { describe, expect, it } from "vitest";
import { failWith, resources, startEmbeddedCluster, type AnyObject } from "#embedded-cluster";
import { ActionLog } from "./action-log.ts";
import { actionOf } from "./action.ts";

const { configmaps, nodes, pods } = resources;
const key = { namespace: "default", name: "a" };
const configMap: AnyObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" }, data: {} };

async function busyCluster() {
  const cluster = await startEmbeddedCluster();
  await cluster.client.create(configmaps, configMap);
  await cluster.client.patch(configmaps, key, { type: "merge", patch: { data: { a: "1" } } }, { dryRun: true, fieldManager: "me" });
  await cluster.client.apply(configmaps, { ...configMap, data: { b: "2" } } as AnyObject, { fieldManager: "mine", force: true });
  await cluster.client.update(configmaps, { ...configMap, metadata: { ...configMap.metadata, resourceVersion: "1" } });
  await cluster.client.list(pods, { namespace: "default", labelSelector: "app=web", fieldSelector: "status.phase=Running" });
  await cluster.client.list(nodes);
  await cluster.client.get(configmaps, { namespace: "default", name: "missing" });
  await cluster.client.raw("/version");
  return cluster;
}

describe("the log", () => {
  it("prints one line per request", async () => {
    await using cluster = await busyCluster();
    expect(cluster.actions.toString()).toBe(
      [
        "1. create configmaps default/a as admin -> 201",
        "2. patch configmaps default/a (merge) by me dry run as admin -> 200",
        "3. apply configmaps default/a by mine as admin -> 200",
        "4. update configmaps default/a as admin -> 409 Conflict",
        "5. list pods in default labels app=web fields status.phase=Running as admin -> 200",
        "6. list nodes as admin -> 200",
        "7. get configmaps default/missing as admin -> 404 NotFound",
        "8. request GET /version as admin -> 200",
      ].join("\n"),
    );
  });

  it("is filtered by the same fields as interceptors", async () => {
    await using cluster = await busyCluster();
    const numbers = (match: Parameters<typeof cluster.actions.filter>[0]) => cluster.actions.filter(match).map(({ number }) => number);
    expect(numbers({ verb: ["create", "apply"] })).toEqual([1, 3]);
    expect(numbers({ resource: "pods" })).toEqual([5]);
    expect(numbers({ when: ({ dryRun }) => dryRun })).toEqual([2]);
    expect(numbers({ user: "bob" })).toEqual([]);
    expect(cluster.actions.writes().map(({ number }) => number)).toEqual([1, 3, 4]);
  });

  it("keeps bodies as they were sent", async () => {
    await using cluster = await busyCluster();
    const [create, patch] = cluster.actions;
    expect(create?.body).toEqual(configMap);
    expect(patch).toMatchObject({ patchType: "merge", fieldManager: "me", dryRun: true });
    expect(patch?.body).toEqual({ data: { a: "1" } });
  });

  it("returns copies of queries", async () => {
    await using cluster = await startEmbeddedCluster();
    await cluster.client.create(configmaps, configMap);
    for (const { query } of cluster.actions) query.set("dryRun", "All");
    await cluster.client.create(configmaps, { ...configMap, metadata: { ...configMap.metadata, name: "b" } });
    expect((await cluster.client.get(configmaps, { ...key, name: "b" })).ok).toBe(true);
  });

  it("can be cleared, continues its numbers, and prints that it is empty", async () => {
    await using cluster = await busyCluster();
    cluster.actions.clear();
    expect([cluster.actions.length, cluster.actions.toString()]).toEqual([0, "no requests"]);
    await cluster.client.list(nodes);
    expect([...cluster.actions].map(({ number }) => number)).toEqual([9]);
  });

  it("shows broken connections and requests without a response", async () => {
    await using cluster = await startEmbeddedCluster({ clock: "fake" });
    cluster.intercept({ verb: "list" }, failWith("network"));
    cluster.intercept({ verb: "get" }, () => new Promise(() => {}));
    await cluster.client.list(nodes);
    const waiting = cluster.client.get(nodes, { name: "a" });
    await cluster.clock.advance(0);
    expect(cluster.actions.toString()).toBe("1. list nodes as admin -> network\n2. get nodes a as admin -> no response yet");
    await cluster.clock.advance(30_000);
    await waiting;
  });

  it("can be turned off", async () => {
    await using cluster = await startEmbeddedCluster({ logActions: false });
    await cluster.client.list(nodes);
    expect(cluster.actions.length).toBe(0);
  });

  it("keeps the newest", () => {
    const log = new ActionLog(2);
    const types = { find: () => undefined, hasGroup: () => false } as never;
    for (let at = 0; at < 7; at += 1) {
      const request = {
        method: "GET",
        path: `/x${at}`,
        query: new URLSearchParams(),
        headers: {},
        user: { name: "u", uid: "", groups: [] },
      };
      log.note(actionOf(request, types));
    }
    expect(
      log
        .filter({})
        .map(({ path }) => path)
        .at(-1),
    ).toBe("/x6");
    expect(log.length).toBeLessThanOrEqual(4);
  });
});

describe("bodies of HTTP requests", () => {
  const ask = async (headers: Record<string, string>, body: string | Uint8Array, method: "POST" | "DELETE" = "POST", name = "") => {
    await using cluster = await startEmbeddedCluster();
    let seen: { body: unknown; name: string | undefined; dryRun: boolean } | undefined;
    cluster.intercept({}, (action) => {
      seen = { body: action.body, name: action.name, dryRun: action.dryRun };
      return { kind: "broken" };
    });
    const { url } = await cluster.listen({ http: true });
    const kubeconfig = await cluster.kubeconfig();
    const token = /token: (\S+)/.exec(kubeconfig)?.[1] ?? "";
    await fetch(`${url}/api/v1/namespaces/default/configmaps${name}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: body as never,
    }).catch(() => undefined);
    return seen;
  };
  const json = '{"metadata":{"name":"a"},"data":{"k":"v"}}';

  it("JSON, YAML and protobuf are read alike", async () => {
    expect(await ask({ "content-type": "application/json" }, json)).toMatchObject({ name: "a", body: { data: { k: "v" } } });
    expect(await ask({ "content-type": "application/yaml" }, "metadata: {name: a}\ndata: {k: v}")).toMatchObject({ name: "a" });
    expect(await ask({ "content-type": "application/vnd.kubernetes.protobuf" }, protobufConfigMap())).toMatchObject({ name: "a" });
  });

  it("an invalid body is absent", async () => {
    const rows = [
      ["application/json", "{"],
      ["application/yaml", "{"],
      ["application/vnd.kubernetes.protobuf", "{"],
    ] as const;
    for (const [type, body] of rows) {
      expect(await ask({ "content-type": type }, body)).toEqual({ body: undefined, name: undefined, dryRun: false });
    }
  });

  it("a DELETE has dryRun in its body", async () => {
    expect(await ask({ "content-type": "application/json" }, '{"dryRun":["All"]}', "DELETE", "/a")).toMatchObject({
      name: "a",
      dryRun: true,
    });
  });
});

/** runtime.Unknown{typeMeta: v1 ConfigMap, raw: ConfigMap{metadata: {name: "a"}}} */
function protobufConfigMap(): Uint8Array {
  const message = (tag: number, bytes: readonly number[]) => [tag, bytes.length, ...bytes];
  const text = (tag: number, value: string) => message(tag, [...new TextEncoder().encode(value)]);
  const typeMeta = [...text(0x0a, "v1"), ...text(0x12, "ConfigMap")];
  const raw = message(0x0a, text(0x0a, "a"));
  return new Uint8Array([0x6b, 0x38, 0x73, 0x00, ...message(0x0a, typeMeta), ...message(0x12, raw)]);
}
