import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import {
  alterAnswer,
  alterEvents,
  alterRequest,
  answerWith,
  delay,
  failWith,
  loseAnswer,
  resources,
  startEmbeddedCluster,
  type AnyObject,
  type Failing,
  type InterceptMatch,
  type JsonObject,
  type KubeClient,
} from "#embedded-cluster";

const { configmaps, deployments, nodes, pods } = resources;
const key = { namespace: "default", name: "a" };
const configMap = (name = "a", data: Record<string, string> = {}): AnyObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", namespace: "default" },
  spec: { containers: [{ name: "c", image: "i" }] },
};

describe("every verb can be intercepted", () => {
  const patch = { type: "merge", patch: { data: { b: "1" } } } as const;
  const rows: { name: string; match: InterceptMatch; call: (client: KubeClient) => Promise<{ ok: boolean }> }[] = [
    { name: "get", match: { verb: "get", resource: "configmaps" }, call: (client) => client.get(configmaps, key) },
    { name: "list", match: { verb: "list" }, call: (client) => client.list(configmaps, { namespace: "default" }) },
    { name: "create", match: { verb: "create", name: "b" }, call: (client) => client.create(configmaps, configMap("b")) },
    { name: "update", match: { verb: "update", namespace: "default" }, call: (client) => client.update(configmaps, configMap()) },
    { name: "patch", match: { verb: "patch", resource: configmaps }, call: (client) => client.patch(configmaps, key, patch) },
    { name: "apply", match: { verb: "apply" }, call: (client) => client.apply(configmaps, configMap(), { fieldManager: "me" }) },
    { name: "delete", match: { verb: "delete", resource: "*" }, call: (client) => client.delete(configmaps, key) },
    {
      name: "deletecollection",
      match: { verb: "deletecollection", resource: ["secrets", "configmaps"] },
      call: (client) => client.deleteCollection(configmaps, { namespace: "default" }),
    },
    {
      name: "a subresource",
      match: { verb: "patch", resource: "pods/status" },
      call: (client) => client.patch(pods, key, { type: "merge", patch: { status: { phase: "Running" } } }, { subresource: "status" }),
    },
    { name: "a path", match: { verb: "request" }, call: (client) => client.raw("/version") },
  ];

  it.each(rows)("$name", async ({ match, call }) => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap(), pod] });
    const before = expectOk(await cluster.client.list(configmaps, { namespace: "default" })).items;
    const refusal = cluster.intercept(match, failWith("forbidden", { message: "not today" }));
    expect(await call(cluster.client)).toMatchObject({ ok: false, error: { kind: "forbidden", message: "not today" } });
    expect(refusal.calls).toBe(1);
    refusal.remove();
    expect(expectOk(await cluster.client.list(configmaps, { namespace: "default" })).items).toEqual(before);
    expect(await call(cluster.client)).toMatchObject({ ok: true });
  });

  it("watch", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({ verb: "watch", times: 1 }, failWith("gone"));
    const [first] = await firstItems(cluster.client, 1);
    expect(first).toMatchObject({ ok: false, error: { kind: "gone" } });
  });
});

async function firstItems(client: KubeClient, count: number, during: () => Promise<unknown> = async () => {}) {
  const stop = new AbortController();
  const items: unknown[] = [];
  const watching = (async () => {
    for await (const item of client.watch(configmaps, { namespace: "default" }, stop.signal)) {
      items.push(item);
      if (items.length === count) return;
    }
  })();
  await during();
  await watching;
  stop.abort();
  return items;
}

describe("selects", () => {
  it("the main resource only, unless a subresource is named", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [pod] });
    using main = cluster.intercept({ resource: "pods" }, (_action, next) => next());
    using both = cluster.intercept({ resource: "pods/*" }, (_action, next) => next());
    using group = cluster.intercept({ resource: "deployments.apps" }, (_action, next) => next());
    using foreign = cluster.intercept({ resource: "deployments.extensions" }, (_action, next) => next());
    await cluster.client.get(pods, key);
    await cluster.client.patch(pods, key, { type: "merge", patch: { status: {} } }, { subresource: "status" });
    await cluster.client.list(deployments);
    expect([main.calls, both.calls, group.calls, foreign.calls]).toEqual([1, 2, 1, 0]);
  });

  it("as often as `times`, and not after it was removed", async () => {
    await using cluster = await startEmbeddedCluster();
    const ok = async () => (await cluster.client.list(nodes)).ok;
    cluster.intercept({ verb: "list", times: 2 }, failWith("unavailable"));
    expect([await ok(), await ok(), await ok()]).toEqual([false, false, true]);
    {
      using _broken = cluster.intercept({ verb: "list" }, failWith("unavailable"));
      expect(await ok()).toBe(false);
    }
    expect(await ok()).toBe(true);
    cluster.intercept({}, failWith("unavailable"));
    cluster.clearInterceptors();
    expect(await ok()).toBe(true);
  });

  it("by user and by any other condition", async () => {
    await using cluster = await startEmbeddedCluster({ users: [{ name: "alice", groups: ["system:masters"] }] });
    cluster.intercept({ user: "alice" }, failWith("unauthorized"));
    cluster.intercept({ when: ({ labelSelector }) => labelSelector === "app=web" }, failWith("timeout"));
    expect(await cluster.clientFor("alice").list(nodes)).toMatchObject({ error: { kind: "unauthorized" } });
    expect(await cluster.client.list(nodes)).toMatchObject({ ok: true });
    expect(await cluster.client.list(nodes, { labelSelector: "app=web" })).toMatchObject({ error: { kind: "timeout" } });
  });

  it("the newest first; `next` calls the older ones", async () => {
    await using cluster = await startEmbeddedCluster({ interceptors: [{ match: {}, interceptor: failWith("server-error") }] });
    const seen: string[] = [];
    cluster.intercept({}, async (action, next) => {
      seen.push(action.verb);
      const answer = await next();
      seen.push(answer.kind === "json" ? String(answer.code) : answer.kind);
      return answer;
    });
    await cluster.client.list(nodes);
    expect(seen).toEqual(["list", "500"]);
  });
});

describe("failing", () => {
  const rows: { failing: Exclude<Failing, object>; code?: number; message: string }[] = [
    { failing: "bad-request", code: 400, message: "the server rejected our request" },
    { failing: "unauthorized", code: 401, message: "Unauthorized" },
    {
      failing: "forbidden",
      code: 403,
      message:
        'deployments.apps "a" is forbidden: User "admin" cannot get resource "deployments" in API group "apps" in the namespace "default"',
    },
    { failing: "not-found", code: 404, message: 'deployments.apps "a" not found' },
    { failing: "already-exists", code: 409, message: 'deployments.apps "a" already exists' },
    { failing: "conflict", code: 409, message: 'Operation cannot be fulfilled on deployments.apps "a": the object has been modified' },
    { failing: "gone", code: 410, message: "too old" },
    { failing: "unsupported-media-type", code: 415, message: "unknown format" },
    { failing: "invalid", code: 422, message: 'deployments.apps "a" is invalid' },
    { failing: "too-many-requests", code: 429, message: "Too many requests" },
    { failing: "server-error", code: 500, message: "Internal error occurred" },
    { failing: "unavailable", code: 503, message: "unable to handle the request" },
    { failing: "timeout", code: 504, message: "Timeout" },
    { failing: "network", message: "the connection was lost" },
  ];

  it.each(rows)("$failing has the message of a real server", async ({ failing, code, message }) => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({ verb: "get" }, failWith(failing));
    const answer = await cluster.client.get(deployments, key);
    expect(answer).toMatchObject({ ok: false, error: { kind: failing, message: expect.stringContaining(message) } });
    expect(answer.ok ? undefined : answer.error.code).toBe(code);
  });

  it("a cluster-wide kind is forbidden at the cluster scope, an apply is a patch", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({}, failWith("forbidden"));
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
    expect(await cluster.client.apply(nodes, node, { fieldManager: "me" })).toMatchObject({
      error: { message: 'nodes "n" is forbidden: User "admin" cannot patch resource "nodes" in API group "" at the cluster scope' },
    });
    expect(await cluster.client.raw("/version")).toMatchObject({ error: { kind: "forbidden" } });
  });

  it("a Status is sent unchanged, with its Retry-After header", async () => {
    await using cluster = await startEmbeddedCluster();
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "short and stout" } as const;
    cluster.intercept({ name: "pot" }, failWith({ ...status, code: 418 }));
    cluster.intercept({ name: "odd" }, failWith(status));
    cluster.intercept({ name: "busy" }, failWith("too-many-requests", { retryAfterSeconds: 7 }));
    const get = (name: string) => cluster.client.get(configmaps, { namespace: "default", name });
    expect(await get("pot")).toMatchObject({ error: { code: 418, message: "short and stout" } });
    expect(await get("odd")).toMatchObject({ error: { code: 500 } });
    expect(await get("busy")).toMatchObject({ error: { kind: "too-many-requests", retryAfterMs: 7_000 } });
  });

  it("a write whose response is lost has taken effect", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({ verb: "create", times: 1 }, loseAnswer());
    expect(await cluster.client.create(configmaps, configMap())).toMatchObject({ error: { kind: "network" } });
    expect(await cluster.client.get(configmaps, key)).toMatchObject({ ok: true });
  });
});

describe("waiting", () => {
  it("uses the cluster's clock", async () => {
    await using cluster = await startEmbeddedCluster({ clock: "fake" });
    cluster.intercept({ verb: "list" }, delay(5_000));
    let done = false;
    const listing = cluster.client.list(nodes).then((answer) => ((done = true), answer));
    await cluster.clock.advance(4_999);
    expect(done).toBe(false);
    await cluster.clock.advance(1);
    expect(await listing).toMatchObject({ ok: true });
  });

  it("an aborted request never reaches the cluster", async () => {
    await using cluster = await startEmbeddedCluster({ clock: "fake" });
    cluster.intercept({ verb: "create" }, delay(60_000));
    const stop = new AbortController();
    const creating = cluster.client.create(configmaps, configMap(), { signal: stop.signal });
    await cluster.clock.advance(1_000);
    stop.abort();
    expect(await creating).toMatchObject({ error: { kind: "cancelled" } });
    await cluster.clock.advance(120_000);
    expect(await cluster.client.get(configmaps, key)).toMatchObject({ error: { kind: "not-found" } });
    expect(cluster.clock.pending).toBe(0);
  });

  it("a call that takes too long times out, as over a network", async () => {
    await using cluster = await startEmbeddedCluster({ clock: "fake" });
    cluster.intercept({}, delay(60_000));
    const listing = cluster.client.list(nodes, {}, { timeoutMs: 2_000 });
    const patient = cluster.client.list(nodes);
    await cluster.clock.advance(30_000);
    expect(await listing).toMatchObject({ error: { kind: "timeout" } });
    expect(await patient).toMatchObject({ error: { kind: "timeout" } });
  });
});

describe("changing", () => {
  it("the body of a request", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept(
      { verb: "create" },
      alterRequest((body) => ({ ...(body as JsonObject), data: { injected: "yes" } })),
    );
    cluster.intercept(
      { verb: "get" },
      alterRequest(() => undefined),
    );
    expect(expectOk(await cluster.client.create(configmaps, configMap())).data).toEqual({ injected: "yes" });
    expect(expectOk(await cluster.client.get(configmaps, key)).data).toEqual({ injected: "yes" });
  });

  it("older interceptors see the body that newer ones changed", async () => {
    await using cluster = await startEmbeddedCluster();
    const seen: unknown[] = [];
    cluster.intercept({ verb: "create" }, (action, next) => (seen.push((action.body as JsonObject)["data"]), next()));
    cluster.intercept(
      { verb: "create" },
      alterRequest((body) => ({ ...(body as JsonObject), data: { a: "2" } })),
    );
    await cluster.client.create(configmaps, configMap("a", { a: "1" }));
    expect(seen).toEqual([{ a: "2" }]);
    expect(expectOk(await cluster.client.get(configmaps, key)).data).toEqual({ a: "2" });
  });

  it("the body of a response, without changing the stored object", async () => {
    await using cluster = await startEmbeddedCluster({ objects: [configMap("a", { a: "1" })] });
    const off = cluster.intercept(
      { verb: "get" },
      alterAnswer((body, code) => {
        const draft = body as { data: Record<string, string> };
        draft.data["a"] = String(code);
        return body;
      }),
    );
    expect(expectOk(await cluster.client.get(configmaps, key)).data).toEqual({ a: "200" });
    off.remove();
    expect(expectOk(await cluster.client.get(configmaps, key)).data).toEqual({ a: "1" });
  });

  it("a response from the interceptor", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({ name: "ghost" }, answerWith(configMap("ghost")));
    expect(await cluster.client.get(configmaps, { namespace: "default", name: "ghost" })).toMatchObject({ ok: true });
  });

  it("text responses are passed through, and can be replaced", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept(
      { verb: "request" },
      alterAnswer((body) => body),
    );
    expect(await cluster.client.raw("/healthz")).toEqual({ ok: true, value: "ok" });
    cluster.intercept({ verb: "request", times: 1 }, () => ({ kind: "text", code: 200, text: "quite well" }));
    expect(await cluster.client.raw("/healthz")).toEqual({ ok: true, value: "quite well" });
  });

  it("events of a watch: another one, none, or the end", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept(
      { verb: "watch" },
      alterEvents((event) => {
        if (event["type"] === "BOOKMARK") return event;
        const name = ((event["object"] as JsonObject)["metadata"] as JsonObject)["name"];
        if (name === "swallowed") return undefined;
        return name === "last" ? "end" : { ...event, type: "MODIFIED" };
      }),
    );
    const items = await firstItems(cluster.client, 99, async () => {
      for (const name of ["seen", "swallowed", "last"]) await cluster.client.create(configmaps, configMap(name));
    });
    expect(items.slice(1)).toMatchObject([{ value: { type: "MODIFIED", object: { metadata: { name: "seen" } } } }]);
  });

  it("a refused watch is not a stream, and is passed through", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept(
      { verb: "watch" },
      alterEvents(() => "end"),
    );
    const stop = new AbortController();
    for await (const item of cluster.client.watch(configmaps, { resourceVersion: "x" }, stop.signal)) {
      expect(item).toMatchObject({ ok: false, error: { kind: "server-error" } });
    }
  });

  it("a watch passes through an interceptor that does not change it", async () => {
    await using cluster = await startEmbeddedCluster();
    cluster.intercept({ verb: "watch" }, (_action, next) => next());
    const items = await firstItems(cluster.client, 2, () => cluster.client.create(configmaps, configMap()));
    expect(items).toMatchObject([{ value: { type: "BOOKMARK" } }, { value: { type: "ADDED" } }]);
  });
});
