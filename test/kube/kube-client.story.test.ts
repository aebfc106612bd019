/**
 * The Kubernetes client against a real API server, whose responses may differ from those of an in-process server.
 *
 * The plane is shared; the last story restarts an API server and has its own plane.
 */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger, err, expectOk, ok, systemClock, type LogFields, type Logger, type Result } from "#base";
import { defineResource, type KubeObject } from "#kube";
import {
  createKubeClient,
  httpTransport,
  loadKubeconfig,
  type KubeClient,
  type KubeError,
  type ReadFile,
  type WatchEvent,
} from "#kube-client";
import { eventually, realPlane, sharedPlane } from "./harness/index.ts";

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };
const configMaps = defineResource<ConfigMap>({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const deployments = defineResource({ group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true });
const nodes = defineResource({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const unknowns = defineResource({ group: "unknown.example", version: "v1", kind: "Unknown", plural: "unknowns", namespaced: false });

async function connect(path: string, options: { readonly logger?: Logger; readonly readFile?: ReadFile } = {}): Promise<KubeClient> {
  const { logger, readFile: read } = options;
  const config = await loadKubeconfig({ path, env: {}, home: "/", clock: systemClock, ...(read === undefined ? {} : { readFile: read }) });
  const transport = httpTransport(expectOk(config), { clock: systemClock });
  return createKubeClient({ transport, clock: systemClock, random: () => 0.5, ...(logger === undefined ? {} : { logger }) });
}

const configMap = (namespace: string, name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name },
  data,
});

/** The kind of an error, or "ok". */
async function kindOf(answer: Promise<Result<unknown, KubeError>>): Promise<string> {
  const result = await answer;
  return result.ok ? "ok" : result.error.kind;
}

/** Reads a watch until it has seen enough. */
async function take<T extends KubeObject>(
  events: AsyncIterable<Result<WatchEvent<T>, KubeError>>,
  enough: (seen: readonly string[]) => boolean,
) {
  const seen: string[] = [];
  for await (const event of events) {
    if (!event.ok) seen.push(event.error.kind);
    else seen.push(event.value.type === "BOOKMARK" ? "BOOKMARK" : `${event.value.type} ${event.value.object.metadata.name}`);
    if (enough(seen)) break;
  }
  return seen;
}

const live = new AbortController().signal;
let client: KubeClient;
let namespace: string;

beforeAll(async () => {
  const plane = sharedPlane();
  client = await connect(plane.kubeconfigPath);
  namespace = await plane.makeNamespace("client");
});
afterAll(() => client.close());

describe("reading and writing", () => {
  test("a created object can be read, changed and deleted", async () => {
    const made = expectOk(await client.create(configMaps, configMap(namespace, "life", { a: "1" }), { fieldManager: "story" }));
    expect(await client.get(configMaps, { namespace, name: "life" })).toEqual(ok(made));
    const changed = expectOk(await client.update(configMaps, { ...made, data: { a: "ä€𐍈" } }));
    expect(expectOk(await client.get(configMaps, { namespace, name: "life" })).data).toEqual({ a: "ä€𐍈" });
    expect(await kindOf(client.update(configMaps, made))).toBe("conflict");
    const wrong = { uid: "not-this-one" };
    expect(await kindOf(client.delete(configMaps, { namespace, name: "life" }, { preconditions: wrong }))).toBe("conflict");
    const { uid = "", resourceVersion = "" } = changed.metadata;
    const right = { preconditions: { uid, resourceVersion }, propagation: "Foreground" } as const;
    expect(await client.delete(configMaps, { namespace, name: "life" }, right)).toEqual(ok(true));
    await eventually(
      "the ConfigMap is deleted",
      async () => (await kindOf(client.get(configMaps, { namespace, name: "life" }))) === "not-found" || undefined,
    );
    expect(await client.delete(configMaps, { namespace, name: "life" })).toEqual(ok(false));
  });

  test("each type of patch works", async () => {
    const key = { namespace, name: "patched" };
    await client.create(configMaps, configMap(namespace, "patched", { a: "1" }));
    expectOk(await client.patch(configMaps, key, { type: "merge", patch: { data: { b: "2", a: null } } }));
    expectOk(await client.patch(configMaps, key, { type: "json", operations: [{ op: "add", path: "/data/c", value: "3" }] }));
    expectOk(await client.patch(configMaps, key, { type: "strategic", patch: { data: { d: "4" } } }));
    expectOk(await client.patch(configMaps, key, { type: "merge", patch: { data: { e: "5" } } }, { dryRun: true }));
    expect(expectOk(await client.get(configMaps, key)).data).toEqual({ b: "2", c: "3", d: "4" });
    expect(await kindOf(client.patch(configMaps, key, { type: "json", operations: [{ op: "test", path: "/data/b", value: "no" }] }))).toBe(
      "invalid",
    );
  });

  test("all pages together are the list, and items have their kind", async () => {
    for (const name of ["p1", "p2", "p3", "p4", "p5"]) {
      await client.create(configMaps, { ...configMap(namespace, name), metadata: { namespace, name, labels: { page: "yes" } } });
    }
    const names: string[] = [];
    let next: string | undefined;
    do {
      const page = expectOk(await client.list(configMaps, { namespace, labelSelector: "page in (yes)", limit: 2, continue: next }));
      names.push(...page.items.map((item) => `${item.apiVersion} ${item.kind} ${item.metadata.name}`));
      next = page.metadata.continue;
    } while (next !== undefined && next !== "");
    expect(names).toEqual(["p1", "p2", "p3", "p4", "p5"].map((name) => `v1 ConfigMap ${name}`));
    expect(expectOk(await client.list(configMaps, { namespace, fieldSelector: "metadata.name=p3" })).items).toHaveLength(1);
    expect(expectOk(await client.list(nodes, { labelSelector: "missing=label" })).items).toEqual([]);
  });

  test("a thousand concurrent reads all succeed", async () => {
    await client.create(configMaps, configMap(namespace, "busy"));
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => kindOf(client.get(configMaps, { namespace, name: "busy" }))));
    expect(new Set(answers)).toEqual(new Set(["ok"]));
  });
});

describe("server-side apply", () => {
  const owned = (data: Record<string, string>) => configMap(namespace, "applied", data);

  test("creates, keeps an unchanged object, reports a conflict with another manager, and takes over the field by force", async () => {
    const first = expectOk(await client.apply<ConfigMap>(configMaps, owned({ a: "1" }), { fieldManager: "one" }));
    const again = expectOk(await client.apply<ConfigMap>(configMaps, owned({ a: "1" }), { fieldManager: "one" }));
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const refused = await client.apply(configMaps, owned({ a: "2" }), { fieldManager: "two" });
    expect(refused).toMatchObject({ error: { kind: "conflict", code: 409 } });
    expect(refused.ok ? [] : refused.error.status?.details?.causes).toMatchObject([{ reason: "FieldManagerConflict", field: ".data.a" }]);
    const forced = await client.apply<ConfigMap>(configMaps, owned({ a: "2" }), { fieldManager: "two", force: true });
    expect(expectOk(forced).data).toEqual({ a: "2" });
  });

  test("supports dry runs and the status subresource", async () => {
    const tried = expectOk(await client.apply<ConfigMap>(configMaps, configMap(namespace, "tried"), { fieldManager: "one", dryRun: true }));
    expect(tried.metadata.uid).toBeDefined();
    expect(await kindOf(client.get(configMaps, { namespace, name: "tried" }))).toBe("not-found");
    const labels = { app: "x" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace, name: "d" } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    expectOk(await client.apply(deployments, { ...deployment, spec } as KubeObject, { fieldManager: "one" }));
    const status = { conditions: [{ type: "Story", status: "True" }] };
    const written = await client.apply(deployments, { ...deployment, status } as KubeObject, {
      fieldManager: "two",
      subresource: "status",
    });
    expect(expectOk(written)).toMatchObject({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Story" })]) as unknown },
    });
  });
});

describe("watching", () => {
  test("delivers every change since a list, and ends when the server ends it", async () => {
    const { resourceVersion } = expectOk(await client.list(configMaps, { namespace })).metadata;
    const events = client.watch(configMaps, { namespace, resourceVersion, labelSelector: "watched" }, live);
    const seen = take(events, ({ length }) => length === 3);
    const object = { ...configMap(namespace, "w"), metadata: { namespace, name: "w", labels: { watched: "yes" } } };
    await client.create(configMaps, object);
    await client.patch(configMaps, { namespace, name: "w" }, { type: "merge", patch: { data: { a: "1" } } });
    await client.delete(configMaps, { namespace, name: "w" });
    expect(await seen).toEqual(["ADDED w", "MODIFIED w", "DELETED w"]);
    const short = client.watch(configMaps, { namespace, resourceVersion, timeoutSeconds: 1 }, live);
    for (const event of await take(short, () => false)) expect(event).toMatch(/^(ADDED|MODIFIED|DELETED|BOOKMARK)/);
  });

  test("delivers bookmarks", async () => {
    const seen = await take(client.watch(configMaps, { namespace, timeoutSeconds: 5 }, live), (events) => events.includes("BOOKMARK"));
    expect(seen).toContain("BOOKMARK");
  });

  test("ends at once when its signal fires", async () => {
    const caller = new AbortController();
    const seen: unknown[] = [];
    for await (const event of client.watch(configMaps, { namespace }, caller.signal)) {
      seen.push(event);
      caller.abort();
    }
    expect(seen).toHaveLength(1);
  });

  test("other calls work beside a hundred and fifty watches", async () => {
    const callers = new AbortController();
    const first = Array.from({ length: 150 }, () => take(client.watch(configMaps, { namespace }, callers.signal), () => true));
    await Promise.all(first);
    const open = Array.from({ length: 150 }, () => take(client.watch(configMaps, { namespace }, callers.signal), () => false));
    expect(await client.raw("/readyz")).toEqual(ok("ok"));
    callers.abort();
    await Promise.all(open);
  });
});

describe("errors", () => {
  const key = { name: "missing" };
  const rows: { name: string; given: () => Promise<Result<unknown, KubeError>>; want: string }[] = [
    { name: "a missing object", given: () => client.get(configMaps, { namespace, ...key }), want: "not-found" },
    { name: "an unknown kind", given: () => client.get(unknowns, key), want: "not-found" },
    {
      name: "an existing object",
      given: async () => {
        await client.create(configMaps, configMap(namespace, "twice"));
        return client.create(configMaps, configMap(namespace, "twice"));
      },
      want: "already-exists",
    },
    { name: "an invalid name", given: () => client.create(configMaps, configMap(namespace, "Bad_Name")), want: "invalid" },
    { name: "an invalid selector", given: () => client.list(configMaps, { labelSelector: "a in" }), want: "bad-request" },
    { name: "an invalid continue token", given: () => client.list(configMaps, { continue: "nonsense" }), want: "bad-request" },
    { name: "an unknown path", given: () => client.raw("/nowhere"), want: "not-found" },
  ];
  test.each(rows)("$name: $want", async ({ given, want }) => {
    expect(await kindOf(given())).toBe(want);
  });

  test("an unknown token: unauthorized", async () => {
    const { url, caPem } = sharedPlane();
    const text = JSON.stringify({
      "current-context": "x",
      clusters: [{ name: "x", cluster: { server: url, "certificate-authority-data": Buffer.from(caPem).toString("base64") } }],
      users: [{ name: "x", user: { token: "wrong" } }],
      contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    });
    const stranger = await connect("/stranger", { readFile: () => Promise.resolve(text) });
    expect(await kindOf(stranger.get(nodes, key))).toBe("unauthorized");
    await stranger.close();
  });

  test("a user with a client certificate and no rights: forbidden", async () => {
    const text = sharedPlane().kubeconfigFor("ada");
    const ada = await connect("/ada", { readFile: (path) => (path === "/ada" ? Promise.resolve(text) : readFile(path, "utf8")) });
    const refused = await ada.list(configMaps);
    expect(refused).toMatchObject({ error: { kind: "forbidden" } });
    expect(refused.ok ? "" : refused.error.message).toContain('User "ada" cannot list resource "configmaps"');
    await ada.close();
  });

  test("unknown fields are a warning, logged once", async () => {
    const lines: LogFields[] = [];
    const logged = await connect(sharedPlane().kubeconfigPath, { logger: createLogger((_level, _message, fields) => lines.push(fields)) });
    for (const name of ["odd1", "odd2"]) await logged.create(configMaps, { ...configMap(namespace, name), odd: 1 } as ConfigMap);
    expect(lines).toEqual([{ warning: 'unknown field "odd"' }]);
    await logged.close();
  });
});

test("a client works after a restart of the API server; a watch from an expired version is `gone`", async () => {
  await using plane = await realPlane();
  const own = await connect(plane.kubeconfigPath);
  expectOk(await own.create(configMaps, configMap("default", "kept", { a: "1" })));
  const watch = take(own.watch(configMaps, { namespace: "default" }, live), () => false);
  await plane.restartApiServer();
  // a server that stops may end its watches properly or drop them; none may hang
  for (const event of await watch) expect(event).toMatch(/^(ADDED|MODIFIED|BOOKMARK|network)/);
  expect(expectOk(await own.get(configMaps, { namespace: "default", name: "kept" })).data).toEqual({ a: "1" });
  expect(await take(own.watch(configMaps, { resourceVersion: "1" }, live), () => false)).toEqual(["gone"]);
  await own.close();
  expect(await own.raw("/readyz")).toEqual(err({ kind: "cancelled", message: "the call was cancelled" }));
});
