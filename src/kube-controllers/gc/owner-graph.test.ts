/** The graph compared with a naive one, and rare cases. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject, OwnerReference } from "#kube";
import type { ServedResource } from "../discovery.ts";
import { AbsentOwners } from "./absent-owners.ts";
import { OwnerGraph } from "./owner-graph.ts";

const things: ServedResource = {
  group: "",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
  verbs: new Set(),
  scalable: false,
};

function setUp() {
  const log: string[] = [];
  const graph = new OwnerGraph({
    worthDeleting: ({ uid }) => void log.push(`delete ${uid}`),
    worthOrphaning: ({ uid }) => void log.push(`orphan ${uid}`),
    crossesNamespaces: ({ uid }, owner) => void log.push(`crosses ${uid} ${owner.uid}`),
  });
  return { graph, log };
}

function thing(uid: string, owners: readonly OwnerReference[] = [], metadata: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return { apiVersion: "v1", kind: "Thing", metadata: { name: uid, namespace: "n", uid, ownerReferences: owners, ...metadata } };
}
const by = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: "v1",
  kind: "Thing",
  name: uid,
  uid,
  ...more,
});
const put = (graph: OwnerGraph, after: KubeObject, before?: KubeObject) =>
  graph.changed(things, { key: { name: after.metadata.name }, before, after });
const drop = (graph: OwnerGraph, before: KubeObject) =>
  graph.changed(things, { key: { name: before.metadata.name }, before, after: undefined });
const uids = (nodes: Iterable<{ readonly uid: string }>) => [...nodes].map(({ uid }) => uid).toSorted();

test("after any changes every edge exists once, and nothing else is kept", () => {
  const anyUid = fc.constantFrom("a", "b", "c", "d", "e");
  const anyOwner = fc.record({ uid: anyUid, blocks: fc.boolean() });
  const anyStep = fc.record({ uid: anyUid, owners: fc.array(anyOwner, { maxLength: 3 }), gone: fc.boolean() });
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const { graph } = setUp();
      const live = new Map<string, KubeObject>();
      for (const { uid, owners, gone } of steps) {
        const before = live.get(uid);
        const after = thing(
          uid,
          owners.map((owner) => by(owner.uid, { blockOwnerDeletion: owner.blocks })),
        );
        if (gone && before === undefined) continue;
        if (gone && before !== undefined) drop(graph, before);
        else put(graph, after, before);
        if (gone) live.delete(uid);
        else live.set(uid, after);
        for (const owner of ["a", "b", "c", "d", "e"]) {
          const referring = [...live.values()].filter(({ metadata }) =>
            metadata.ownerReferences?.some((reference) => reference.uid === owner),
          );
          const blocking = referring.filter(({ metadata }) =>
            metadata.ownerReferences?.some(({ uid: of, blockOwnerDeletion }) => of === owner && blockOwnerDeletion === true),
          );
          const node = graph.node(owner);
          // a deleted owner's edges are removed: the dependents are queued, and need no node any more
          if (node === undefined) continue;
          expect(uids(node.blockers).every((one) => uids(node.dependents).includes(one))).toBe(true);
          expect(uids(referring.map(({ metadata }) => ({ uid: metadata.uid ?? "" })))).toEqual(
            expect.arrayContaining(uids(node.dependents)),
          );
          expect(uids(blocking.map(({ metadata }) => ({ uid: metadata.uid ?? "" })))).toEqual(expect.arrayContaining(uids(node.blockers)));
          expect(node.virtual).toBe(!live.has(owner));
          if (node.virtual) expect(node.dependents.size).toBeGreaterThan(0);
        }
        for (const key of live.keys()) expect(graph.node(key)).toBeDefined();
      }
    }),
  );
});

describe("virtual owners", () => {
  test("one node represents an owner that was never observed, until its last dependent is deleted", () => {
    const { graph, log } = setUp();
    const [a, b] = [thing("a", [by("x")]), thing("b", [by("x")])];
    put(graph, a);
    put(graph, b);
    expect([graph.node("x")?.virtual, uids(graph.node("x")?.dependents ?? []), log]).toEqual([true, ["a", "b"], ["delete x"]]);
    drop(graph, a);
    put(graph, thing("b"), b);
    expect([graph.node("x"), graph.size]).toEqual([undefined, 1]);
  });

  test("a reference with other coordinates is invalid: reported, and checked", () => {
    const { graph, log } = setUp();
    put(graph, thing("a", [by("x")]));
    put(graph, thing("b", [by("x", { kind: "Other" })]));
    log.length = 0;
    put(graph, thing("x", [], { namespace: "elsewhere" }));
    expect(log).toEqual(["crosses a x", "delete a", "crosses b x", "delete b"]);
  });

  test("a dependent that contradicts a known owner is queued", () => {
    const { graph, log } = setUp();
    put(graph, thing("x"));
    put(graph, thing("a", [by("x", { name: "other" })]));
    put(graph, thing("b", [by("x")], { namespace: "elsewhere" }));
    expect(log).toEqual(["delete a", "crosses b x", "delete b"]);
  });

  test("an owner referenced by a cluster-scoped object may exist in a namespace: its other dependents are queued", () => {
    const { graph, log } = setUp();
    put(graph, thing("c", [by("x")], { namespace: "" }));
    put(graph, thing("a", [by("x")]));
    expect(log).toEqual(["delete x", "delete a"]);
  });
});

describe("absence", () => {
  test("removes the node of a virtual owner, and its dependents are queued", () => {
    const { graph, log } = setUp();
    put(graph, thing("a", [by("x")]));
    const identity = graph.node("x")?.identity ?? expect.fail();
    expect(graph.confirmedAbsent(identity)).toBe("gone");
    expect([graph.node("x"), log.at(-1), graph.absent.has(identity)]).toEqual([undefined, "delete a", true]);
    expect(graph.confirmedAbsent(identity)).toBe("gone");
  });

  test("under other coordinates than the observed ones affects only the dependents that use them", () => {
    const { graph, log } = setUp();
    put(graph, thing("x"));
    put(graph, thing("a", [by("x", { kind: "Other" })]));
    put(graph, thing("b", [by("x")]));
    log.length = 0;
    const wrong = { apiVersion: "v1", kind: "Other", namespace: "n", name: "x", uid: "x" };
    expect([graph.confirmedAbsent(wrong), graph.node("x")?.virtual, log]).toEqual(["gone", false, ["delete a"]]);
  });

  test("of one identity makes the next one be checked, and after the last the first", () => {
    const { graph } = setUp();
    put(graph, thing("a", [by("x", { kind: "A" })]));
    put(graph, thing("b", [by("x", { kind: "B" })]));
    put(graph, thing("c", [by("x", { kind: "B" })], { namespace: "m" }));
    const meant = () => `${graph.node("x")?.identity.kind} ${graph.node("x")?.identity.namespace}`;
    const turns = [0, 1, 2].map(() => {
      const before = meant();
      expect(graph.confirmedAbsent(graph.node("x")?.identity ?? expect.fail())).toBe("stays");
      return before;
    });
    expect([turns, meant()]).toEqual([["A n", "B m", "B n"], "A n"]);
  });

  test("is remembered for at least the last ten thousand", () => {
    const absent = new AbsentOwners();
    const identity = (at: number) => ({ apiVersion: "v1", kind: "A", namespace: "", name: "a", uid: String(at) });
    for (let at = 0; at < 25_000; at += 1) absent.add(identity(at));
    expect([absent.has(identity(0)), absent.has(identity(15_000)), absent.has(identity(24_999))]).toEqual([false, true, true]);
  });
});

describe("deletion", () => {
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };

  test("in the foreground: all dependents are queued, and the owner again when the last blocking one is deleted", () => {
    const { graph, log } = setUp();
    const [x, a, b] = [thing("x"), thing("a", [by("x", { blockOwnerDeletion: true })]), thing("b", [by("x")])];
    for (const one of [x, a, b]) put(graph, one);
    put(graph, thing("x", [], { ...deleted, finalizers: ["foregroundDeletion"] }), x);
    expect(log).toEqual(["delete a", "delete b", "delete x"]);
    log.length = 0;
    const late = thing("late", [by("x", { blockOwnerDeletion: true })]);
    put(graph, late);
    drop(graph, a);
    expect(log).toEqual(["delete late"]);
    put(graph, thing("late", [by("x")]), late);
    expect(log).toEqual(["delete late", "delete x"]);
  });

  test("with orphaning: queued once", () => {
    const { graph, log } = setUp();
    const going = thing("x", [], { ...deleted, finalizers: ["orphan"] });
    put(graph, going);
    put(graph, { ...going, metadata: { ...going.metadata, labels: { a: "b" } } }, going);
    expect(log).toEqual(["orphan x"]);
  });

  test("an object created again under its old name is another object", () => {
    const { graph, log } = setUp();
    const x = thing("x");
    put(graph, x);
    put(graph, thing("a", [by("x")]));
    put(graph, thing("y", [], { name: "x" }), x);
    expect([graph.node("x"), graph.node("y")?.virtual, log]).toEqual([undefined, false, ["delete a"]]);
  });
});

describe("kinds that are not served any more", () => {
  test("objects without dependents are forgotten; others are marked as not observed", () => {
    const { graph, log } = setUp();
    const [lone, owner] = [thing("lone", [by("owner")]), thing("owner")];
    put(graph, owner);
    put(graph, lone);
    put(graph, thing("child", [by("owner")]));
    graph.forgotten(things, lone);
    graph.forgotten(things, owner);
    graph.forgotten(things, thing("never seen"));
    expect([graph.node("lone"), graph.node("owner")?.virtual, uids(graph.node("owner")?.dependents ?? []), log]).toEqual([
      undefined,
      true,
      ["child"],
      ["delete owner"],
    ]);
  });
});
