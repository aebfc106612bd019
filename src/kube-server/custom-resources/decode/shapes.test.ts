/** JSON in the shape of Go structs. */
import { describe, expect, test } from "vitest";
import type { Json } from "#kube";
import { OBJECT_META } from "./object-meta-shape.ts";
import { SCHEMA } from "./schema-shape.ts";
import { readShape } from "../../protocol/shapes.ts";

describe("a struct", () => {
  test.each<{ name: string; given: Json; want: Json }>([
    {
      name: "loses empty fields and has Go's order",
      given: { labels: {}, namespace: "", uid: "u", name: "x" },
      want: { name: "x", uid: "u" },
    },
    { name: "loses nulls", given: { name: null, labels: null, creationTimestamp: null }, want: {} },
    {
      name: "gets required fields",
      given: { ownerReferences: [{ name: "o" }, null] },
      want: {
        ownerReferences: [
          { apiVersion: "", kind: "", name: "o", uid: "" },
          { apiVersion: "", kind: "", name: "", uid: "" },
        ],
      },
    },
    {
      name: "has empty texts for nulls in maps and lists",
      given: { labels: { a: null }, finalizers: [null] },
      want: { labels: { a: "" }, finalizers: [""] },
    },
    {
      name: "keeps fieldsV1 of managers",
      given: { managedFields: [{ manager: "m", time: "2020-01-01T00:00:00Z", fieldsV1: { "f:a": {} } }] },
      want: {
        managedFields: [{ manager: "m", time: "2020-01-01T00:00:00Z", fieldsV1: { "f:a": {} } }],
      },
    },
  ])("$name", ({ given, want }) => {
    const read = readShape(OBJECT_META, given);
    expect(read.ok ? read.value.value : read).toEqual(want);
  });

  test("reports unknown fields", () => {
    expect(readShape(OBJECT_META, { a: 1, ownerReferences: [{ b: 1 }] })).toMatchObject({
      value: { unknown: ["a", "ownerReferences[0].b"] },
    });
  });

  test.each<{ given: Json; want: string }>([
    { given: 5, want: "json: cannot unmarshal number into Go value of type v1.ObjectMeta" },
    { given: { name: true }, want: "json: cannot unmarshal bool into Go struct field ObjectMeta.name of type string" },
    { given: { finalizers: "x" }, want: "json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string" },
    { given: { labels: [] }, want: "json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string" },
    { given: { labels: { a: {} } }, want: "json: cannot unmarshal object into Go struct field ObjectMeta.labels of type string" },
    { given: { generation: 1.5 }, want: "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64" },
    { given: { generation: "1" }, want: "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64" },
    {
      given: { creationTimestamp: 5 },
      want: "json: cannot unmarshal number into Go struct field ObjectMeta.creationTimestamp of type string",
    },
    {
      given: { ownerReferences: [{ controller: 1 }] },
      want: "json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.controller of type bool",
    },
  ])("is not $given", ({ given, want }) => {
    expect(readShape(OBJECT_META, given)).toEqual({ ok: false, error: want });
  });
});

describe("a schema", () => {
  const read = (given: Json): Json => {
    const result = readShape(SCHEMA, given);
    return result.ok ? result.value.value : result.error;
  };
  test("may have a boolean for additionalProperties, and a list of schemas for items", () => {
    expect(read({ additionalProperties: true, additionalItems: false })).toEqual({ additionalProperties: true, additionalItems: false });
    expect(read({ items: [{ type: "string" }, "x"] })).toEqual({ items: [{ type: "string" }, "x"] });
    expect(read({ items: "x" })).toEqual({});
    expect(read({ dependencies: { a: ["b"], c: { type: "string" } } })).toEqual({ dependencies: { a: ["b"], c: { type: "string" } } });
  });
  test("is not anything else", () => {
    expect(read({ additionalProperties: 5 })).toBe("boolean or JSON schema expected");
    expect(read({ items: [{ type: 5 }] })).toBe("json: cannot unmarshal number into Go struct field JSONSchemaProps.type of type string");
    expect(read({ items: { type: 5 } })).toBe("json: cannot unmarshal number into Go struct field JSONSchemaProps.type of type string");
  });
});
