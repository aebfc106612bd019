/** Published schemas, as kube-apiserver 1.36.3 publishes them. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { modelName, publishedSchemas, type PublishedKind } from "./openapi.ts";

const KIND: PublishedKind = {
  group: "widgets.lattice.test",
  version: "v1",
  kind: "Widget",
  listKind: "WidgetList",
  plural: "widgets",
  schema: undefined,
  selectableFields: [],
};
const NAME = "test.lattice.widgets.v1.Widget";

/** The schema of `spec.x` as it is published. */
function published(version: "v2" | "v3", x: JsonObject, more: JsonObject = {}): unknown {
  const schema = { type: "object", properties: { spec: { type: "object", properties: { x }, ...more } } };
  const all = publishedSchemas({ ...KIND, schema }, version).get(NAME) as { properties: { spec: { properties: { x: JsonObject } } } };
  return Object.keys(more).length === 0 ? all.properties.spec.properties.x : all.properties.spec;
}

test("the name of a model begins with its reversed group", () => {
  expect(modelName(KIND)).toBe(NAME);
});

test("a kind and its list are published with their group, version and kind", () => {
  const schemas = publishedSchemas({ ...KIND, schema: { type: "object", description: "A widget." }, selectableFields: [".spec.a"] }, "v3");
  expect([...schemas.keys()]).toEqual([NAME, `${NAME}List`]);
  expect(schemas.get(NAME)).toMatchObject({
    description: "A widget.",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }] },
    },
    "x-kubernetes-group-version-kind": [{ group: "widgets.lattice.test", kind: "Widget", version: "v1" }],
    "x-kubernetes-selectable-fields": [{ fieldPath: "spec.a" }],
  });
  expect(schemas.get(`${NAME}List`)).toMatchObject({
    description: "WidgetList is a list of Widget",
    required: ["items"],
    properties: { items: { type: "array", items: { $ref: `#/components/schemas/${NAME}` } } },
    "x-kubernetes-group-version-kind": [{ kind: "WidgetList" }],
  });
});

test("a kind without a schema is an object", () => {
  expect(publishedSchemas(KIND, "v2").get(NAME)).toEqual({
    type: "object",
    "x-kubernetes-group-version-kind": [{ group: "widgets.lattice.test", kind: "Widget", version: "v1" }],
  });
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "string" } } };
  expect(publishedSchemas({ ...KIND, schema: open }, "v2").get(NAME)).not.toHaveProperty("properties");
});

describe("version 3", () => {
  const both = [{ type: "integer" }, { type: "string" }];
  const ios = { "x-kubernetes-int-or-string": true };
  test.each([
    {
      name: "keeps the keywords of a field",
      given: { type: "string", nullable: true, default: "a" },
      want: { type: "string", nullable: true, default: "a" },
    },
    { name: "writes int-or-string as anyOf", given: ios, want: { ...ios, anyOf: both } },
    { name: "does not change an explicit anyOf", given: { ...ios, anyOf: both }, want: { ...ios, anyOf: both } },
    { name: "does not change one inside allOf", given: { ...ios, allOf: [{ anyOf: both }] }, want: { ...ios, allOf: [{ anyOf: both }] } },
    {
      name: "adds it as allOf next to another anyOf",
      given: { ...ios, anyOf: [{ minLength: 1 }] },
      want: { ...ios, anyOf: [{ minLength: 1 }], allOf: [{ anyOf: both }] },
    },
    {
      name: "includes lists and maps",
      given: { type: "array", items: { type: "object", additionalProperties: ios } },
      want: { type: "array", items: { type: "object", additionalProperties: { ...ios, anyOf: both } } },
    },
  ])("$name", ({ given, want }) => {
    expect(published("v3", given)).toEqual(want);
  });
  test("has the fields of an embedded resource", () => {
    const given = { type: "object", "x-kubernetes-embedded-resource": true, required: ["kind"] };
    expect(published("v3", given)).toMatchObject({
      required: ["kind", "apiVersion"],
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: {} },
    });
  });
});

describe("version 2", () => {
  test.each([
    {
      name: "has no combinations and no defaults",
      given: { type: "string", anyOf: [{}], default: "a", maxLength: 1 },
      want: { type: "string", maxLength: 1 },
    },
    { name: "has no keywords for a nullable field", given: { type: "object", nullable: true, properties: { a: {} } }, want: {} },
    {
      name: "omits everything below a field that preserves unknown fields",
      given: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: {} } },
      want: { "x-kubernetes-preserve-unknown-fields": true },
    },
    { name: "has no arrays of anything", given: { type: "array" }, want: {} },
  ])("$name", ({ given, want }) => {
    expect(published("v2", given)).toEqual(want);
  });
  test("does not require nullable fields", () => {
    expect(published("v2", { type: "string", nullable: true }, { required: ["x"] })).not.toHaveProperty("required");
    expect(published("v2", { type: "string" }, { required: ["x"] })).toHaveProperty("required", ["x"]);
  });
  test("refers to definitions", () => {
    const schemas = publishedSchemas({ ...KIND, schema: { type: "object" } }, "v2");
    expect(JSON.stringify([...schemas.values()])).toContain('"$ref":"#/definitions/test.lattice.widgets.v1.Widget"');
  });
});
