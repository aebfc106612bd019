import type { JsonObject } from "#kube";
import { describe, expect, it } from "vitest";
import { crdSchema, openApiSchemas } from "./open-api-schema.ts";
import { deduced, shapeOf, untypedAtomic, type TypeSchema } from "./schema.ts";
import { toFieldSet } from "./to-field-set.ts";
import { encodeFields } from "./fields-v1.ts";
import { validate } from "./validate.ts";

const definitions: Record<string, JsonObject> = {
  JSONSchemaProps: {
    type: "object",
    properties: {
      type: { type: "string" },
      items: { $ref: "#/components/schemas/JSONSchemaProps" },
      properties: { type: "object", additionalProperties: { $ref: "#/components/schemas/JSONSchemaProps" } },
      default: { $ref: "#/components/schemas/JSON" },
    },
  },
  JSON: {},
  Selector: { type: "object", "x-kubernetes-map-type": "atomic", properties: { key: { type: "string" } } },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": { type: "object" },
};
const build = openApiSchemas((ref) => definitions[ref.split("/").at(-1) ?? ""]);
const property = (node: JsonObject): TypeSchema | undefined => build({ type: "object", properties: { it: node } }).map?.field("it");
const fits = (type: TypeSchema | undefined, value: unknown) =>
  type !== undefined && validate(type, value as JsonObject, { allowDuplicates: false }).ok;

describe("openApiSchemas", () => {
  it.each([
    { name: "text", node: { type: "string" }, want: "string" },
    { name: "bytes", node: { type: "string", format: "byte" }, want: "string" },
    { name: "times", node: { type: "string", format: "date-time" }, want: "untyped" },
    { name: "int-or-string of v2", node: { type: "string", format: "int-or-string" }, want: "untyped" },
    { name: "integers", node: { type: "integer", format: "int64" }, want: "numeric" },
    { name: "numbers", node: { type: ["number"] }, want: "numeric" },
    { name: "booleans", node: { type: "boolean" }, want: "boolean" },
    { name: "unknown types", node: { type: "file" }, want: "untyped" },
    { name: "no type", node: {}, want: "untyped" },
    { name: "quantities", node: { $ref: "#/x/io.k8s.apimachinery.pkg.api.resource.Quantity" }, want: "untyped" },
  ])("reads scalars: $name", ({ node, want }) => {
    expect(property(node)?.scalar).toBe(want);
  });

  it.each([
    { name: "no list type", more: {}, want: { kind: "atomic", keys: [] } },
    { name: "atomic", more: { "x-kubernetes-list-type": "atomic" }, want: { kind: "atomic", keys: [] } },
    { name: "set", more: { "x-kubernetes-list-type": "set" }, want: { kind: "set", keys: [] } },
    {
      name: "map",
      more: { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b", "a"] },
      want: { kind: "map", keys: ["b", "a"] },
    },
    { name: "map without keys", more: { "x-kubernetes-list-type": "map" }, want: { kind: "set", keys: [] } },
    {
      name: "merged by key in patches",
      more: { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name" },
      want: { kind: "map", keys: ["name"] },
    },
    { name: "merged by value in patches", more: { "x-kubernetes-patch-strategy": "merge,retainKeys" }, want: { kind: "set", keys: [] } },
    { name: "retainKeys", more: { "x-kubernetes-patch-strategy": "retainKeys" }, want: { kind: "atomic", keys: [] } },
  ])("reads lists: $name", ({ more, want }) => {
    expect(property({ type: "array", items: { type: "object" }, ...more })?.list).toMatchObject(want);
  });

  it("reads the element type of a list; without one any element is allowed", () => {
    expect(property({ type: "array", items: { type: "string" } })?.list?.element.scalar).toBe("string");
    expect(property({ type: "array" })?.list?.element).toBe(untypedAtomic);
  });

  it("resolves references once, with overrides of the map type separately", () => {
    const type = build({
      type: "object",
      properties: {
        a: { $ref: "#/x/Selector" },
        b: { allOf: [{ $ref: "#/x/Selector" }] },
        c: { $ref: "#/x/Selector", "x-kubernetes-map-type": "granular" },
      },
    });
    expect(type.map?.field("a")).toBe(type.map?.field("b"));
    expect(type.map?.field("a")?.map?.atomic).toBe(true);
    expect(type.map?.field("c")?.map?.atomic).toBe(false);
  });

  it("expands recursive types only as deep as they are used", () => {
    const type = build({ $ref: "#/components/schemas/JSONSchemaProps" });
    const inner = type.map?.field("properties")?.map?.element?.map?.field("items");
    expect(inner).toBe(type.map?.field("items"));
    expect(encodeFields(toFieldSet(type, { properties: { a: { items: { type: "x" } } }, default: [1] }))).toEqual({
      "f:default": {},
      "f:properties": { "f:a": { ".": {}, "f:items": { "f:type": {} } } },
    });
  });

  it.each([
    { name: "nothing declared allows everything", node: { type: "object" }, value: { x: [1] }, want: true },
    {
      name: "declared fields allow no others",
      node: { type: "object", properties: { y: { type: "string" } } },
      value: { x: 1 },
      want: false,
    },
    {
      name: "additionalProperties: true allows others",
      node: { type: "object", properties: { y: {} }, additionalProperties: true },
      value: { x: 1 },
      want: true,
    },
    {
      name: "additionalProperties: false allows none",
      node: { type: "object", additionalProperties: false },
      value: { x: 1 },
      want: false,
    },
    {
      name: "additionalProperties may have a type",
      node: { type: "object", additionalProperties: { type: "string" } },
      value: { x: 1 },
      want: false,
    },
    {
      name: "raw extensions are anything",
      node: { $ref: "#/x/io.k8s.apimachinery.pkg.runtime.RawExtension" },
      value: { x: 1 },
      want: true,
    },
    { name: "an unresolved reference allows nothing", node: { $ref: "#/x/Nope" }, value: {}, want: false },
    {
      name: "unknown fields stay allowed below where they are preserved",
      node: { "x-kubernetes-preserve-unknown-fields": true, type: "object", properties: { in: { type: "object", properties: { q: {} } } } },
      value: { in: { z: 1 } },
      want: true,
    },
  ])("fields: $name", ({ node, value, want }) => {
    expect(fits(property(node), value)).toBe(want);
  });

  it("does not resolve names of prototype properties", () => {
    const type = build({ type: "object", properties: { a: { type: "string" } } });
    expect(["constructor", "toString", "__proto__"].map((name) => type.map?.field(name))).toEqual([undefined, undefined, undefined]);
    expect(fits(type, JSON.parse('{"__proto__": {"polluted": 1}}'))).toBe(false);
  });
});

describe("crdSchema", () => {
  const type = crdSchema({
    type: "object",
    properties: {
      metadata: { type: "object" },
      spec: {
        type: "object",
        properties: {
          any: { "x-kubernetes-int-or-string": true },
          pod: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    },
  });

  it("adds the fields of every object, also to embedded objects", () => {
    const metadata = { name: "x", finalizers: ["f"], ownerReferences: [{ uid: "u", name: "o" }] };
    const object = {
      apiVersion: "a/v1",
      kind: "K",
      metadata,
      spec: { any: 1, pod: { apiVersion: "v1", metadata: { labels: { l: "1" } }, more: 1 } },
    };
    expect(fits(type, object)).toBe(true);
    expect(encodeFields(toFieldSet(type, object))).toMatchObject({
      "f:metadata": { "f:finalizers": { 'v:"f"': {} }, "f:ownerReferences": { 'k:{"uid":"u"}': {} } },
      "f:spec": { "f:any": {}, "f:pod": { "f:apiVersion": {}, "f:metadata": { "f:labels": { "f:l": {} } }, "f:more": {} } },
    });
  });

  it("keeps metadata strict even where unknown fields are preserved", () => {
    expect(fits(type, { spec: { pod: { metadata: { nope: 1 } } } })).toBe(false);
    expect(
      fits(crdSchema({ type: "object", properties: { spec: { type: "object", properties: {} } } }, { preserveUnknownFields: true }), {
        other: 1,
      }),
    ).toBe(true);
  });

  it("is deduced from the object without a schema", () => {
    expect(encodeFields(toFieldSet(crdSchema(undefined), { a: { b: [1] } }))).toEqual({ "f:a": { ".": {}, "f:b": {} } });
  });
});

describe("shapeOf", () => {
  it("follows the value if the type allows it, else uses the first kind of the type", () => {
    expect([1, "x", true].map((value) => shapeOf(deduced, value))).toEqual(["scalar", "scalar", "scalar"]);
    expect([[], {}, null, undefined].map((value) => shapeOf(deduced, value))).toEqual(["list", "map", "map", "map"]);
    expect(shapeOf({ scalar: "string", list: undefined, map: undefined }, {})).toBe("scalar");
    expect(shapeOf({ scalar: undefined, list: undefined, map: undefined }, {})).toBeUndefined();
  });
});
