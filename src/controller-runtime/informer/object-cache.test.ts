import fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "#kube";
import { ObjectCache } from "./object-cache.ts";

type Pod = KubeObject & { readonly node?: string };

function pod(name: string, version: number, extra: { node?: string; uid?: string } = {}): Pod {
  const { uid = `uid-${name}`, ...rest } = extra;
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop", resourceVersion: String(version), uid }, ...rest };
}

const nodeOf = (object: Pod) => (object.node === undefined ? [] : [object.node]);
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).toSorted();

function filled(...pods: readonly Pod[]): ObjectCache<Pod> {
  const cache = new ObjectCache<Pod>();
  cache.replace(pods, "10");
  return cache;
}

test("a list reports added, changed and deleted objects, and no others", () => {
  const cache = filled(pod("same", 1), pod("changed", 2), pod("gone", 3));
  const changes = cache.replace([pod("same", 1), pod("changed", 11), pod("new", 12)], "20");
  expect(changes.map(({ key, before, after }) => [key.name, before?.metadata.resourceVersion, after?.metadata.resourceVersion])).toEqual([
    ["changed", "2", "11"],
    ["new", undefined, "12"],
    ["gone", "3", undefined],
  ]);
  expect(cache.size).toBe(3);
});

test("a list wins even if its versions are older: an etcd may have been restored", () => {
  const cache = filled(pod("a", 9));
  expect(cache.replace([pod("a", 4)], "5")).toHaveLength(1);
  expect(cache.put(pod("a", 6))).toBeDefined();
});

for (const { name, given, want } of [
  { name: "a newer version is a change", given: pod("a", 11), want: true },
  { name: "the same version is none", given: pod("a", 5), want: false },
  { name: "an older version is none", given: pod("a", 4), want: false },
  { name: "an older version of an earlier object by that name is none", given: pod("a", 3, { uid: "earlier" }), want: false },
  { name: "an object created again is a change", given: pod("a", 12, { uid: "later" }), want: true },
  { name: "an unknown object older than the list is ignored", given: pod("ghost", 8), want: false },
  { name: "an unknown object newer than the list is added", given: pod("b", 11), want: true },
]) {
  test(name, () => expect(filled(pod("a", 5)).put(given) !== undefined).toBe(want));
}

test("a deleted object stays deleted when its old events are repeated, and exists again when it is created again", () => {
  const cache = filled(pod("a", 5));
  expect(cache.remove(pod("a", 12))?.after).toBeUndefined();
  expect(cache.put(pod("a", 11))).toBeUndefined();
  expect(cache.remove(pod("a", 12))).toBeUndefined();
  expect(cache.put(pod("a", 13, { uid: "second" }))?.before).toBeUndefined();
});

test("a deletion older than the object belongs to an earlier object", () => {
  expect(filled(pod("a", 5)).remove(pod("a", 4, { uid: "earlier" }))).toBeUndefined();
});

test("a bookmark replaces the tombstones", () => {
  const cache = filled(pod("a", 5));
  cache.remove(pod("a", 12));
  cache.settle("20");
  expect(cache.put(pod("a", 11))).toBeUndefined();
  expect(cache.put(pod("a", 21))).toBeDefined();
});

test("tombstones have a limit", () => {
  const cache = new ObjectCache<Pod>();
  cache.replace([], "1");
  for (let at = 0; at < 20_001; at += 1) {
    cache.put(pod(`p${at}`, 2 + 2 * at));
    cache.remove(pod(`p${at}`, 3 + 2 * at));
  }
  expect(cache.put(pod("p10001", 20_004))).toBeUndefined();
  expect(cache.put(pod("p0", 2))).toBeDefined();
});

test("opaque versions are accepted in order of arrival", () => {
  const cache = new ObjectCache<Pod>();
  const opaque = (resourceVersion: string): Pod => ({ ...pod("a", 1), metadata: { name: "a", resourceVersion } });
  cache.replace([opaque("x")], "r");
  expect([cache.put(opaque("x")), cache.put(opaque("b"))?.after, cache.remove(opaque("a"))?.before]).toEqual([
    undefined,
    opaque("b"),
    opaque("b"),
  ]);
});

test("an index follows its objects, whenever it was added", () => {
  const cache = filled(pod("a", 1, { node: "n1" }), pod("b", 2));
  cache.addIndex("node", nodeOf);
  cache.put(pod("b", 11, { node: "n1" }));
  expect(names(cache.byIndex("node", "n1"))).toEqual(["a", "b"]);
  cache.put(pod("a", 12, { node: "n2" }));
  cache.remove(pod("b", 13));
  expect([names(cache.byIndex("node", "n1")), names(cache.byIndex("node", "n2"))]).toEqual([[], ["a"]]);
  expect(() => cache.addIndex("node", nodeOf)).toThrow("exists already");
  expect(() => cache.byIndex("zone", "z")).toThrow("no index");
});

test("an index function that throws leaves the cache as it was", () => {
  const cache = filled(pod("a", 1, { node: "n1" }));
  cache.addIndex("node", nodeOf);
  cache.addIndex("picky", ({ node }) => {
    if (node === "bad") throw new Error("picky");
    return [];
  });
  expect(() => cache.put(pod("a", 11, { node: "bad" }))).toThrow("picky");
  expect([cache.get({ namespace: "shop", name: "a" })?.node, names(cache.byIndex("node", "n1"))]).toEqual(["n1", ["a"]]);
});

const step = fc.record({ name: fc.constantFrom("a", "b", "c"), deleted: fc.boolean(), node: fc.constantFrom("n1", "n2") });
const replays = fc.array(fc.nat(30), { maxLength: 20 });

test("after any history with any repetitions, cache and indexes contain exactly the final state", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), replays, (history, repeated) => {
      const cache = new ObjectCache<Pod>();
      cache.addIndex("node", nodeOf);
      cache.replace([], "1");
      const want = new Map<string, Pod>();
      const events = history.map(({ name, deleted, node }, at) => ({ deleted, object: pod(name, at + 2, { node }) }));
      for (const [at, { deleted, object }] of events.entries()) {
        const again = repeated[at];
        for (const event of [{ deleted, object }, again === undefined ? undefined : events.slice(0, at)[again]]) {
          if (event?.deleted === true) cache.remove(event.object);
          else if (event !== undefined) cache.put(event.object);
        }
        if (deleted) want.delete(object.metadata.name);
        else want.set(object.metadata.name, object);
      }
      expect(new Set(cache.list())).toEqual(new Set(want.values()));
      for (const node of ["n1", "n2"]) {
        expect(names(cache.byIndex("node", node))).toEqual(names([...want.values()].filter((object) => object.node === node)));
      }
    }),
  );
});
