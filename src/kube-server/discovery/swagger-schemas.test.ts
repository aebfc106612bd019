import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldAt, type JsonObject } from "#kube";
import { publishedSchemas } from "../custom-resources/index.ts";
import { swaggerSchema } from "./swagger-schemas.ts";

const KEYWORDS = ["default", "nullable", "oneOf", "anyOf", "allOf", "not", "items", "properties", "additionalProperties", "$ref", "type"];
const OTHERS = ["required", "enum", "x-kubernetes-preserve-unknown-fields", "__proto__", "constructor", "toString", ""];

type Tree = { readonly names: readonly string[]; readonly inner: readonly Tree[]; readonly place: "properties" | "items" | "values" };

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    names: fc.uniqueArray(fc.oneof(fc.constantFrom(...KEYWORDS, ...OTHERS), fc.string()), { minLength: 1, maxLength: 4 }),
    inner: fc.oneof({ depthSize: "small" }, fc.constant([]), fc.array(tie("tree"), { maxLength: 3 })),
    place: fc.constantFrom("properties", "items", "values"),
  }),
}));

/** Objects with these names, whose values are the inner trees, directly, in lists or in maps. */
function schemaOf({ names, inner, place }: Tree): JsonObject {
  const own: JsonObject = {
    type: "object",
    default: {},
    oneOf: [{}],
    properties: Object.fromEntries(
      names.map((name, index) => [name, inner[index] === undefined ? { type: "string" } : schemaOf(inner[index])]),
    ),
  };
  if (place === "properties") return own;
  return place === "items" ? { type: "array", items: own } : { type: "object", additionalProperties: own };
}

/** The property names of every level, read from the positions where schemas have properties. */
function namesIn(schema: unknown): unknown {
  const { properties, items, additionalProperties } = schema as JsonObject;
  if (items !== undefined) return ["items", namesIn(items)];
  if (additionalProperties !== undefined) return ["values", namesIn(additionalProperties)];
  return Object.entries(properties ?? {}).map(([name, inner]) => [name, namesIn(inner)]);
}

const KIND = { group: "a.test", version: "v1", kind: "Thing", listKind: "ThingList", plural: "things", selectableFields: [] };

function publishedSpec(spec: JsonObject, version: "v2" | "v3"): unknown {
  const schemas = publishedSchemas({ ...KIND, schema: { type: "object", properties: { spec } } }, version);
  return fieldAt(schemas.get("test.a.v1.Thing"), "properties", "spec");
}

const everyNameSurvives = (publish: (schema: JsonObject) => unknown) => {
  fc.assert(
    fc.property(tree, (given) => {
      expect(namesIn(publish(schemaOf(given)))).toEqual(namesIn(schemaOf(given)));
    }),
  );
};

describe("a property of any name survives", () => {
  test("in the schema of a built-in kind", () => everyNameSurvives(swaggerSchema));
  test("in version 2 of a custom kind", () => everyNameSurvives((schema) => publishedSpec(schema, "v2")));
  test("in version 3 of a custom kind", () => everyNameSurvives((schema) => publishedSpec(schema, "v3")));
});

test.each<{ name: string; given: JsonObject; want: JsonObject }>([
  {
    name: "a wrapped reference is the reference itself",
    given: { description: "d", default: {}, allOf: [{ $ref: "#/components/schemas/a.B" }] },
    want: { description: "d", $ref: "#/definitions/a.B" },
  },
  { name: "a choice of types is a string", given: { oneOf: [{ type: "string" }, { type: "number" }] }, want: { type: "string" } },
  { name: "a reference to elsewhere stays", given: { $ref: "https://a.test/b" }, want: { $ref: "https://a.test/b" } },
  {
    name: "keywords that version 2 lacks are left out at every level",
    given: { type: "array", items: { type: "string", nullable: true, default: "x", not: {} } },
    want: { type: "array", items: { type: "string" } },
  },
])("$name", ({ given, want }) => {
  expect(swaggerSchema(given)).toEqual(want);
});
