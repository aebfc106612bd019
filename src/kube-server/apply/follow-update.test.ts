import { expectOk } from "#base";
import { fieldAt, jsonEqual, type JsonObject } from "#kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excluding } from "./field-filter.ts";
import { fieldSetOf } from "./field-set.ts";
import { followFieldByField, followOwnValues } from "./follow-update.ts";
import { managedOfUpdate, withoutManagedFields } from "./managed-metadata.ts";
import type { UpdateRequest } from "./managed-kind.ts";
import { encodeManaged, type ManagedFields } from "./managers.ts";
import { fieldPath } from "./path-element.ts";
import { parseStored } from "./typed-value.ts";
import { widget, WidgetWorld, widgetKind } from "./widget.test-support.ts";

const text = fc.constantFrom("1", "2", "3");
const item = fc.record({ name: fc.constantFrom("x", "y"), value: text }, { requiredKeys: ["name"] });
const spec = fc.record(
  {
    a: fc.oneof(text, fc.constant(null)),
    n: fc.constantFrom(1, 2),
    tags: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
    items: fc.array(item, { maxLength: 2 }),
    ports: fc.array(fc.record({ port: fc.constantFrom(1, 2), value: text }), { maxLength: 2 }),
    plain: fc.array(item, { maxLength: 2 }),
    whole: fc.record({ x: text, y: text }, { requiredKeys: [] }),
    struct: fc.record({ x: text, y: text }, { requiredKeys: [] }),
    map: fc.dictionary(fc.constantFrom("k", "l", "__proto__"), text, { maxKeys: 2, noNullPrototype: true }),
    free: fc.record({ u: fc.oneof(text, fc.array(text, { maxLength: 2 })) }),
    either: fc.oneof(text, fc.constantFrom(1, 2)),
  },
  { requiredKeys: [] },
);
const manager = fc.constantFrom("alice", "bob");
type Write = { readonly manager: string; readonly spec: JsonObject; readonly applies: boolean };
const write: fc.Arbitrary<Write> = fc.record({ manager, spec, applies: fc.boolean() });

function play(writes: readonly Write[]): JsonObject {
  const world = new WidgetWorld();
  for (const { manager: who, spec: given, applies } of writes) {
    if (applies) world.tryApply(who, widget(given), { force: true });
    else world.update(who, given);
  }
  return world.live ?? widget({});
}

/** Mostly the same fields with other values. */
function nudged(given: unknown, seed: number): unknown {
  if (Array.isArray(given)) return given.map((one, at) => nudged(one, seed + at));
  if (typeof given !== "object" || given === null) return typeof given === "string" && seed % 3 === 0 ? `${(seed % 5) + 1}` : given;
  return Object.fromEntries(Object.entries(given).map(([name, one], at) => [name, name === "name" ? one : nudged(one, seed + at)]));
}

type Both = { readonly quick: ManagedFields | undefined; readonly long: ManagedFields };

function bothWays(live: JsonObject, next: JsonObject, more: Partial<UpdateRequest> = {}): Both {
  const given = { ...widgetKind, now: "2026-02-02T00:00:00Z", manager: "alice", old: live, next, ...more };
  const managed = managedOfUpdate(given);
  const request = { ...given, old: withoutManagedFields(live), next: withoutManagedFields(next) };
  const typed = (object: JsonObject) => expectOk(parseStored(request.schema, object));
  const long = expectOk(followFieldByField(request, managed, { live: typed(request.old), next: typed(request.next) }));
  return { quick: followOwnValues(request, managed), long };
}

function withSpec(live: JsonObject, given: unknown): JsonObject {
  return { ...live, spec: given as JsonObject };
}

describe("a write of values that the manager owns", () => {
  it("leads to the same owners as the general algorithm", () => {
    let quickly = 0;
    const history = fc.array(write, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(history, spec, fc.nat(30), fc.boolean(), manager, (writes, other, seed, same, who) => {
        const live = play(writes);
        const next = withSpec(live, same ? nudged(fieldAt(live, "spec") ?? {}, seed) : other);
        const { quick, long } = bothWays(live, next, { manager: who });
        if (quick === undefined) return;
        if (!jsonEqual(fieldAt(live, "spec") ?? null, fieldAt(next, "spec") ?? null)) quickly += 1;
        expect(encodeManaged(quick)).toEqual(encodeManaged(long));
      }),
      { numRuns: 2_000 },
    );
    expect(quickly).toBeGreaterThan(20);
  });

  const owned = new WidgetWorld().update("alice", { a: "1", n: 1, items: [{ name: "x", value: "1" }] });
  const live = () => owned.live ?? {};
  it.each([
    { name: "another value", spec: { a: "2", n: 1, items: [{ name: "x", value: "1" }] }, quick: true },
    { name: "another value in an item", spec: { a: "1", n: 1, items: [{ name: "x", value: "2" }] }, quick: true },
    { name: "nothing", spec: { a: "1", n: 1, items: [{ name: "x", value: "1" }] }, quick: true },
    { name: "a field more", spec: { a: "1", n: 1, on: true, items: [{ name: "x", value: "1" }] }, quick: false },
    { name: "a field less", spec: { a: "1", items: [{ name: "x", value: "1" }] }, quick: false },
    { name: "another item", spec: { a: "1", n: 1, items: [{ name: "y", value: "1" }] }, quick: false },
    { name: "null", spec: { a: null, n: 1, items: [{ name: "x", value: "1" }] }, quick: false },
  ])("$name", ({ spec: given, quick }) => {
    const ways = bothWays(live(), withSpec(live(), given));
    expect(ways.quick !== undefined).toBe(quick);
    if (ways.quick !== undefined) expect(encodeManaged(ways.quick)).toEqual(encodeManaged(ways.long));
  });

  it("does not use the fast path when the subresource cannot change these fields", () => {
    const resetFields = new Map([[widgetKind.apiVersion, excluding(fieldSetOf(fieldPath("spec")))]]);
    const next = withSpec(live(), { a: "2", n: 1, items: [{ name: "x", value: "1" }] });
    expect(bothWays(live(), next, { resetFields }).quick).toBeUndefined();
  });

  it("does not use the fast path when another manager owns the field as well", () => {
    const shared = new WidgetWorld().update("alice", { a: "1" }).apply("bob", { a: "1" });
    const before = shared.live ?? {};
    expect(bothWays(before, withSpec(before, { a: "2" })).quick).toBeUndefined();
  });
});
