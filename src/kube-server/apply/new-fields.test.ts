import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { fieldAt, type Json, type JsonObject } from "#kube";
import { compare } from "./compare.ts";
import { emptyObjectOf } from "./empty-objects.ts";
import { setsEqual, union } from "./field-set.ts";
import { encodeFields, isSharedFields } from "./fields-v1.ts";
import { trackUpdate } from "./managed-fields.ts";
import { fieldsOfNew } from "./new-fields.ts";
import { validate } from "./validate.ts";
import { widget, widgetKind } from "./widget.test-support.ts";

const text = fc.constantFrom("1", "2", "");
const item = fc.record(
  { name: fc.constantFrom("x", "y"), value: text, port: fc.oneof(fc.constantFrom(1, 2), fc.constant(null)), odd: text },
  { requiredKeys: [] },
);
const anything = fc.oneof(text, fc.constantFrom<Json>(null, 1, true, [], {}, ["a"], { u: { v: [1] } }));
const named = fc.record({ name: fc.constantFrom("x", "y", "z"), value: text, port: fc.constantFrom(1, 2) }, { requiredKeys: ["name"] });
const usual = fc.record(
  {
    a: text,
    n: fc.constantFrom(1, 2),
    tags: fc.uniqueArray(text, { maxLength: 3 }),
    items: fc.uniqueArray(named, { maxLength: 3, selector: ({ name }) => name }),
    ports: fc.array(named, { maxLength: 1 }),
    plain: fc.array(named, { maxLength: 2 }),
    whole: fc.record({ x: text, y: text }, { requiredKeys: [] }),
    struct: fc.record({ x: text, y: text }, { requiredKeys: [] }),
    map: fc.dictionary(fc.constantFrom("k", "l", "__proto__"), text, { noNullPrototype: true }),
    free: fc.record({ u: text, v: fc.array(text, { maxLength: 2 }) }, { requiredKeys: [] }),
    either: fc.constantFrom(1, "a"),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;
const odd = fc.record(
  {
    a: fc.oneof(text, fc.constant(null)),
    n: fc.oneof(fc.constantFrom(1, 2), text),
    on: fc.boolean(),
    tags: fc.oneof(fc.array(text, { maxLength: 3 }), fc.constant(null)),
    items: fc.oneof(fc.array(item, { maxLength: 3 }), fc.constant(null)),
    ports: fc.array(item, { maxLength: 2 }),
    plain: fc.oneof(fc.array(item, { maxLength: 2 }), text),
    whole: fc.oneof(fc.record({ x: text, y: text }, { requiredKeys: [] }), fc.constant(null)),
    struct: fc.oneof(fc.record({ x: text, y: text }, { requiredKeys: [] }), fc.constant(null), text),
    map: fc.dictionary(fc.constantFrom("k", "l", "__proto__"), text, { noNullPrototype: true }),
    free: anything,
    either: anything,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;
/** A kind without any fields set may have structs, null for fields that are written when empty, and zero values. */
const empty = fc.record(
  {
    a: fc.constantFrom("", null),
    n: fc.constant(0),
    tags: fc.constant(null),
    items: fc.constant(null),
    plain: fc.constant(null),
    whole: fc.constantFrom(null, {}),
    struct: fc.constantFrom(null, {}, { x: "" }),
    map: fc.constantFrom(null, {}),
    free: fc.constantFrom(null, {}),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

describe("fieldsOfNew", () => {
  it("returns the result of the general algorithm, or undefined", () => {
    let found = 0;
    fc.assert(
      fc.property(fc.oneof(usual, odd), fc.option(empty, { nil: undefined }), (given, zero) => {
        const object = widget(given);
        const nothing: JsonObject = zero === undefined ? {} : { spec: zero };
        const quick = fieldsOfNew(widgetKind.schema, nothing, object);
        if (quick === undefined) return;
        found += 1;
        expect(validate(widgetKind.schema, object, { allowDuplicates: true }).ok).toBe(true);
        const { added, modified } = compare(widgetKind.schema, nothing, object);
        const long = union(modified, added);
        if (!setsEqual(quick, long)) expect(encodeFields(quick)).toEqual(encodeFields(long));
      }),
      { numRuns: 2_000 },
    );
    expect(found).toBeGreaterThan(300);
  });

  it("returns the same set object for objects of one shape", () => {
    const fields = (a: string, name: string) =>
      fieldsOfNew(widgetKind.schema, {}, widget({ a, items: [{ name: "x", value: a }] }, { name }));
    expect(fields("1", "one")).toBeDefined();
    expect(fields("1", "one")).toBe(fields("2", "two"));
    expect(fields("1", "one")).not.toBe(fieldsOfNew(widgetKind.schema, {}, widget({ a: "1", items: [{ name: "y", value: "1" }] })));
  });

  it.each([
    { name: "a field that the schema does not declare", given: { odd: 1 } },
    { name: "a wrong type", given: { a: 1 } },
    { name: "an item without its key", given: { items: [{ value: "1" }] } },
    { name: "an item given twice", given: { items: [{ name: "x" }, { name: "x" }] } },
    { name: "a list where a map should be", given: { struct: [] } },
    { name: "a map where a list should be", given: { items: {} } },
    { name: "a wrong type in a whole", given: { whole: { x: 1 } } },
    { name: "a wrong type in a plain list", given: { plain: [{ name: 1 }] } },
  ])("leaves $name to the long way", ({ given }) => {
    expect(fieldsOfNew(widgetKind.schema, {}, widget(given))).toBeUndefined();
  });
});

describe("the fields of a creator", () => {
  const track = (next: JsonObject, emptyObject?: JsonObject) =>
    expectOk(trackUpdate({ ...widgetKind, emptyObject, manager: "m", now: "2026-01-01T00:00:00Z", old: undefined, next }));
  const fieldsOf = (object: JsonObject) => (fieldAt(object, "metadata", "managedFields") as readonly JsonObject[])[0]?.["fieldsV1"];

  it("are serialized once for all objects of one shape, and are immutable", () => {
    const [one, two] = [fieldsOf(track(widget({ a: "1" }))), fieldsOf(track(widget({ a: "2" }, { name: "two" })))];
    expect(one).toEqual({ "f:spec": { ".": {}, "f:a": {} } });
    expect(one).toBe(two);
    expect(isSharedFields(one as object)).toBe(true);
    expect(() => Object.assign(one as object, { "f:x": {} })).toThrow(TypeError);
  });

  it("do not include the structs of the kind", () => {
    const made = track({ ...widget({ a: "1", struct: { x: "1" } }) }, { spec: { struct: {} } });
    expect(fieldsOf(made)).toEqual({ "f:spec": { "f:a": {}, "f:struct": { "f:x": {} } } });
    expect(emptyObjectOf("v1", "ConfigMap")).toEqual({});
  });

  it("are empty when nothing is set", () => {
    expect(fieldAt(track(widget(undefined)), "metadata", "managedFields")).toBeUndefined();
  });
});
