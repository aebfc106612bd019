import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonEqual, type Json, type JsonObject } from "#kube";
import { compare } from "./compare.ts";
import { fieldSetOf, pathsOf, type FieldSet } from "./field-set.ts";
import { decodeFields } from "./fields-v1.ts";
import { elementOrNone } from "./list-items.ts";
import { merge } from "./merge.ts";
import { openApiSchemas } from "./open-api-schema.ts";
import { fieldPath, pathText } from "./path-element.ts";
import { reconcileFieldSet } from "./reconcile-schema.ts";
import { removeItems } from "./remove-items.ts";
import { toFieldSet } from "./to-field-set.ts";
import { validate } from "./validate.ts";
import { deduced, type ListSchema, type TypeSchema } from "./schema.ts";
import { widgetKind } from "./widget.test-support.ts";

const spec = widgetKind.schema.map?.field("spec") ?? deduced;
const texts = (set: FieldSet) => Array.from(pathsOf(set), pathText);
const named = (...names: string[]) => names.map((name) => ({ name }));
const setOf = (json: JsonObject): FieldSet => {
  const set = decodeFields(json);
  return set.ok ? set.value : fieldSetOf();
};

describe("merge", () => {
  it.each([
    { name: "new items are placed in the applied order", live: "a b", applied: "c a", want: "c a b" },
    { name: "the applied order wins among shared items", live: "a b c", applied: "c a", want: "b c a" },
    { name: "live items stay between their neighbours", live: "a x b", applied: "a b", want: "a x b" },
    { name: "applied items that are new keep their neighbours too", live: "a b", applied: "a n b m", want: "a n b m" },
    { name: "without common items live items come first", live: "a b", applied: "c d", want: "a b c d" },
    { name: "a reversed order", live: "a b c d", applied: "d c b a", want: "d c b a" },
    { name: "nothing live", live: "", applied: "b a", want: "b a" },
    { name: "nothing applied", live: "b a", applied: "", want: "b a" },
  ])("orders list maps: $name", ({ live, applied, want }) => {
    const items = (text: string) => ({ items: named(...text.split(" ").filter(Boolean)) });
    expect(merge(spec, items(live), items(applied))).toEqual(items(want));
    const tags = (text: string) => ({ tags: text.split(" ").filter(Boolean) });
    expect(merge(spec, tags(live), tags(applied))).toEqual(tags(want));
  });

  it.each<{ name: string; live: Json; applied: Json; want: Json }>([
    { name: "fields of both, the applied one wins", live: { a: "1", n: 1 }, applied: { a: "2" }, want: { a: "2", n: 1 } },
    {
      name: "items of both field by field",
      live: { items: [{ name: "x", value: "1" }] },
      applied: { items: [{ name: "x", port: 1 }] },
      want: { items: [{ name: "x", value: "1", port: 1 }] },
    },
    {
      name: "atomic values are replaced",
      live: { plain: named("x"), whole: { x: "1" } },
      applied: { plain: [], whole: {} },
      want: { plain: [], whole: {} },
    },
    {
      name: "duplicates in the live list are replaced by the applied item",
      live: { items: named("x", "x", "y") },
      applied: { items: [{ name: "x", value: "1" }] },
      want: { items: [{ name: "x", value: "1" }, { name: "y" }] },
    },
    {
      name: "duplicates that are not applied stay",
      live: { items: named("x", "x") },
      applied: { items: named("y") },
      want: { items: named("x", "x", "y") },
    },
    {
      name: "null and empty are different",
      live: { map: {}, tags: null },
      applied: { map: null, tags: [] },
      want: { map: null, tags: [] },
    },
    { name: "null does not empty a live list", live: { tags: ["x"] }, applied: { tags: null }, want: { tags: ["x"] } },
    { name: "null replaces an untyped list", live: { free: { l: [1] } }, applied: { free: { l: null } }, want: { free: { l: null } } },
    {
      name: "a value may change its kind where the type is open",
      live: { either: 1, free: { x: [1] } },
      applied: { either: "a", free: { x: { y: 1 } } },
      want: { either: "a", free: { x: { y: 1 } } },
    },
  ])("merges $name", ({ live, applied, want }) => {
    const before = JSON.stringify([live, applied]);
    expect(merge(spec, live, applied)).toEqual(want);
    expect(JSON.stringify([live, applied])).toBe(before);
  });

  it("treats __proto__ as an ordinary name", () => {
    const live = JSON.parse('{"map": {"__proto__": "live", "constructor": "c"}}') as Json;
    const applied = JSON.parse('{"map": {"__proto__": "applied"}}') as Json;
    expect(JSON.stringify(merge(spec, live, applied))).toBe('{"map":{"__proto__":"applied","constructor":"c"}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("compare", () => {
  type Row = { name: string; before: Json; after: Json; want: { added?: string[]; modified?: string[]; removed?: string[] } };
  it.each<Row>([
    { name: "nothing", before: { a: "1", tags: ["x", "y"] }, after: { tags: ["y", "x"], a: "1" }, want: {} },
    { name: "fields", before: { a: "1", n: 1 }, after: { a: "2", on: true }, want: { added: [".on"], modified: [".a"], removed: [".n"] } },
    {
      name: "whole structs with their fields",
      before: {},
      after: { struct: { x: "1" }, map: {} },
      want: { added: [".map", ".struct", ".struct.x"] },
    },
    {
      name: "items by key",
      before: { items: [{ name: "x", value: "1" }] },
      after: { items: [{ name: "x", value: "2" }, { name: "y" }] },
      want: { added: ['.items[name="y"]', '.items[name="y"].name'], modified: ['.items[name="x"].value'] },
    },
    { name: "values of sets", before: { tags: ["x"] }, after: { tags: ["y"] }, want: { added: ['.tags[="y"]'], removed: ['.tags[="x"]'] } },
    {
      name: "atomic values as a whole",
      before: { plain: named("x"), whole: { x: "1" } },
      after: { plain: named("y"), whole: { x: "2" } },
      want: { modified: [".plain", ".whole"] },
    },
    {
      name: "an added or removed list",
      before: { items: named("x") },
      after: { tags: [] },
      want: { added: [".tags"], removed: [".items", '.items[name="x"]', '.items[name="x"].name'] },
    },
    {
      name: "an open value that changes its kind",
      before: { free: { x: { y: 1 } } },
      after: { free: { x: "z" } },
      want: { modified: [".free.x"], removed: [".free.x.y"] },
    },
    {
      name: "an item that becomes a duplicate, and duplicates that become one item",
      before: { items: [...named("x"), { name: "y", value: "1" }, { name: "y", value: "2" }] },
      after: { items: named("x", "x", "y") },
      want: {
        added: ['.items[name="x"]', '.items[name="y"]', '.items[name="y"].name'],
        removed: ['.items[name="x"]', '.items[name="x"].name', '.items[name="y"]'],
      },
    },
    {
      name: "added and removed duplicates",
      before: { tags: ["x", "x"] },
      after: { tags: ["y", "y"] },
      want: { added: ['.tags[="y"]'], removed: ['.tags[="x"]'] },
    },
  ])("sees $name", ({ before, after, want }) => {
    const { added, modified, removed } = compare(spec, before, after);
    expect({ added: texts(added).toSorted(), modified: texts(modified).toSorted(), removed: texts(removed).toSorted() }).toEqual({
      added: (want.added ?? []).toSorted(),
      modified: (want.modified ?? []).toSorted(),
      removed: (want.removed ?? []).toSorted(),
    });
  });
});

describe("removeItems", () => {
  const value: JsonObject = {
    a: "1",
    items: [{ name: "x", value: "1" }, { name: "y" }],
    tags: ["s", "t"],
    plain: named("p"),
    map: { k: "v" },
    whole: { x: "1" },
    struct: {},
  };

  it.each<{ name: string; fields: JsonObject; want: Json }>([
    {
      name: "fields, items and values",
      fields: { "f:a": {}, "f:items": { 'k:{"name":"y"}': {} }, "f:tags": { 'v:"s"': {} } },
      want: { ...value, a: undefined, items: [{ name: "x", value: "1" }], tags: ["t"] },
    },
    {
      name: "fields inside items",
      fields: { "f:items": { 'k:{"name":"x"}': { "f:value": {} } } },
      want: { ...value, items: named("x", "y") },
    },
    {
      name: "the last of a map or list: null is left",
      fields: { "f:map": { "f:k": {} }, "f:tags": { 'v:"s"': {}, 'v:"t"': {} } },
      want: { ...value, map: null, tags: null },
    },
    {
      name: "parts of atomic and empty values: null is left",
      fields: { "f:plain": { "f:x": {} }, "f:whole": { "f:x": {} }, "f:struct": { "f:x": {} }, "f:a": { "f:x": {} } },
      want: { ...value, plain: null, whole: null, struct: null },
    },
    { name: "nothing", fields: {}, want: value },
  ])("removes $name", ({ fields, want }) => {
    const before = JSON.stringify(value);
    expect(removeItems(spec, value, setOf(fields))).toEqual(want);
    expect(JSON.stringify(value)).toBe(before);
  });

  it("removes nothing from null", () => {
    expect(removeItems(spec, null, setOf({ "f:a": {} }))).toBeNull();
  });
});

describe("reconcileFieldSet", () => {
  it("makes the owner of parts the owner of a value that became atomic", () => {
    const owned = setOf({
      "f:whole": { "f:x": {} },
      "f:plain": { 'k:{"name":"p"}': { ".": {}, "f:name": {} } },
      "f:items": { 'k:{"name":"x"}': { "f:value": {} } },
      "f:gone": {},
    });
    expect(texts(reconcileFieldSet(owned, spec))).toEqual([".gone", ".plain", ".whole", '.items[name="x"].value']);
  });

  it("changes nothing else", () => {
    const owned = setOf({
      "f:whole": {},
      "f:plain": {},
      "f:items": {},
      "f:map": { ".": {}, "f:k": {} },
      "f:free": { "f:x": { "f:y": {} } },
      "k:{}": {},
    });
    expect(reconcileFieldSet(owned, spec)).toBe(owned);
  });
});

describe("toFieldSet and validate", () => {
  const type = (node: JsonObject): TypeSchema => openApiSchemas(() => undefined)(node);

  it.each<{ name: string; value: Json; want: string }>([
    { name: "no list", value: { tags: "x" }, want: ".tags: expected list, got &{x}" },
    { name: "no map", value: { struct: [1, "a"] }, want: ".struct: expected map, got &{[1 a]}" },
    {
      name: "no scalar",
      value: { a: { x: null } },
      want: '.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"x":interface {}(nil)}}',
    },
    {
      name: "null in a set",
      value: { tags: [null] },
      want: ".tags: element 0: associative list without keys has an element that's an explicit null",
    },
    {
      name: "a map in a set",
      value: { tags: [{}] },
      want: ".tags: element 0: associative list without keys has an element that's a map type",
    },
    { name: "a list in a set", value: { tags: [[]] }, want: ".tags: element 0: not supported: associative list with lists as elements" },
    {
      name: "null in a map list",
      value: { items: [null] },
      want: ".items: element 0: associative list with keys may not have a null element",
    },
    {
      name: "text in a map list",
      value: { items: ["x"] },
      want: ".items: element 0: associative list with keys may not have non-map elements",
    },
    {
      name: "an item without keys",
      value: { items: [{}] },
      want: `.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
    },
    {
      name: "a duplicate key, including defaults",
      value: { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] },
      want: '.ports: duplicate entries for key [port=1,protocol="TCP"]',
    },
    {
      name: "an error inside an item",
      value: { plain: [{ port: "x" }] },
      want: ".plain[0].port: expected numeric (int or float), got string",
    },
  ])("refuses $name", ({ value, want }) => {
    expect(validate(spec, value, { allowDuplicates: false })).toEqual({ ok: false, error: want });
  });

  it("accepts null for every type, and duplicates where they are allowed", () => {
    expect(
      validate(spec, { a: null, tags: null, struct: null, ports: [{ port: null }], extra: undefined }, { allowDuplicates: false }).ok,
    ).toBe(true);
    expect(validate(spec, { tags: ["x", "x"] }, { allowDuplicates: true }).ok).toBe(true);
    expect(
      validate(
        type({ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }),
        [{}],
        { allowDuplicates: true },
      ),
    ).toEqual({
      ok: false,
      error: "element 0: couldn't find default value for k: associative list may not have non-map types",
    });
    expect(validate({ scalar: "untyped", list: undefined, map: undefined }, {}, { allowDuplicates: true })).toEqual({
      ok: false,
      error: "expected any scalar, got &{map[]}",
    });
    expect(validate({ scalar: undefined, list: undefined, map: undefined }, 1, { allowDuplicates: true })).toEqual({
      ok: false,
      error: "schema error: invalid atom: inlined",
    });
  });

  it("owns maps with their entries, structs through their fields, and duplicates as a whole", () => {
    const set = toFieldSet(spec, {
      struct: { x: "1" },
      map: { k: "v" },
      whole: {},
      tags: ["x", "x", "y"],
      items: null,
      free: { deep: { l: [1] } },
    });
    expect(texts(set)).toEqual([".items", ".whole", ".free.deep", ".free.deep.l", ".map.k", ".struct.x", '.tags[="x"]', '.tags[="y"]']);
    expect(texts(toFieldSet(spec, { struct: {} }))).toEqual(texts(fieldSetOf(fieldPath("struct"))));
  });
});

describe("elements of items with several keys", () => {
  it("are different for different key values", () => {
    const list: ListSchema = { kind: "map", keys: ["a", "b"], element: deduced };
    const texts = fc.constantFrom("", "1", ":", '"', "\n", "1:1", "#1|", 'a"\n"b', "b");
    const keys = fc.record({ a: fc.oneof(texts, fc.constantFrom(1, 11, -1)), b: fc.oneof(texts, fc.constantFrom(1, 11)) });
    fc.assert(
      fc.property(keys, keys, (one, two) => {
        expect(elementOrNone(list, one) === elementOrNone(list, two)).toBe(jsonEqual(one, two));
      }),
    );
  });
});
