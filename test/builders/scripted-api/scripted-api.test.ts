/** The scripted API keeps the promises that the tests on top of it rely on. Spoken to in requests: a client is not needed. */
import { expect, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { defineResource, pathOf, type KubeObject } from "#kube";
import type { TransportRequest } from "#kube-client";
import { ScriptedApi } from "./index.ts";

type Thing = KubeObject & { readonly spec?: Record<string, unknown>; readonly status?: Record<string, unknown> };
const things = defineResource<Thing>({ group: "example.org", version: "v1", kind: "Thing", plural: "things", namespaced: true });
const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";

function thing(name: string, extra: Partial<Thing> = {}): Thing {
  return { apiVersion: "example.org/v1", kind: "Thing", ...extra, metadata: { name, namespace: "shop", ...extra.metadata } };
}

function setUp() {
  const clock = new FakeClock();
  const api = new ScriptedApi({ clock });
  const transport = api.transportFor("tester");
  const open = async (
    method: TransportRequest["method"],
    path: string,
    body?: unknown,
    type = "application/json",
    signal = AbortSignal.any([]),
  ) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return transport.send({ method, path, headers: { "content-type": type }, ...text }, signal);
  };
  const call = async (method: TransportRequest["method"], path: string, body?: unknown, type?: string) => {
    const answer = expectOk(await open(method, path, body, type));
    let read = "";
    for await (const chunk of answer.body) read += new TextDecoder().decode(expectOk(chunk));
    return { code: answer.code, headers: answer.headers, body: JSON.parse(read) };
  };
  return { clock, api, open, call };
}

const collection = pathOf(things, { namespace: "shop" });
const at = (name: string, subresource?: string) => pathOf(things, { namespace: "shop", name, subresource });
const applyAs = (manager: string, name: string, force = false) => `${at(name)}?fieldManager=${manager}&force=${force}`;

async function watchLines(
  setup: ReturnType<typeof setUp>,
  query: string,
  during: () => void,
): Promise<{ lines: string[]; broken: boolean }> {
  const stop = new AbortController();
  const answer = expectOk(await setup.open("GET", `${collection}?watch=1&${query}`, undefined, undefined, stop.signal));
  let text = "";
  let broken = false;
  const reading = (async () => {
    for await (const chunk of answer.body) {
      if (chunk.ok) text += new TextDecoder().decode(chunk.value);
      else broken = true;
    }
  })();
  during();
  await setup.clock.advance(100);
  stop.abort();
  await reading;
  return { lines: text.split("\n").filter((line) => line !== ""), broken };
}

const typeAndName = (line: string) => {
  const { type, object } = JSON.parse(line);
  return `${type} ${object.metadata?.name ?? object.code ?? ""}`.trim();
};

test("an object is created once, read back, and listed with the store's resourceVersion", async () => {
  const { call, api } = setUp();
  expect((await call("POST", collection, thing("a", { spec: { size: 1 }, status: { ready: true } }))).code).toBe(201);
  expect((await call("POST", collection, thing("a"))).body.reason).toBe("AlreadyExists");
  expect((await call("POST", collection, thing("b", { metadata: { name: "b", resourceVersion: "1" } }))).code).toBe(400);
  const read = await call("GET", at("a"));
  expect(read.body).toMatchObject({ spec: { size: 1 }, metadata: { generation: 1, uid: expect.stringContaining("-4000-") } });
  expect(read.body.status).toBeUndefined();
  expect((await call("GET", at("zzz"))).code).toBe(404);
  expect((await call("GET", pathOf(things))).body.metadata.resourceVersion).toBe(api.resourceVersion);
  expect(api.log.at(-1)).toMatchObject({ method: "GET", code: 200, actor: "tester" });
});

test("an update needs the current resourceVersion, and one without a change keeps it", async () => {
  const { call } = setUp();
  const { body: created } = await call("POST", collection, thing("a", { spec: { size: 1 } }));
  expect((await call("PUT", at("a"), created)).body.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  const { body: grown } = await call("PUT", at("a"), { ...created, spec: { size: 2 } });
  expect(grown.metadata).toMatchObject({ generation: 2 });
  expect((await call("PUT", at("a"), { ...created, spec: { size: 3 } })).code).toBe(409);
  expect((await call("PUT", at("a"), thing("a"))).code).toBe(422);
  expect((await call("PUT", at("zzz"), created)).code).toBe(404);
});

test("/status changes the status only, and the main endpoint everything else", async () => {
  const { call } = setUp();
  const { body: created } = await call("POST", collection, thing("a", { spec: { size: 1 } }));
  const { body: reported } = await call("PUT", at("a", "status"), { ...created, spec: { size: 9 }, status: { ready: true } });
  expect(reported).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
  const { body: merged } = await call("PATCH", at("a"), { spec: { colour: "red" }, status: { ready: false } }, MERGE);
  expect(merged).toMatchObject({ spec: { size: 1, colour: "red" }, status: { ready: true }, metadata: { generation: 2 } });
  const { body: cleared } = await call("PATCH", at("a"), { spec: { colour: null } }, MERGE);
  expect(cleared.spec).toEqual({ size: 1 });
  expect((await call("PATCH", at("a"), { metadata: { resourceVersion: "1" } }, MERGE)).code).toBe(409);
  expect((await call("PATCH", at("a"), [], "application/json-patch+json")).code).toBe(415);
});

test("apply creates, changes what its manager owns, takes back what it no longer says, and leaves the rest", async () => {
  const { call, api } = setUp();
  expect((await call("PATCH", applyAs("me", "a"), thing("a", { spec: { x: 1, y: 2 } }), APPLY)).code).toBe(201);
  await call("PATCH", at("a"), { spec: { foreign: true }, metadata: { finalizers: ["other"] } }, MERGE);
  const next = thing("a", { spec: { x: 3 }, metadata: { name: "a", finalizers: ["mine"] } });
  const { body: applied } = await call("PATCH", applyAs("me", "a"), next, APPLY);
  expect(applied).toMatchObject({ spec: { x: 3, foreign: true }, metadata: { finalizers: ["other", "mine"] } });
  expect(applied.spec.y).toBeUndefined();
  const before = api.resourceVersion;
  await call("PATCH", applyAs("me", "a"), next, APPLY);
  expect(api.resourceVersion).toBe(before);
  const { body: released } = await call("PATCH", applyAs("me", "a"), thing("a", { spec: { x: 3 } }), APPLY);
  expect(released.metadata.finalizers).toEqual(["other"]);
  expect((await call("PATCH", applyAs("me", "a"), thing("a", { metadata: { name: "a", resourceVersion: "1" } }), APPLY)).code).toBe(409);
});

test("apply does not take a field from another manager unless it is forced to", async () => {
  const { call } = setUp();
  await call("PATCH", applyAs("first", "a"), thing("a", { spec: { x: 1, both: 1 } }), APPLY);
  await call("PATCH", applyAs("second", "a"), thing("a", { spec: { both: 1 } }), APPLY);
  const refused = await call("PATCH", applyAs("second", "a"), thing("a", { spec: { x: 2 } }), APPLY);
  expect(refused.body).toMatchObject({ code: 409, message: expect.stringContaining("spec.x (apply:first/)") });
  const { body: forced } = await call("PATCH", applyAs("second", "a", true), thing("a", { spec: { x: 2 } }), APPLY);
  expect(forced.spec).toEqual({ x: 2, both: 1 });
});

test("applied status conditions of two managers stand side by side", async () => {
  const { call } = setUp();
  const status = (manager: string) => `${at("a", "status")}?fieldManager=${manager}`;
  expect((await call("PATCH", status("one"), thing("a", { status: {} }), APPLY)).code).toBe(404);
  await call("POST", collection, thing("a"));
  await call("PATCH", status("one"), thing("a", { status: { conditions: [{ type: "A" }] } }), APPLY);
  await call("PATCH", status("two"), thing("a", { status: { conditions: [{ type: "B" }] } }), APPLY);
  const { body } = await call("PATCH", status("one"), thing("a", { status: { conditions: [{ type: "A", status: "True" }] } }), APPLY);
  expect(body.status.conditions).toEqual([{ type: "A", status: "True" }, { type: "B" }]);
});

test("a dry run answers and changes nothing", async () => {
  const { call, api } = setUp();
  const { body } = await call("POST", collection, thing("a"));
  const before = api.resourceVersion;
  await call("POST", `${collection}?dryRun=All`, thing("b"));
  await call("PUT", `${at("a")}?dryRun=All`, { ...body, spec: { x: 1 } });
  await call("PATCH", `${applyAs("me", "a")}&dryRun=All`, thing("a", { spec: { x: 1 } }), APPLY);
  await call("DELETE", `${at("a")}?dryRun=All`);
  expect([api.resourceVersion, api.objects(things)]).toEqual([before, [body]]);
});

test("a deletion waits for finalizers and heeds preconditions", async () => {
  const { call, api } = setUp();
  const { body } = await call("POST", collection, thing("a", { metadata: { name: "a", finalizers: ["hold"] } }));
  expect((await call("DELETE", at("a"), { preconditions: { uid: "another" } })).code).toBe(409);
  expect((await call("DELETE", at("a"), { preconditions: { uid: body.metadata.uid } })).body.metadata.deletionTimestamp).toBeDefined();
  const marked = api.resourceVersion;
  await call("DELETE", at("a"));
  expect(api.resourceVersion).toBe(marked);
  await call("PATCH", at("a"), { metadata: { finalizers: [] } }, MERGE);
  expect(api.objects(things)).toEqual([]);
  expect((await call("DELETE", at("a"))).code).toBe(404);
  expect((await call("DELETE", collection)).code).toBe(405);
  expect((await call("GET", "/healthz")).code).toBe(404);
});

test("a list in pages is one snapshot, and a compaction takes its next page away", async () => {
  const { call, api } = setUp();
  for (const name of ["a", "b", "c"]) api.put(things, thing(name, { metadata: { name, namespace: "shop", labels: { name } } }));
  const { body: first } = await call("GET", `${collection}?limit=2`);
  api.remove(things, { namespace: "shop", name: "c" });
  const rest = await call("GET", `${collection}?limit=2&continue=${first.metadata.continue}`);
  expect(rest.body).toMatchObject({ items: [{ metadata: { name: "c" } }], metadata: { resourceVersion: first.metadata.resourceVersion } });
  expect((await call("GET", `${collection}?labelSelector=name=b`)).body.items).toHaveLength(1);
  expect((await call("GET", `${collection}?fieldSelector=metadata.name=a`)).body.items).toHaveLength(1);
  const { body: again } = await call("GET", `${collection}?limit=1`);
  api.compact();
  api.put(things, thing("d"));
  api.compact();
  expect((await call("GET", `${collection}?limit=1&continue=${again.metadata.continue}`)).code).toBe(410);
});

test("a watch replays what was missed, goes on, and shows objects that come into the selection and leave it", async () => {
  const setup = setUp();
  const { api, clock } = setup;
  const from = api.resourceVersion;
  const labelled = (labels: Record<string, string>) => thing("a", { metadata: { name: "a", namespace: "shop", labels } });
  api.put(things, labelled({ app: "x" }));
  const { lines } = await watchLines(setup, `resourceVersion=${from}&labelSelector=app=x`, () => {
    api.put(things, labelled({ app: "x", more: "y" }));
    api.put(things, labelled({ app: "other" }));
    api.put(things, labelled({ app: "x" }));
    api.remove(things, { namespace: "shop", name: "a" });
    api.bookmark(things);
  });
  expect(lines.map(typeAndName)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a", "BOOKMARK"]);
  expect([clock.pending, api.openWatches]).toEqual([0, 0]);
});

test("a watch from a compacted resourceVersion gets 410 as an event, and one past its time ends", async () => {
  const setup = setUp();
  setup.api.put(things, thing("a"));
  setup.api.compact();
  const { lines } = await watchLines(setup, "resourceVersion=1", () => {});
  expect(lines.map(typeAndName)).toEqual(["ERROR 410"]);
  const answer = expectOk(await setup.open("GET", `${collection}?watch=1&timeoutSeconds=5`));
  const ended = (async () => {
    for await (const _chunk of answer.body);
  })();
  await setup.clock.advance(5_000);
  await ended;
  expect(setup.clock.pending).toBe(0);
});

for (const { how, want } of [
  { how: "end", want: { lines: 1, broken: false } },
  { how: "break", want: { lines: 2, broken: true } },
  { how: "gone", want: { lines: 2, broken: false } },
  { how: "stall", want: { lines: 1, broken: false } },
] as const) {
  test(`an interruption "${how}" hides what comes after it`, async () => {
    const setup = setUp();
    const { lines, broken } = await watchLines(setup, "", () => {
      setup.api.put(things, thing("a"));
      setup.api.interruptWatches(how);
      setup.api.put(things, thing("b"));
    });
    expect({ lines: lines.length, broken }).toEqual(want);
  });
}

for (const { fault, want } of [
  { fault: "duplicate", want: ["ADDED a", "ADDED a", "ADDED b", "ADDED b", "MODIFIED a", "MODIFIED a"] },
  { fault: "reorder", want: ["ADDED b", "ADDED a", "MODIFIED a"] },
  { fault: "rewind", want: ["ADDED a", "ADDED b", "MODIFIED a", "MODIFIED a"] },
  { fault: "split", want: ["ADDED a", "ADDED b", "MODIFIED a"] },
] as const) {
  test(`a storm of "${fault}" on a watch does that and nothing else`, async () => {
    const setup = setUp();
    setup.api.faults.storm({ events: { [fault]: 1 } });
    const { lines } = await watchLines(setup, "", () => {
      setup.api.put(things, thing("a"));
      setup.api.put(things, thing("b"));
      setup.api.put(things, thing("a", { spec: { x: 1 } }));
    });
    expect(lines.map(typeAndName)).toEqual(want);
    expect(setup.clock.pending).toBe(0);
  });
}

test("scripted faults meet the requests they are meant for, and a lost answer has taken effect", async () => {
  const { api, open, call } = setUp();
  api.faults.script({ kind: "answer", code: 429, retryAfterSeconds: 7 }, ({ method }) => method === "GET");
  api.faults.script({ kind: "lost-answer" }, ({ method }) => method === "POST");
  api.faults.script({ kind: "unreachable" }, ({ method }) => method === "DELETE");
  expect((await open("POST", collection, thing("a"))).ok).toBe(false);
  expect(api.objects(things)).toHaveLength(1);
  expect((await open("DELETE", at("a"))).ok).toBe(false);
  expect(api.objects(things)).toHaveLength(1);
  expect(await call("GET", at("a"))).toMatchObject({ code: 429, headers: { "retry-after": "7" } });
  expect(api.log.map(({ code, fault }) => `${code} ${fault}`)).toEqual(["201 lost-answer", "0 unreachable", "429 answer"]);
  expect((await call("GET", at("a"))).code).toBe(200);
});

test("a delayed request ends when its caller gives up", async () => {
  const { api, open, clock } = setUp();
  api.faults.script({ kind: "delay", ms: 1_000 });
  const stop = new AbortController();
  const answer = open("GET", collection, undefined, undefined, stop.signal);
  await clock.advance(10);
  stop.abort();
  expect(await answer).toMatchObject({ ok: false, error: { kind: "cancelled" } });
  expect(clock.pending).toBe(0);
});

test("a storm of requests draws every kind of fault, and calm ends it", async () => {
  const { api, open } = setUp();
  const rates = { unreachable: 0.1, tooManyRequests: 0.1, serverError: 0.1, conflict: 0.1, lostAnswer: 0.1, goneOnContinue: 0.1 };
  api.faults.storm({ requests: rates });
  for (let round = 0; round < 200; round += 1) {
    await open("PATCH", applyAs("me", "a"), thing("a", { spec: { round } }), APPLY);
    await open("GET", `${collection}?limit=1&continue=page-1`);
  }
  const seen = new Set(api.log.map(({ fault, code }) => (fault === "answer" ? `answer ${code}` : fault)));
  expect([...seen].map(String).toSorted()).toEqual(
    ["answer 409", "answer 410", "answer 429", "answer 500", "answer 503", "lost-answer", "undefined", "unreachable"].toSorted(),
  );
  api.faults.calm();
  expect((await open("GET", collection)).ok).toBe(true);
});
