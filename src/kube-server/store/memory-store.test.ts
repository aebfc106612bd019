import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { configMap, contentOf, MAPS, put, remove, valueOf } from "../../../test/builders/store/objects.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { Store, StoreEvent } from "./port.ts";

const follow = (store: Store, from = store.revision, collection = MAPS) => {
  const seen: string[] = [];
  const onEvent = ({ type, key, revision, object }: StoreEvent) => seen.push(`${revision} ${type} ${key}=${valueOf(object)}`);
  const { end } = expectOk(store.watch({ collection, from, onEvent }));
  return { seen, end };
};
const keys = (store: Store, request = {}) => expectOk(store.list(MAPS, request)).items.map(({ key }) => key);

describe("a write", () => {
  it("takes the next revision of one sequence over all collections", () => {
    const store = createMemoryStore();
    expect([store.revision, put(store, "a/x", "1").revision, put(store, "n", "1", "/nodes").revision]).toEqual([1, 2, 3]);
    expect(store.collections()).toEqual([MAPS, "/nodes"]);
  });

  it("passes its revision to the object, and returns the same object", () => {
    const store = createMemoryStore();
    const stored = put(store, "a/x", "1");
    expect(stored.object.metadata.resourceVersion).toBe("2");
    expect(store.get(MAPS, "a/x")).toBe(stored);
  });

  const rows: { name: string; expected: number | undefined; key: string; current: number | undefined }[] = [
    { name: "creating an existing object", key: "a/x", expected: undefined, current: 2 },
    { name: "an update of an older state", key: "a/x", expected: 1, current: 2 },
    { name: "an update of a missing object", key: "a/y", expected: 2, current: undefined },
  ];
  it.each(rows)("$name is a conflict with the current state, and uses no revision", ({ key, expected, current }) => {
    const store = createMemoryStore();
    put(store, "a/x", "1");
    const written = store.write({ collection: MAPS, key, expected, object: () => configMap(key, "2") });
    expect(written).toEqual({ ok: false, error: { kind: "conflict", current: current === undefined ? undefined : store.get(MAPS, key) } });
    expect(store.revision).toBe(2);
  });

  it("that deletes a missing object, as expected, has no effect", () => {
    const store = createMemoryStore();
    const { seen } = follow(store);
    expect(store.write({ collection: MAPS, key: "a/x", expected: undefined, object: undefined })).toEqual({ ok: true, value: undefined });
    expect([store.revision, seen]).toEqual([1, []]);
  });

  it("inside the object function of another write throws", () => {
    const store = createMemoryStore();
    const object = () => put(store, "a/y", "1").object;
    expect(() => store.write({ collection: MAPS, key: "a/x", expected: undefined, object })).toThrow(/inside the object of another write/);
  });
});

describe("a list", () => {
  it("of a past revision does not change, page by page, while objects are created, changed and deleted", () => {
    const store = createMemoryStore();
    for (const name of ["b", "d", "f", "h"]) put(store, `a/${name}`, "old");
    const first = expectOk(store.list(MAPS, { limit: 2 }));
    expect(first).toMatchObject({ revision: 5, remaining: 2, items: [{ key: "a/b" }, { key: "a/d" }] });
    remove(store, "a/f");
    put(store, "a/g", "new");
    put(store, "a/h", "new");
    const second = expectOk(store.list(MAPS, { limit: 2, revision: first.revision, after: "a/d" }));
    expect(second).toMatchObject({
      revision: 5,
      remaining: 0,
      items: [
        { key: "a/f", revision: 4 },
        { key: "a/h", revision: 5 },
      ],
    });
    expect(second.items.map(({ object }) => valueOf(object))).toEqual(["old", "old"]);
  });

  it("of a namespace does not include namespaces with the same prefix", () => {
    const store = createMemoryStore();
    for (const key of ["team/x", "team-a/x", "team.b/x", "team0/x", "tea/x", "team"]) put(store, key, "1");
    expect(keys(store, { namespace: "team" })).toEqual(["team/x"]);
  });

  it("by a field uses the value at the requested revision", () => {
    const store = createMemoryStore();
    const where = { path: ["metadata", "labels", "value"], value: "red" };
    for (const [key, value] of [
      ["a/1", "red"],
      ["a/2", "blue"],
      ["b/3", "red"],
    ] as const)
      put(store, key, value);
    expect(keys(store, { where })).toEqual(["a/1", "b/3"]);
    put(store, "a/2", "red");
    put(store, "a/1", "blue");
    remove(store, "b/3");
    expect([keys(store, { where }), keys(store, { where, revision: 4 }), keys(store, { where, revision: 4, namespace: "b" })]).toEqual([
      ["a/2"],
      ["a/1", "b/3"],
      ["b/3"],
    ]);
  });

  it("by more fields than can be indexed is still correct", () => {
    const store = createMemoryStore();
    put(store, "a/1", "red");
    const found = Array.from({ length: 20 }, (_, at) => keys(store, { where: { path: ["data", `field-${at}`], value: "red" } }));
    expect(found.flat()).toEqual([]);
    expect(keys(store, { where: { path: ["data", "value"], value: "red" } })).toEqual(["a/1"]);
  });
});

describe("history", () => {
  it("serves its oldest revision, and rejects earlier ones with that number", () => {
    const store = createMemoryStore();
    for (const value of ["1", "2", "3"]) put(store, "a/x", value);
    store.compact(3);
    expect(expectOk(store.list(MAPS, { revision: 3 })).items.map(({ object }) => valueOf(object))).toEqual(["2"]);
    expect(follow(store, 3).seen).toEqual(["4 MODIFIED a/x=3"]);
    const refused = { ok: false, error: { kind: "compacted", oldest: 3 } };
    expect([store.list(MAPS, { revision: 2 }), store.watch({ collection: MAPS, from: 2, onEvent: () => {} })]).toEqual([refused, refused]);
  });

  it("rejects future revisions", () => {
    const store = createMemoryStore();
    const refused = { ok: false, error: { kind: "future", current: 1 } };
    expect([store.list(MAPS, { revision: 2 }), store.watch({ collection: MAPS, from: 2, onEvent: () => {} })]).toEqual([refused, refused]);
  });

  it("is compacted up to now at most, and never less than before", () => {
    const store = createMemoryStore();
    put(store, "a/x", "1");
    store.compact(99);
    store.compact(1);
    expect(store.list(MAPS, { revision: 1 })).toEqual({ ok: false, error: { kind: "compacted", oldest: 2 } });
    expect(keys(store, { revision: 2 })).toEqual(["a/x"]);
  });

  it("keeps events up to its limit", () => {
    const store = createMemoryStore({ historyLimit: { events: 3 } });
    for (let at = 0; at < 10; at += 1) put(store, "a/x", String(at));
    expect(follow(store, 8).seen).toHaveLength(3);
    expect(store.list(MAPS, { revision: 7 })).toEqual({ ok: false, error: { kind: "compacted", oldest: 8 } });
  });

  it("keeps bytes of replaced objects up to its limit; current objects do not count", () => {
    const store = createMemoryStore({ historyLimit: { bytes: 10_000 } });
    for (let at = 0; at < 100; at += 1) put(store, `a/${at}`, "x".repeat(1_000));
    expect(keys(store, { revision: 1 })).toEqual([]);
    for (let at = 0; at < 100; at += 1) put(store, `a/${at}`, "y");
    expect(store.list(MAPS, { revision: 150 })).toMatchObject({ ok: false, error: { kind: "compacted" } });
    expect(follow(store, 198).seen).toHaveLength(3);
  });

  it("drops thousands of events of a busy collection without losing those of another", () => {
    const store = createMemoryStore({ historyLimit: { events: 5_000 } });
    for (let at = 0; at < 20_000; at += 1) {
      put(store, "a/x", String(at));
      if (at === 17_000) put(store, "quiet", "1", "/nodes");
    }
    expect(follow(store, store.revision - 5_000, "/nodes").seen).toEqual(["17003 ADDED quiet=1"]);
    expect(follow(store, store.revision - 5_000).seen).toHaveLength(4_999);
  });
});

describe("a watch", () => {
  it("sends past events first, then new ones, with previous objects", () => {
    const store = createMemoryStore();
    put(store, "a/x", "1");
    const events: StoreEvent[] = [];
    expectOk(store.watch({ collection: MAPS, from: 1, onEvent: (event) => events.push(event) }));
    put(store, "a/x", "2");
    remove(store, "a/x");
    put(store, "n", "1", "/nodes");
    expect(events.map(({ type, object, previous }) => [type, valueOf(object), previous && valueOf(previous)])).toEqual([
      ["ADDED", "1", undefined],
      ["MODIFIED", "2", "1"],
      ["DELETED", "2", "2"],
    ]);
  });

  it("receives nothing after its end, also when it ends itself in a callback", () => {
    const store = createMemoryStore();
    const { seen, end } = follow(store);
    const inside: number[] = [];
    const started = expectOk(
      store.watch({
        collection: MAPS,
        from: 1,
        onEvent: ({ revision }) => {
          inside.push(revision);
          started.end();
          end();
        },
      }),
    );
    const late = follow(store);
    put(store, "a/x", "1");
    put(store, "a/x", "2");
    end();
    expect([seen, inside, late.seen]).toEqual([["2 ADDED a/x=1"], [2], ["2 ADDED a/x=1", "3 MODIFIED a/x=2"]]);
  });

  it("receives events in the order of revisions, also when an earlier watcher writes", () => {
    const store = createMemoryStore();
    const echo = ({ key, revision }: StoreEvent) => key === "a/x" && put(store, "a/echo", String(revision));
    expectOk(store.watch({ collection: MAPS, from: 1, onEvent: echo }));
    const after = follow(store);
    put(store, "a/x", "1");
    expect(after.seen).toEqual(["2 ADDED a/x=1", "3 ADDED a/echo=2"]);
  });

  it("that begins while an event is delivered gets each event once", () => {
    const store = createMemoryStore();
    const late: string[][] = [];
    expectOk(store.watch({ collection: MAPS, from: 1, onEvent: () => late.push(follow(store, 1).seen) }));
    put(store, "a/x", "1");
    put(store, "a/y", "1");
    expect(late).toEqual([
      ["2 ADDED a/x=1", "3 ADDED a/y=1"],
      ["2 ADDED a/x=1", "3 ADDED a/y=1"],
    ]);
  });

  it("that writes while it replays history gets that event afterwards", () => {
    const store = createMemoryStore();
    put(store, "a/x", "1");
    put(store, "a/y", "1");
    const seen: string[] = [];
    const onEvent = ({ key, revision }: StoreEvent) => {
      seen.push(`${revision} ${key}`);
      if (key === "a/x") put(store, "a/echo", "1");
    };
    expectOk(store.watch({ collection: MAPS, from: 1, onEvent }));
    expect(seen).toEqual(["2 a/x", "3 a/y", "4 a/echo"]);
  });

  it("that throws does not stop the others permanently", () => {
    const store = createMemoryStore();
    const onEvent = () => {
      throw new Error("a bug");
    };
    const { end } = expectOk(store.watch({ collection: MAPS, from: 1, onEvent }));
    const other = follow(store);
    expect(() => put(store, "a/x", "1")).toThrow("a bug");
    end();
    put(store, "a/x", "2");
    expect(other.seen).toEqual(["2 ADDED a/x=1", "3 MODIFIED a/x=2"]);
  });
});

it("a closed store rejects writes, ends its watches, and can still be read", () => {
  const store = createMemoryStore();
  put(store, "a/x", "1");
  const { seen, end } = follow(store);
  store.close();
  store.close();
  end();
  expect(store.write({ collection: MAPS, key: "a/y", expected: undefined, object: () => configMap("a/y", "1") })).toEqual({
    ok: false,
    error: { kind: "storage", message: "the store is closed" },
  });
  expectOk(store.watch({ collection: MAPS, from: 1, onEvent: () => seen.push("event") })).end();
  expect([seen, contentOf(store)]).toEqual([[], [`${MAPS} a/x=1@2`]]);
});
