import { describe, expect, it } from "vitest";
import * as z from "zod";
import { latticeKinds } from "./kinds.ts";
import { below, toStructural, type Structural } from "./structural.ts";

type Visit = (path: string, schema: Structural) => void;

function walk(path: string, schema: Structural, visit: Visit): void {
  visit(path, schema);
  for (const [name, field] of Object.entries(schema.properties ?? {})) walk(`${path}.${name}`, field, visit);
  if (schema.items !== undefined) walk(`${path}[]`, schema.items, visit);
  if (schema.additionalProperties !== undefined) walk(`${path}{}`, schema.additionalProperties, visit);
}

function findIn(wrong: (schema: Structural) => boolean): readonly string[] {
  const found: string[] = [];
  for (const { kind, crd } of latticeKinds) {
    const root = crd().spec.versions[0]?.schema.openAPIV3Schema ?? {};
    walk(kind, root, (path, schema) => {
      if (wrong(schema) && !/^\w+\.(apiVersion|kind|metadata)$/.test(path)) found.push(path);
    });
  }
  return found;
}

describe("every schema", () => {
  it("describes every field", () => {
    expect(findIn((schema) => (schema.description ?? "") === "")).toEqual([]);
  });

  it("ends every description with a full stop", () => {
    expect(findIn((schema) => !(schema.description ?? ".").endsWith("."))).toEqual([]);
  });

  it("limits every string, list and map", () => {
    expect(findIn(({ type, enum: values, maxLength }) => type === "string" && values === undefined && maxLength === undefined)).toEqual([]);
    expect(findIn(({ type, maxItems }) => type === "array" && maxItems === undefined)).toEqual([]);
    expect(
      findIn(({ type, properties, maxProperties }) => type === "object" && properties === undefined && maxProperties === undefined),
    ).toEqual([]);
  });

  it("bounds every number", () => {
    expect(findIn(({ type, minimum }) => type === "integer" && minimum === undefined)).toEqual([]);
  });

  it("sets the list type of every list", () => {
    expect(findIn((schema) => schema.type === "array" && schema["x-kubernetes-list-type"] === undefined)).toEqual([]);
  });

  it("gives every value a type, or preserves unknown fields", () => {
    const typed = (schema: Structural) => schema.type !== undefined || schema["x-kubernetes-int-or-string"] === true;
    expect(findIn((schema) => !typed(schema))).toEqual([]);
  });
});

describe("toStructural", () => {
  const rows: { name: string; given: z.ZodType; want: Structural }[] = [
    { name: "integers lose the bounds of JavaScript", given: z.int(), want: { type: "integer" } },
    { name: "patterns lose needless escapes", given: z.string().regex(/^\/a$/), want: { type: "string", pattern: "^/a$" } },
    { name: "closed objects are what a structural schema is anyway", given: z.strictObject({}), want: { type: "object", properties: {} } },
    {
      name: "what has a default is not required",
      given: z.strictObject({ a: z.string(), b: z.string().default("c"), d: z.strictObject({ e: z.int().default(1) }).prefault({}) }),
      want: {
        type: "object",
        required: ["a"],
        properties: {
          a: { type: "string" },
          b: { type: "string", default: "c" },
          d: { type: "object", default: {}, properties: { e: { type: "integer", default: 1 } } },
        },
      },
    },
    { name: "a literal is an enum of one", given: z.literal("a"), want: { type: "string", enum: ["a"] } },
    {
      name: "int-or-string has no type beside it",
      given: z.union([z.int(), z.string()]).meta({ "x-kubernetes-int-or-string": true, maximum: 5 }),
      want: { "x-kubernetes-int-or-string": true, maximum: 5 },
    },
    {
      name: "free-form objects say so",
      given: z.record(z.string(), z.unknown()).meta({ "x-kubernetes-preserve-unknown-fields": true }),
      want: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(toStructural(given)).toEqual(want);
  });

  it.each([
    { given: z.string().regex(/a/).regex(/b/), want: "allOf" },
    { given: z.union([z.string(), z.boolean()]), want: "anyOf" },
  ])("stops at $want, because a cluster would refuse it", ({ given, want }) => {
    expect(() => toStructural(given)).toThrow(`a CRD schema cannot say ${want}`);
  });
});

describe("below", () => {
  const schema: Structural = {
    properties: { a: { type: "string" } },
    additionalProperties: { type: "integer" },
    items: { type: "boolean" },
  };
  it("prefers a field over a map entry, and finds items", () => {
    expect([below(schema, "a"), below(schema, "b"), below(schema, 0), below(undefined, "a")].map((found) => found?.type)).toEqual([
      "string",
      "integer",
      "boolean",
      undefined,
    ]);
  });

  it("returns undefined for an unknown field", () => {
    expect(below({ properties: {} }, "constructor")).toBeUndefined();
  });
});
