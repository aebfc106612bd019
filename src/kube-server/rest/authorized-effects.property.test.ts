/**
 * For every method, path and query: a request reads and changes only what was authorized.
 *
 * The effects are read from the store and from the response, not from the router, so that the property does not depend on a second parser.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { field, isJsonObject, type Json, type KubeObject } from "#kube";
import { builtinKinds } from "../kinds.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { testServer, type TestServer } from "./server.test-support.ts";
import type { Access } from "../protocol/auth-port.ts";

type Effect = { readonly verbs: readonly string[]; readonly group: string; readonly plural: string; readonly object: KubeObject };

const GROUP = "g.test";
/** Plurals that look like parts of a path. */
const DEFINITIONS = [
  { plural: "widgets", scope: "Namespaced" },
  { plural: "status", scope: "Namespaced" },
  { plural: "watch", scope: "Namespaced" },
  { plural: "proxy", scope: "Cluster" },
  { plural: "namespaces", scope: "Cluster" },
] as const;

const accesses: Access[] = [];
let server: TestServer;
let store: ReturnType<typeof createMemoryStore>;

const definition = ({ plural, scope }: (typeof DEFINITIONS)[number]) => ({
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope,
    names: { plural, kind: `Test${plural}`, singular: `test${plural}` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { replicas: { type: "integer" } } },
              status: { type: "object", properties: { replicas: { type: "integer" } } },
            },
          },
        },
        subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
      },
    ],
  },
});

async function restore(): Promise<void> {
  const namespaces = ["a", "b"];
  // no controller finishes the deletion of a namespace here
  for (const name of namespaces)
    await server.ask("PUT", `/api/v1/namespaces/${name}/finalize`, { body: { metadata: { name }, spec: { finalizers: [] } } });
  for (const name of namespaces) await server.ask("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
  for (const name of ["a", "x"]) {
    await server.ask("POST", "/api/v1/nodes", { body: { metadata: { name } } });
    for (const namespace of namespaces) {
      for (const plural of ["configmaps", "secrets"])
        await server.ask("POST", `/api/v1/namespaces/${namespace}/${plural}`, { body: { metadata: { name } } });
    }
    for (const { plural, scope } of DEFINITIONS) {
      const body = { apiVersion: `${GROUP}/v1`, kind: `Test${plural}`, metadata: { name }, spec: { replicas: 1 } };
      for (const place of scope === "Cluster" ? [plural] : namespaces.map((namespace) => `namespaces/${namespace}/${plural}`))
        await server.ask("POST", `/apis/${GROUP}/v1/${place}`, { body });
    }
  }
}

beforeAll(async () => {
  store = createMemoryStore();
  const authorize = (_: unknown, access: Access) => {
    accesses.push(access);
    return { allowed: true, reason: "" };
  };
  server = testServer(builtinKinds(store), { store, authorize });
  for (const given of DEFINITIONS) {
    const made = await server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: definition(given) });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
  await restore();
});

function snapshot(): ReadonlyMap<string, KubeObject> {
  const objects = new Map<string, KubeObject>();
  for (const collection of store.collections())
    for (const { key, object } of expectOk(store.list(collection)).items) objects.set(`${collection} ${key}`, object);
  return objects;
}

function changes(before: ReadonlyMap<string, KubeObject>): readonly Effect[] {
  const after = snapshot();
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    const object = now ?? old;
    if (old === now || object === undefined) return [];
    const [collection = ""] = key.split(" ");
    const slash = collection.indexOf("/");
    const [group, plural] = [collection.slice(0, slash), collection.slice(slash + 1)];
    // an object that is being deleted is changed first
    const verbs = old === undefined ? ["create"] : ["delete", "deletecollection", ...(now === undefined ? [] : ["update", "patch"])];
    return [{ verbs, group, plural, object }];
  });
}

const PLURALS: ReadonlyMap<string, readonly [string, string]> = new Map<string, readonly [string, string]>([
  ["ConfigMap", ["", "configmaps"]],
  ["Secret", ["", "secrets"]],
  ["Node", ["", "nodes"]],
  ["Namespace", ["", "namespaces"]],
  ...DEFINITIONS.map(({ plural }) => [`Test${plural}`, [GROUP, plural]] as const),
]);

function kindOf(value: Json): string {
  const kind = field(value, "kind");
  return typeof kind === "string" ? kind : "";
}

/** Objects in the response to a GET. */
function reads(body: Json): readonly Effect[] {
  if (!isJsonObject(body)) return [];
  const listKind = kindOf(body);
  const items = field(body, "items");
  const objects = Array.isArray(items) ? items.map((item) => ({ kind: listKind.replace(/List$/, ""), ...(item as object) })) : [body];
  return objects.flatMap((object) => {
    const [group, plural] = PLURALS.get(kindOf(object)) ?? [];
    return group === undefined || plural === undefined
      ? []
      : [{ verbs: ["get", "list", "watch"], group, plural, object: object as unknown as KubeObject }];
  });
}

const WITHOUT_NAME = new Set(["create", "deletecollection", "list", "watch"]);

function covers(access: Access, { verbs, group, plural, object }: Effect): boolean {
  if (access.kind === "path" || !verbs.includes(access.verb)) return false;
  const { name, namespace } = object.metadata;
  if (access.group !== group || access.resource !== plural) return false;
  if (access.namespace !== undefined && access.namespace !== (namespace ?? (plural === "namespaces" && group === "" ? name : undefined)))
    return false;
  return access.name === name || (access.name === "" && WITHOUT_NAME.has(access.verb));
}

const SEGMENTS = [
  ..."namespaces a b x configmaps secrets nodes widgets status finalize scale watch proxy pods log eviction binding".split(" "),
  ..."%61 % %2F . a%2Fconfigmaps namespaces%2Fa watch%2Fsecrets".split(" "),
  "",
];
const segment = fc.constantFrom(...SEGMENTS);
const collection = fc.constantFrom("configmaps", "secrets", "nodes", "widgets", "status", "watch", "proxy", "namespaces");
const place = fc.oneof(
  { weight: 3, arbitrary: collection },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom("a", "b", ""), collection).map(([namespace, plural]) => `namespaces/${namespace}/${plural}`),
  },
);
const usual = fc
  .record({
    prefix: fc.constantFrom("", "", "watch/", "proxy/", "watch/watch/"),
    place,
    end: fc.constantFrom("", "/a", "/x", "/new", "/a/status", "/x/scale", "//scale", "/"),
  })
  .map(({ prefix, place: where, end }) => `${prefix}${where}${end}`);
const heads = ["/api/v1/", "/api/v1/", `/apis/${GROUP}/v1/`, `/apis/${GROUP}/v1/`, "//api/v1/", "/apis//v1/", "/%61pi/v1/", "/api/v1//"];
const odd = fc
  .tuple(
    fc.constantFrom(...heads),
    fc.oneof(
      { weight: 3, arbitrary: usual },
      { weight: 2, arbitrary: fc.array(segment, { maxLength: 7 }).map((parts) => parts.join("/")) },
    ),
  )
  .map(([head, rest]) => head + rest);
const COLLECTIONS = [
  ...["a", "b"].flatMap((namespace) => ["configmaps", "secrets"].map((plural) => `/api/v1/namespaces/${namespace}/${plural}`)),
  ...["a", "b"].flatMap((namespace) => ["widgets", "watch"].map((plural) => `/apis/${GROUP}/v1/namespaces/${namespace}/${plural}`)),
  "/api/v1/nodes",
  "/api/v1/namespaces",
  `/apis/${GROUP}/v1/namespaces`,
];
/** Paths of existing objects, some with an escaped slash or a prefix. */
const sound = fc
  .record({
    collection: fc.constantFrom(...COLLECTIONS),
    end: fc.constantFrom("", "/", "/a", "/x", "/new", "/a/status", "/x/scale"),
    change: fc.constantFrom(
      (text: string) => text,
      (text: string) => text,
      (text: string) => text.replace(/\/(?=[^/]*$)/, "%2F"),
      (text: string) => text.replace("/v1/", "/v1/watch/"),
    ),
  })
  .map(({ collection: plural, end, change }) => change(plural + end));
const path = fc.oneof({ weight: 3, arbitrary: sound }, { weight: 2, arbitrary: odd });
const QUERIES = [
  "?watch=0",
  "?watch=false&watch=1",
  "?fieldSelector=metadata.name%3Dx",
  "?fieldSelector=metadata.name%3Da&fieldSelector=",
  "?fieldSelector=metadata.name%3Dx,metadata.name%3Da",
  "?fieldSelector=metadata.name!%3Dx",
  "?fieldSelector=metadata.name%3D%3Dx%5C",
  "?labelSelector=a",
  "?dryRun=All",
  "?fieldManager=m&force=true",
];
const query = fc.oneof(fc.constant(""), fc.constantFrom(...QUERIES));
const sentObject = fc.record({
  name: fc.constantFrom("a", "x", "new", "other"),
  namespace: fc.constantFrom(undefined, undefined, "a", "b"),
});
/** An object of the kind that the path seems to name: others are rejected before anything happens. */
function bodyFor(where: string, { name, namespace }: { readonly name: string; readonly namespace: string | undefined }): Json {
  const custom = where.includes(GROUP);
  const plurals = [...PLURALS].filter(([, [group, plural]]) => (group === GROUP) === custom && where.split("/").includes(plural));
  const kind = plurals.findLast(([, [, plural]]) => plural !== "namespaces")?.[0] ?? plurals[0]?.[0] ?? "ConfigMap";
  const metadata = { name, labels: { changed: "yes" }, ...(namespace === undefined ? {} : { namespace }) };
  return { apiVersion: custom ? `${GROUP}/v1` : "v1", kind, metadata };
}
const patchType = fc.constantFrom("application/merge-patch+json", "application/apply-patch+yaml");
const method = fc.constantFrom("GET", "HEAD", "POST", "POST", "PUT", "PATCH", "PATCH", "DELETE", "OPTIONS", "post");

describe("authorization and execution", () => {
  test("for every method, path and query, a request reads and changes only what was authorized", { timeout: 120_000 }, async () => {
    let [changed, read] = [0, 0];
    await fc.assert(
      fc.asyncProperty(method, path, query, sentObject, patchType, async (asked, where, more, sent, patch) => {
        const before = snapshot();
        accesses.length = 0;
        const bodiless = asked === "GET" || asked === "HEAD" || asked === "DELETE";
        const done = new AbortController();
        const answer = await server.ask(asked, where + more, {
          signal: done.signal,
          type: asked === "PATCH" ? patch : "application/json",
          body: bodiless ? undefined : bodyFor(where, sent),
        });
        done.abort();
        const granted = [...accesses];
        const effects = [...changes(before), ...(asked === "GET" && answer.status === 200 ? reads(answer.body) : [])];
        for (const effect of effects) {
          const { plural, object } = effect;
          const what = `${asked} ${where}${more} touched ${plural} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
          expect(
            granted.some((access) => covers(access, effect)),
            `${what}; authorized: ${JSON.stringify(granted)}`,
          ).toBe(true);
        }
        if (changes(before).length > 0) {
          changed += 1;
          await restore();
        }
        read += asked === "GET" && effects.length > 0 ? 1 : 0;
      }),
      { numRuns: 4_000, seed: 11 },
    );
    // the requests do reach objects: otherwise the property would hold for a server that rejects everything
    expect(changed).toBeGreaterThan(80);
    expect(read).toBeGreaterThan(80);
  });
});
