import fc from "fast-check";
import { expect, it } from "vitest";
import { expectOk } from "#base";
import { ModelStore } from "../../../test/builders/store/model.ts";
import { configMap } from "../../../test/builders/store/objects.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { ListRequest, Store, StoreEvent } from "./port.ts";

const COLLECTIONS = ["/configmaps", "apps/deployments"];
const VALUES = ["red", "green", "blue"];

// "a-b" and "a.b" sort next to "a/": a namespace must not include others
const namespace = fc.constantFrom("a", "a-b", "a.b", "b", "__proto__");
const key = fc.oneof(
  fc.tuple(namespace, fc.constantFrom("x", "y", "z", "constructor")).map(([space, name]) => `${space}/${name}`),
  fc.constantFrom("a", "node-1"),
);
const collection = fc.constantFrom(...COLLECTIONS);
const value = fc.constantFrom(...VALUES);
const write = fc.record({
  do: fc.constant("write" as const),
  collection,
  key,
  value: fc.option(value, { nil: undefined }),
  stale: fc.nat(9),
});
const list = fc.record({
  do: fc.constant("list" as const),
  collection,
  back: fc.option(fc.integer({ min: -2, max: 30 }), { nil: undefined }),
  request: fc.record(
    {
      namespace,
      after: key,
      limit: fc.nat(4),
      where: fc.record({ path: fc.constantFrom(["metadata", "labels", "value"], ["data", "none"]), value }),
    },
    { requiredKeys: [] },
  ),
});
const watch = fc.record({ do: fc.constant("watch" as const), collection, back: fc.integer({ min: -2, max: 30 }) });
const compact = fc.record({ do: fc.constant("compact" as const), back: fc.integer({ min: -2, max: 10 }) });
const action = fc.oneof(
  { weight: 8, arbitrary: write },
  { weight: 3, arbitrary: list },
  { weight: 2, arbitrary: watch },
  { weight: 1, arbitrary: compact },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const withoutMemory = ({ replacedBytes: _bytes, ...event }: StoreEvent) => event;
type Watch = { readonly collection: string; readonly from: number; readonly events: StoreEvent[] };

class Pair {
  readonly store: Store = createMemoryStore();
  readonly model = new ModelStore();
  readonly watches: Watch[] = [];

  perform(action: Action): void {
    if (action.do === "write") this.#write(action);
    if (action.do === "list") this.#list(action.collection, { ...action.request, revision: this.#backBy(action.back) });
    if (action.do === "watch") this.#watch(action.collection, this.store.revision - action.back);
    if (action.do === "compact") this.#compact(this.store.revision - action.back);
    expect(this.store.revision).toBe(this.model.revision);
  }

  #backBy(back: number | undefined): number | undefined {
    return back === undefined ? undefined : this.store.revision - back;
  }

  #write({ collection, key, value, stale }: Extract<Action, { do: "write" }>): void {
    const current = this.model.get(collection, key);
    expect(this.store.get(collection, key)).toEqual(current);
    const object = value === undefined ? undefined : (revision: number) => configMap(key, value, revision);
    if (stale === 0) {
      const wrong = current === undefined ? 1 : undefined;
      expect(this.store.write({ collection, key, expected: wrong, object })).toEqual({ ok: false, error: { kind: "conflict", current } });
      return;
    }
    const written = expectOk(this.store.write({ collection, key, expected: current?.revision, object }));
    this.model.write(collection, key, object);
    expect(written).toEqual(value === undefined ? undefined : this.model.get(collection, key));
  }

  #list(collection: string, request: ListRequest): void {
    expect(this.store.list(collection, request)).toEqual(this.model.list(collection, request));
  }

  #watch(collection: string, from: number): void {
    const events: StoreEvent[] = [];
    const started = this.store.watch({ collection, from, onEvent: (event) => events.push(event) });
    const past = this.model.eventsAfter(collection, from);
    if (past.ok) this.watches.push({ collection, from, events });
    expect(started.ok ? { ok: true, value: events.map(withoutMemory) } : started).toEqual(past);
  }

  #compact(revision: number): void {
    this.store.compact(revision);
    this.model.compact(revision);
  }

  settle(): void {
    this.model.oldest = 1; // a running watch is not affected by compaction
    for (const { collection, from, events } of this.watches) {
      expect(events.map(withoutMemory)).toEqual(expectOk(this.model.eventsAfter(collection, from)));
    }
    for (const name of COLLECTIONS) expect(this.store.count(name)).toBe(expectOk(this.model.list(name, {})).items.length);
  }
}

it("get, list, past pages, watches and compaction agree with a naive model", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120, size: "max" }), (actions) => {
      const pair = new Pair();
      for (const one of actions) pair.perform(one);
      pair.settle();
    }),
    { numRuns: 300 },
  );
});

it("a list at any revision plus later events is the current list, also when watchers write", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, fc.option(value, { nil: undefined })), { minLength: 1, maxLength: 60 }),
      fc.nat(5),
      (writes, echoes) => {
        const store = createMemoryStore();
        const collection = "/configmaps";
        const set = (at: string, to: string | undefined) =>
          store.write({
            collection,
            key: at,
            expected: store.get(collection, at)?.revision,
            object: to === undefined ? undefined : (r) => configMap(at, to, r),
          });
        const seen: { from: number; start: Map<string, string>; last: number }[] = [];
        const follow = () => {
          const { items, revision } = expectOk(store.list(collection));
          const view = { from: revision, last: revision, start: new Map(items.map(({ key: at, object }) => [at, JSON.stringify(object)])) };
          seen.push(view);
          expectOk(
            store.watch({
              collection,
              from: revision,
              onEvent: (event) => {
                expect(event.revision).toBeGreaterThan(view.last);
                view.last = event.revision;
                if (event.type === "DELETED") view.start.delete(event.key);
                else view.start.set(event.key, JSON.stringify(event.object));
              },
            }),
          );
        };
        let left = echoes;
        const echo = () => {
          if (left <= 0) return;
          left -= 1;
          follow();
          set(`echo/${left % 2}`, VALUES[left % 3]);
        };
        follow();
        expectOk(store.watch({ collection, from: 1, onEvent: echo }));
        for (const [at, to] of writes) {
          set(at, to);
          follow();
        }
        const now = new Map(expectOk(store.list(collection)).items.map(({ key: at, object }) => [at, JSON.stringify(object)]));
        for (const view of seen) expect(view.start).toEqual(now);
      },
    ),
    { numRuns: 200 },
  );
});
