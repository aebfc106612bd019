/** Property tests of patches, on random objects of real kinds. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  applyStrategicMergePatchText,
  builtinDefinition,
  builtinDefinitionNameOf,
  builtinSchema,
  createMergePatch,
  createThreeWayStrategicPatch,
  createTwoWayStrategicPatch,
  createTwoWayStrategicPatchText,
  sortMergeLists,
  strategicPatchesConflict,
  type Json,
  type JsonObject,
  type PatchSchema,
} from "./index.ts";

const KINDS = [
  { group: "", version: "v1", kind: "Pod" },
  { group: "", version: "v1", kind: "Service" },
  { group: "", version: "v1", kind: "ServiceAccount" },
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "batch", version: "v1", kind: "CronJob" },
];
const names = fc.constantFrom("a", "b", "c", "d", "e", "f");

/** Random objects of a definition. Merge lists have distinct keys and sets distinct elements, as the API server requires. */
function arbitraryOf(schema: JsonObject, depth: number): fc.Arbitrary<Json> {
  const [reference] = (schema["allOf"] ?? []) as readonly { readonly $ref: string }[];
  if (reference !== undefined) return arbitraryOf(builtinDefinition(reference.$ref.replace("#/components/schemas/", "")) ?? {}, depth);
  switch (schema["type"]) {
    case "array":
      return listOf(schema, depth);
    case "object":
      return schema["properties"] === undefined ? fc.dictionary(names, names, { maxKeys: 3 }) : objectOf(schema, depth);
    case "integer":
      return fc.constantFrom(1, 2, 53, 80, 443, 8080);
    case "boolean":
      return fc.boolean();
    default:
      return names;
  }
}

function objectOf(schema: JsonObject, depth: number): fc.Arbitrary<Json> {
  const fields = Object.entries(schema["properties"] as Record<string, JsonObject>).filter(([name, field]) => {
    const interesting = [
      "spec",
      "template",
      "metadata",
      "containers",
      "volumes",
      "ports",
      "env",
      "finalizers",
      "labels",
      "jobTemplate",
    ].includes(name);
    return interesting || (depth < 5 && field["type"] !== undefined && field["type"] !== "array" && name.length < 10);
  });
  if (depth > 8) return fc.constant({});
  return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, arbitraryOf(field, depth + 1)])), {
    requiredKeys: [],
  });
}

function listOf(schema: JsonObject, depth: number): fc.Arbitrary<Json> {
  const items = arbitraryOf(schema["items"] as JsonObject, depth + 1);
  const key = schema["x-kubernetes-patch-merge-key"];
  const scalars = fc.uniqueArray(items, { maxLength: 3, comparator: "SameValueZero" });
  // Kubernetes compares the sorted original with the modified list and so misses a change that only sorts: start from sorted lists.
  if (typeof key !== "string")
    return "x-kubernetes-patch-strategy" in schema
      ? scalars.map((list) => list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)))
      : scalars;
  const keyed = fc
    .tuple(items, key === "port" || key === "containerPort" ? fc.constantFrom(53, 80, 443) : names)
    .map(([item, value]) => ({ ...(item as object), [key]: value }));
  return fc.uniqueArray(keyed, { maxLength: 4, selector: (item) => item[key] });
}

const kinds = KINDS.map((kind) => {
  const definition = builtinDefinition(builtinDefinitionNameOf(kind) ?? "") ?? {};
  return { name: kind.kind, schema: builtinSchema(kind) as PatchSchema, objects: arbitraryOf(definition, 0) as fc.Arbitrary<JsonObject> };
});
const copy = <T>(value: T): T => structuredClone(value);

describe.each(kinds)("$name", ({ schema, objects }) => {
  test("a two-way patch turns the original into the modified object", () => {
    fc.assert(
      fc.property(objects, objects, (original, modified) => {
        const patch = expectOk(createTwoWayStrategicPatch(original, modified, schema));
        expect(expectOk(applyStrategicMergePatch(original, patch, schema))).toEqual(modified);
      }),
      { numRuns: 60 },
    );
  });

  test("the same holds for the text functions", () => {
    fc.assert(
      fc.property(objects, objects, (original, modified) => {
        const patch = expectOk(createTwoWayStrategicPatchText(JSON.stringify(original), JSON.stringify(modified), schema));
        expect(JSON.parse(expectOk(applyStrategicMergePatchText(JSON.stringify(original), patch, schema)))).toEqual(modified);
      }),
      { numRuns: 20 },
    );
  });

  test("a three-way patch without other writers has the effect of a two-way patch", () => {
    fc.assert(
      fc.property(objects, objects, (original, modified) => {
        const patch = expectOk(createThreeWayStrategicPatch({ original, modified, current: original }, schema, { overwrite: true }));
        expect(expectOk(applyStrategicMergePatch(original, patch, schema))).toEqual(modified);
      }),
      { numRuns: 40 },
    );
  });

  test("after a three-way patch another one changes at most the order", () => {
    fc.assert(
      fc.property(objects, objects, objects, (original, modified, current) => {
        const patch = expectOk(createThreeWayStrategicPatch({ original, modified, current }, schema, { overwrite: true }));
        const live = expectOk(applyStrategicMergePatch(current, patch, schema));
        const again = expectOk(createThreeWayStrategicPatch({ original: modified, modified, current: live }, schema, { overwrite: true }));
        const settled = expectOk(applyStrategicMergePatch(live, again, schema));
        expect(expectOk(sortMergeLists(settled, schema))).toEqual(expectOk(sortMergeLists(live, schema)));
      }),
      { numRuns: 30 },
    );
  });

  test("inputs are never changed", () => {
    fc.assert(
      fc.property(objects, objects, objects, (original, modified, current) => {
        const before = copy([original, modified, current]);
        const patch = expectOk(createTwoWayStrategicPatch(original, modified, schema));
        const patchBefore = copy(patch);
        applyStrategicMergePatch(current, patch, schema);
        createThreeWayStrategicPatch({ original, modified, current }, schema);
        sortMergeLists(original, schema);
        strategicPatchesConflict(patch, patch, schema);
        expect([original, modified, current]).toEqual(before);
        expect(patch).toEqual(patchBefore);
      }),
      { numRuns: 30 },
    );
  });
});

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const withoutNulls = (value: Json): Json =>
  JSON.parse(JSON.stringify(value, (_name, field: unknown) => (field === null ? undefined : field)) ?? "{}") as Json;
const hostile = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
const hostileObjects = fc.dictionary(fc.constantFrom(...hostile, "a", "b"), fc.oneof(anyJson, fc.constantFrom({}, [], 1, "x")), {
  maxKeys: 5,
  noNullPrototype: true,
}) as fc.Arbitrary<JsonObject>;

describe("any JSON", () => {
  test("a merge patch turns one object into the other", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anyJson), fc.dictionary(fc.string(), anyJson), (a, b) => {
        const [before, after] = [withoutNulls(a), withoutNulls(b)];
        const patch = expectOk(createMergePatch(before, after));
        expect(JSON.parse(JSON.stringify(expectOk(applyMergePatch(before, patch))))).toEqual(after);
      }),
    );
  });

  test("hostile field names change no prototype, return no inherited property and never throw", () => {
    const schema = kinds[0]?.schema as PatchSchema;
    fc.assert(
      fc.property(hostileObjects, hostileObjects, (original, patch) => {
        for (const result of [
          applyStrategicMergePatch(original, patch, schema),
          createTwoWayStrategicPatch(original, patch, schema),
          applyMergePatch(original, patch),
          createMergePatch(original, patch),
          applyJsonPatch(original, [
            { op: "add", path: "/__proto__", value: patch },
            { op: "copy", from: "/constructor", path: "/x" },
          ]),
        ]) {
          if (result.ok) expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
    const text = applyStrategicMergePatchText('{"a":1}', '{"__proto__":{"polluted":true},"constructor":{"x":1}}', schema);
    expect(text).toEqual({ ok: true, value: '{"__proto__":{"polluted":true},"a":1,"constructor":{"x":1}}' });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("a document nested too deeply is an error, not a crash", () => {
    const schema = kinds[0]?.schema as PatchSchema;
    let deep: Json = {};
    for (let level = 0; level < 20_000; level++) deep = { a: deep };
    const text = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    for (const result of [
      applyStrategicMergePatch(deep, deep, schema),
      createTwoWayStrategicPatch(deep, deep, schema),
      createThreeWayStrategicPatch({ original: deep, modified: deep, current: deep }, schema),
      strategicPatchesConflict(deep, deep, schema),
      sortMergeLists(deep, schema),
      applyMergePatch(deep, deep),
      createMergePatch(deep, deep),
      applyJsonPatch(deep, []),
      applyStrategicMergePatchText(text, "{}", schema),
      createTwoWayStrategicPatchText("{}", text, schema),
    ]) {
      expect(result).toEqual({ ok: false, error: { kind: "too-deep", message: "nested deeper than 1000 levels" } });
    }
  });
});
