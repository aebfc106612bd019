import { expectOk } from "#base";
import { fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { difference, fieldSetOf, has, intersection, isEmpty, leaves, pathsOf, setsEqual, union, type FieldSet } from "./field-set.ts";
import { applyPatch } from "./managed-fields.ts";
import type { ApplyRequest } from "./managed-kind.ts";
import { decodeManaged, managerInfo } from "./managers.ts";
import { fieldPath, isKeyElement } from "./path-element.ts";
import type { MapSchema, TypeSchema } from "./schema.ts";
import { toFieldSet } from "./to-field-set.ts";
import { validate } from "./validate.ts";
import { widget, WidgetWorld, widgetKind } from "./widget.test-support.ts";

const text = fc.constantFrom("1", "2", "3");
const item = fc.record({ name: fc.constantFrom("x", "y", "z"), value: text, port: fc.constantFrom(1, 2) }, { requiredKeys: ["name"] });
/** No empty values: an empty list has no owner, and an empty struct is owned itself, as on a real server. */
const spec = fc.record(
  {
    a: text,
    n: fc.constantFrom(1, 2),
    tags: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1, maxLength: 3 }),
    items: fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
    plain: fc.array(item, { maxLength: 2 }),
    whole: fc.record({ x: text, y: text }, { requiredKeys: [] }),
    struct: fc.record({ x: text, y: text }, { requiredKeys: ["x"] }),
    map: fc.dictionary(fc.constantFrom("k", "l", "__proto__"), text, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
    free: fc.record({ u: fc.oneof(text, fc.array(text, { maxLength: 2 })) }),
  },
  { requiredKeys: ["a"] },
);
type Write = { readonly manager: string; readonly spec: JsonObject; readonly force: boolean; readonly update: boolean };
const write: fc.Arbitrary<Write> = fc.record({
  manager: fc.constantFrom("alice", "bob", "carol"),
  spec,
  force: fc.boolean(),
  update: fc.boolean(),
});
const history = fc.array(write, { maxLength: 6 });

const identity = fieldSetOf(fieldPath("apiVersion"), fieldPath("kind"), fieldPath("metadata"), fieldPath("metadata", "name"));

function play(writes: readonly Write[]): WidgetWorld {
  const world = new WidgetWorld();
  for (const { manager, spec: given, force, update } of writes) {
    if (update) world.update(manager, given);
    else world.tryApply(manager, widget(given), { force });
  }
  return world;
}

function setOf(object: JsonObject | undefined, manager: string, operation = "Apply"): FieldSet {
  for (const [id, { set }] of expectOk(decodeManaged(fieldAt(object, "metadata", "managedFields"))).managers) {
    const info = managerInfo(id);
    if (info.manager === manager && info.operation === operation) return set;
  }
  return fieldSetOf();
}

function ownersBut(object: JsonObject | undefined, manager: string): FieldSet {
  const { managers } = expectOk(decodeManaged(fieldAt(object, "metadata", "managedFields")));
  return [...managers].reduce<FieldSet>(
    (all, [id, { set }]) => (id === `{"manager":"${manager}","operation":"Apply"}` ? all : union(all, set)),
    fieldSetOf(),
  );
}

const appliedSet = (given: JsonObject) => difference(toFieldSet(widgetKind.schema, widget(given)), identity);
const liveSet = (object: JsonObject | undefined) => toFieldSet(widgetKind.schema, object ?? {});
const sameObject = (a: JsonObject | undefined, b: JsonObject | undefined) => jsonEqual(fieldAt(a, "spec"), fieldAt(b, "spec"));

describe("ownership", () => {
  it("after an apply the manager owns exactly what it applied", () => {
    fc.assert(
      fc.property(history, spec, (writes, given) => {
        const world = play(writes).apply("alice", given, { force: true });
        expect(setsEqual(setOf(world.live, "alice"), appliedSet(given))).toBe(true);
      }),
    );
  });

  it("the applied values are in the object", () => {
    fc.assert(
      fc.property(history, spec, (writes, given) => {
        const world = play(writes).apply("alice", given, { force: true });
        for (const path of pathsOf(leaves(appliedSet(given)))) expect(has(liveSet(world.live), path)).toBe(true);
        expect(validate(widgetKind.schema, world.live ?? {}, { allowDuplicates: false }).ok).toBe(true);
      }),
    );
  });

  it("applying the same again changes nothing, not even a time", () => {
    fc.assert(
      fc.property(history, spec, (writes, given) => {
        const world = play(writes).apply("alice", given, { force: true });
        const before = world.live;
        expect(jsonEqual(world.apply("alice", given).live, before)).toBe(true);
      }),
    );
  });

  it("force changes only the owners of applied fields: other managers keep all unchanged fields", () => {
    fc.assert(
      fc.property(history, spec, (writes, given) => {
        const world = play(writes);
        const before = world.live;
        world.apply("alice", given, { force: true });
        for (const manager of ["bob", "carol"]) {
          const lost = difference(setOf(before, manager), setOf(world.live, manager));
          for (const path of pathsOf(lost)) {
            const mentioned = has(appliedSet(given), path) || path.some((_, depth) => has(appliedSet(given), path.slice(0, depth)));
            expect(mentioned || !has(liveSet(world.live), path)).toBe(true);
          }
        }
      }),
    );
  });

  it("a field that is no longer applied is removed if and only if no other manager owns it, with the list items around it", () => {
    fc.assert(
      fc.property(history, spec, spec, (writes, first, second) => {
        const world = play(writes).apply("alice", first, { force: true });
        const others = ownersBut(world.live, "alice");
        const dropped = leaves(difference(appliedSet(first), appliedSet(second)));
        world.apply("alice", second, { force: true });
        for (const path of pathsOf(dropped)) {
          const above = path.map((_, depth) => path.slice(0, depth));
          if (above.some((top) => has(leaves(appliedSet(second)), top))) continue; // replaced as a whole
          const itemsOwned = above.every((top) => !isKeyElement(top.at(-1) ?? "") || has(others, top) || has(appliedSet(second), top));
          expect(has(liveSet(world.live), path)).toBe(has(others, path) && itemsOwned);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("a conflict names an owner of another value, and force resolves it", () => {
    fc.assert(
      fc.property(history, spec, (writes, given) => {
        const world = play(writes);
        const others = ownersBut(world.live, "alice");
        const result = world.tryApply("alice", widget(given));
        if (result.ok) return;
        expect(result.error.kind).toBe("conflict");
        expect(isEmpty(intersection(others, appliedSet(given)))).toBe(false);
        expect(world.tryApply("alice", widget(given), { force: true }).ok).toBe(true);
      }),
    );
  });

  it("absent fields have no owner", () => {
    fc.assert(
      fc.property(history, (writes) => {
        const world = play(writes);
        const structs = (path: readonly string[]) => isJsonObject(fieldAt(world.live, ...path.map((step) => step.slice(2))));
        for (const path of pathsOf(ownersBut(world.live, "none")))
          expect(has(liveSet(world.live), path) || structs(path) || path.length <= 2).toBe(true);
      }),
    );
  });

  it("inputs are not changed", () => {
    fc.assert(
      fc.property(history, spec, (writes, given) => {
        const live = deepFreeze(play(writes).live);
        const applied = deepFreeze(widget(given));
        const request: ApplyRequest = { ...widgetKind, live, applied, manager: "alice", force: true, now: "2026-01-01T00:00:00Z" };
        expect(sameObject(expectOk(applyPatch(request)), expectOk(applyPatch(request)))).toBe(true);
      }),
    );
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

describe("cost", () => {
  /** Counts schema lookups: every visit of a value makes at least one. */
  function counting(): { readonly schema: TypeSchema; readonly count: () => number } {
    let calls = 0;
    const wrapMap = (map: MapSchema): MapSchema => ({
      atomic: map.atomic,
      deduced: map.deduced,
      element: map.element && wrap(map.element),
      field(name) {
        calls++;
        const type = map.field(name);
        return type && wrap(type);
      },
      defaultOf: (name) => map.defaultOf(name),
    });
    const wrap = (type: TypeSchema): TypeSchema =>
      type.scalar !== undefined
        ? type
        : { ...type, list: type.list && { ...type.list, element: wrap(type.list.element) }, map: type.map && wrapMap(type.map) };
    return { schema: wrap(widgetKind.schema), count: () => calls };
  }

  function visitsFor(size: number): number {
    const { schema, count } = counting();
    const world = new WidgetWorld({ schema });
    const items = (from: number): Json[] => Array.from({ length: size }, (_, index) => ({ name: `item-${from + index}`, value: "v" }));
    world
      .apply("alice", { items: items(0) })
      .apply("bob", { items: items(size / 2) })
      .update("ctl", { items: items(0).toReversed() });
    world.apply("alice", { items: items(size / 4) }, { force: true });
    return count();
  }

  it("grows with the number of items, not with its square", () => {
    expect(visitsFor(10_000) / visitsFor(1_000)).toBeLessThan(11);
  });
});
