import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "#kube";
import { testServer, type TestResponse, type TestServer } from "./server.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

type Event = {
  type: string;
  object: {
    kind: string;
    metadata: { name?: string; resourceVersion: string; labels?: Record<string, string> };
    data?: Record<string, string>;
  };
};

/** Reads events; `take` waits for that many. */
function reader(answered: TestResponse) {
  const { body } = answered.response;
  if (body.kind !== "stream") throw new Error("not a stream");
  const iterator = body.chunks[Symbol.asyncIterator]();
  const waiting: Event[] = [];
  let done = false;
  const pull = async () => {
    const next = await iterator.next();
    if (next.done === true) done = true;
    else
      waiting.push(
        ...next.value
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Event),
      );
  };
  return {
    async take(count: number): Promise<Event[]> {
      while (waiting.length < count && !done) await pull();
      return waiting.splice(0, count);
    },
    async rest(): Promise<Event[]> {
      while (!done) await pull();
      return waiting.splice(0);
    },
  };
}

const create = ({ ask }: TestServer, name: string, labels: Json = {}, data: Json = {}) =>
  ask("POST", MAPS, { body: { metadata: { name, labels }, data } });
const shown = (events: readonly Event[]) => events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`.trim());

test("a watch begins at its resourceVersion with past events, and continues with new ones", async () => {
  const made = testServer();
  const { ask } = made;
  const first = (await create(made, "a")).body as Event["object"];
  await create(made, "b");
  const watching = reader(await ask("GET", `${MAPS}?watch=1&resourceVersion=${first.metadata.resourceVersion}`));
  expect(shown(await watching.take(1))).toEqual(["ADDED b"]);
  await ask("PATCH", `${MAPS}/a`, { body: { data: { x: "1" } }, type: "application/merge-patch+json" });
  await ask("DELETE", `${MAPS}/b`);
  const events = await watching.take(2);
  expect(shown(events)).toEqual(["MODIFIED a", "DELETED b"]);
  expect(Number(events[1]?.object.metadata.resourceVersion)).toBe(made.server.store.revision);
});

test("without a resourceVersion a watch begins with existing objects, and a bookmark marks their end", async () => {
  const made = testServer();
  await create(made, "a");
  const plain = reader(await made.ask("GET", `${MAPS}?watch=true`));
  expect(shown(await plain.take(1))).toEqual(["ADDED a"]);
  const marked = reader(await made.ask("GET", `${MAPS}?watch&allowWatchBookmarks=true&resourceVersion=0`));
  const [, bookmark] = await marked.take(2);
  expect(bookmark).toMatchObject({
    type: "BOOKMARK",
    object: { kind: "ConfigMap", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
  });
});

test("sendInitialEvents requests or suppresses the initial events", async () => {
  const made = testServer();
  await create(made, "a");
  const version = made.server.store.revision;
  const query = `watch=1&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1`;
  const sent = reader(await made.ask("GET", `${MAPS}?${query}&sendInitialEvents=true&resourceVersion=${version}`));
  expect(shown(await sent.take(2))).toEqual(["ADDED a", "BOOKMARK"]);
  const unsent = reader(await made.ask("GET", `${MAPS}?${query}&sendInitialEvents=false&resourceVersion=0`));
  await create(made, "b");
  expect(shown(await unsent.take(1))).toEqual(["ADDED b"]);
});

test("with a selector, updates become ADDED and DELETED; DELETED has the old object", async () => {
  const made = testServer();
  const { ask } = made;
  const watching = reader(await ask("GET", `${MAPS}?watch=1&labelSelector=on%3Dyes`));
  await create(made, "a", { on: "no" }, { v: "1" });
  const patch = (body: Json) => ask("PATCH", `${MAPS}/a`, { body, type: "application/merge-patch+json" });
  await patch({ metadata: { labels: { on: "yes" } } });
  await patch({ data: { v: "2" } });
  await patch({ metadata: { labels: { on: "no" } }, data: { v: "3" } });
  const left = made.server.store.revision;
  await ask("DELETE", `${MAPS}/a`);
  await create(made, "z", { on: "yes" });
  const events = await watching.take(4);
  expect(shown(events)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED z"]);
  expect(events[2]?.object).toMatchObject({ data: { v: "2" }, metadata: { labels: { on: "yes" }, resourceVersion: String(left) } });
});

test("a watch of one namespace, of one name by the deprecated path, and of all namespaces", async () => {
  const made = testServer();
  const elsewhere = reader(await made.ask("GET", "/api/v1/namespaces/kube-public/configmaps?watch=1"));
  const one = reader(await made.ask("GET", "/api/v1/watch/namespaces/default/configmaps/b"));
  const all = reader(await made.ask("GET", "/api/v1/watch/configmaps?fieldSelector=metadata.namespace!%3Dkube-system"));
  await create(made, "a");
  await create(made, "b");
  await made.ask("POST", "/api/v1/namespaces/kube-public/configmaps", { body: { metadata: { name: "c" } } });
  expect(shown(await elsewhere.take(1))).toEqual(["ADDED c"]);
  expect(shown(await one.take(1))).toEqual(["ADDED b"]);
  expect(shown(await all.take(3))).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
});

test("a compacted resourceVersion is a 200 response with a single ERROR event of code 410", async () => {
  const made = testServer();
  const watching = reader(await made.ask("GET", `${MAPS}?watch=1&resourceVersion=1`));
  expect(await watching.rest()).toMatchObject([{ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } }]);
});

test("a watch from a future resourceVersion waits for it", async () => {
  const made = testServer();
  const later = made.server.store.revision + 1;
  const watching = reader(await made.ask("GET", `${MAPS}?watch=1&resourceVersion=${later}`));
  await create(made, "a");
  await create(made, "b");
  expect(shown(await watching.take(1))).toEqual(["ADDED b"]);
});

test("a watch ends after its timeout, with a bookmark shortly before if the revision changed", async () => {
  const made = testServer();
  const version = made.server.store.revision;
  const marked = reader(await made.ask("GET", `${MAPS}?watch=1&resourceVersion=${version}&allowWatchBookmarks=1&timeoutSeconds=5`));
  const plain = reader(await made.ask("GET", `${MAPS}?watch=1&resourceVersion=${version}&timeoutSeconds=5`));
  await made.ask("POST", "/api/v1/namespaces", { body: { metadata: { name: "elsewhere" } } });
  await made.clock.advance(5_000);
  expect(await marked.rest()).toMatchObject([
    { type: "BOOKMARK", object: { metadata: { resourceVersion: String(made.server.store.revision) } } },
  ]);
  expect(await plain.rest()).toEqual([]);
  expect(made.clock.pending).toBe(0);
});

test("a long watch gets a bookmark every minute, and ends by itself", async () => {
  const made = testServer();
  const watching = reader(await made.ask("GET", `${MAPS}?watch=1&resourceVersion=${made.server.store.revision}&allowWatchBookmarks=1`));
  await made.ask("POST", "/api/v1/namespaces", { body: { metadata: { name: "x" } } });
  await made.clock.advance(121_000);
  await made.clock.advance(3_600_000);
  expect(shown(await watching.rest())).toEqual(["BOOKMARK"]);
  expect(made.clock.pending).toBe(0);
});

test("a watch ends with its client and with the server, and leaves no timer", async () => {
  const made = testServer();
  const caller = new AbortController();
  const first = reader(await made.ask("GET", `${MAPS}?watch=1`, { signal: caller.signal }));
  const second = reader(await made.ask("GET", `${MAPS}?watch=1`));
  caller.abort();
  expect(await first.rest()).toEqual([]);
  made.server.close();
  expect(await second.rest()).toEqual([]);
  expect(made.clock.pending).toBe(0);
  expect(await reader(await made.ask("GET", `${MAPS}?watch=1`)).rest()).toEqual([]);
});

test("tables and metadata can be watched; columns are sent once", async () => {
  const made = testServer();
  const accept = (kind: string) => ({ headers: { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` } });
  const url = `${MAPS}?watch=1&allowWatchBookmarks=1`;
  await create(made, "a");
  const table = reader(await made.ask("GET", url, accept("Table")));
  await create(made, "b");
  const [first, bookmark, second] = await table.take(3);
  expect(first?.object).toMatchObject({ kind: "Table", columnDefinitions: [{ name: "Name" }], rows: [{ cells: ["a"] }] });
  expect(bookmark?.object).toMatchObject({ kind: "Table", columnDefinitions: null });
  expect(second?.object).toMatchObject({ columnDefinitions: null, rows: [{ cells: ["b"] }] });
  const partial = reader(await made.ask("GET", url, accept("PartialObjectMetadata")));
  expect((await partial.take(3)).map(({ object }) => object.kind)).toEqual([
    "PartialObjectMetadata",
    "PartialObjectMetadata",
    "PartialObjectMetadata",
  ]);
});

test("YAML cannot be watched", async () => {
  const { ask } = testServer();
  expect(await ask("GET", `${MAPS}?watch=1`, { headers: { accept: "application/yaml" } })).toMatchObject({ status: 406 });
});

type Write = { readonly name: string; readonly kind: "create" | "label" | "delete"; readonly label: string };
const writes = fc.array(
  fc.record({ name: fc.constantFrom("a", "b", "c"), kind: fc.constantFrom("create", "label", "delete"), label: fc.constantFrom("x", "y") }),
  { maxLength: 25 },
) as fc.Arbitrary<readonly Write[]>;

async function perform({ ask }: TestServer, { name, kind, label }: Write): Promise<void> {
  if (kind === "create") await ask("POST", MAPS, { body: { metadata: { name, labels: { l: label } } } });
  else if (kind === "delete") await ask("DELETE", `${MAPS}/${name}`);
  else await ask("PATCH", `${MAPS}/${name}`, { body: { metadata: { labels: { l: label } } }, type: "application/merge-patch+json" });
}

function replay(state: Map<string, string>, events: readonly Event[]): void {
  for (const { type, object } of events) {
    if (type === "DELETED") state.delete(object.metadata.name ?? "");
    else if (type !== "BOOKMARK") state.set(object.metadata.name ?? "", object.metadata.resourceVersion);
  }
}

test("watch = list + events: from any list, the events since make every later list, with and without a selector", async () => {
  await fc.assert(
    fc.asyncProperty(writes, fc.nat(24), fc.constantFrom("", "&labelSelector=l%3Dx"), async (plan, start, selector) => {
      const made = testServer();
      const { ask } = made;
      const list = async () =>
        (await ask("GET", `${MAPS}?${selector}`)).body as { metadata: { resourceVersion: string }; items: Event["object"][] };
      for (const write of plan.slice(0, start)) await perform(made, write);
      const before = await list();
      const state = new Map(before.items.map(({ metadata }) => [metadata.name ?? "", metadata.resourceVersion]));
      // two writers at once, and a watcher that starts in the middle of them
      const later = plan.slice(start);
      await Promise.all(later.map((write) => perform(made, write)));
      const answered = await ask("GET", `${MAPS}?watch=1&resourceVersion=${before.metadata.resourceVersion}${selector}&timeoutSeconds=1`);
      const events = reader(answered);
      await made.clock.advance(1_000);
      const seen = await events.rest();
      const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      replay(state, seen);
      const after = await list();
      expect(new Map([...state].toSorted(([a], [b]) => (a < b ? -1 : 1)))).toEqual(
        new Map(after.items.map(({ metadata }) => [metadata.name ?? "", metadata.resourceVersion])),
      );
    }),
    { numRuns: 60 },
  );
});
