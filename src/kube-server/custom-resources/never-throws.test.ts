/** For any input: nothing throws, the input is not changed, and the names of JavaScript's own properties have no effect. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { matchesFormat, parseExpression } from "#cel";
import { admitCrd } from "./crd/admit.ts";
import { customResourceTypes } from "./resource/custom-resource-type.ts";
import { parseJsonPath } from "./resource/json-path.ts";
import { admitted, create, crdOf, crdOfSpec, linesOf, refusalsOf, typeOf, update, widget } from "./widget.test-support.ts";

const names = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "a", "spec", "metadata", "items", "k"),
  fc.string({ maxLength: 4 }),
);
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, -1, 1.5, 1e300, "", "x", "2020-01-01T00:00:00Z"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie("value")), { maxLength: 4 }).map((entries): Json => Object.fromEntries(entries)),
  ),
})).value;

const KEYWORDS =
  "type properties items additionalProperties enum default anyOf oneOf allOf not required format nullable pattern maximum multipleOf x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-validations x-kubernetes-int-or-string x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource __proto__";
const keywords = fc.constantFrom(...KEYWORDS.split(" "));
const schema = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc
    .tuple(
      fc.constantFrom("object", "array", "string", "integer", "number", "boolean", "odd"),
      fc.option(fc.array(fc.tuple(names, tie("schema")), { maxLength: 3 }), { nil: undefined, maxDepth: 3 }),
      fc.option(tie("schema"), { nil: undefined, maxDepth: 3 }),
      fc.array(fc.tuple(keywords, json), { maxLength: 2 }),
    )
    .map(([type, properties, items, more]): JsonObject => ({
      type,
      ...(properties === undefined ? {} : { properties: Object.fromEntries(properties) }),
      ...(items === undefined ? {} : { items }),
      ...Object.fromEntries(more),
    })),
})).schema;

const FIELDS = {
  a: { type: "string", format: "ipv4", maxLength: 4 },
  k: { type: "array", items: { type: "object", properties: { a: { type: "integer", default: 1 } } } },
  items: { type: "object", additionalProperties: { type: "number", minimum: 0 } },
  metadata: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
};
const type = typeOf(
  crdOfSpec(FIELDS, { "x-kubernetes-validations": [{ rule: "!has(self.a) || self.a == oldSelf.a" }, { rule: "has(self.a)" }] }),
);

function frozen(value: Json): Json {
  if (Array.isArray(value)) value.forEach(frozen);
  else if (isJsonObject(value)) Object.values(value).forEach((item) => frozen(item ?? null));
  return Object.freeze(value);
}

describe("for any input", () => {
  test("a custom resource is accepted or refused, and not changed", () => {
    fc.assert(
      fc.property(json, json, (spec, metadata) => {
        const given = frozen(widget(spec, { metadata }));
        const result = create(type, given);
        if (result.status !== 200) return;
        expect(update(type, frozen(result.object) as JsonObject, frozen(result.object) as JsonObject).status).not.toBe(400);
      }),
      { numRuns: 300 },
    );
  });
  test("a CRD is accepted or refused, and an accepted one can be used", () => {
    fc.assert(
      fc.property(schema, json, (given, object) => {
        const result = admitCrd(frozen(crdOf(given)));
        if (!result.ok) return;
        for (const one of customResourceTypes(result.value.object as unknown as KubeObject)) create(one, frozen(widget(object)));
      }),
      { numRuns: 300 },
    );
  });
  test("a CRD may be any JSON", () => {
    fc.assert(
      fc.property(json, json, (whole, spec) => {
        admitCrd(whole);
        admitCrd({ ...crdOf({ type: "object" }), spec });
      }),
    );
  });
  test("an expression, a path and a format are parsed or refused", () => {
    const tokens = fc.constantFrom(
      "self",
      "a",
      ".",
      "[",
      "]",
      "(",
      ")",
      "{",
      "}",
      "?",
      ":",
      ",",
      "1",
      "'x'",
      "in",
      "&&",
      "==",
      "-",
      "!",
      "b'",
      '"""',
      "1u",
      "0x",
      "1e",
      "\\",
      "@",
      " ",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(tokens).map((list) => list.join("")),
        ),
        (text) => {
          parseExpression(text);
          parseJsonPath(text);
          for (const format of ["uri", "email", "date-time", "duration", "cidr", "hostname"]) matchesFormat(format, text);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("names of JavaScript's own properties", () => {
  const given = JSON.parse('{"__proto__":{"a":"b"},"constructor":1,"a":"1234"}') as JsonObject;
  test("are ordinary unknown fields", () => {
    const result = create(typeOf(crdOfSpec({ a: { type: "string" } })), widget(given));
    expect(result).toMatchObject({ status: 200, findings: ['unknown field "spec.__proto__"', 'unknown field "spec.constructor"'] });
    expect(result.status === 200 ? result.object["spec"] : undefined).toEqual({ a: "1234" });
    expect(Object.hasOwn(Object.prototype, "a")).toBe(false);
  });
  test("are kept under preserve-unknown-fields", () => {
    const open = typeOf(crdOf({ type: "object", properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } }));
    const result = create(open, widget(given));
    expect(JSON.stringify(result.status === 200 ? result.object["spec"] : undefined)).toBe(JSON.stringify(given));
  });
  test("can be fields of a schema", () => {
    const properties = JSON.parse('{"__proto__":{"type":"integer"},"toString":{"type":"string"}}') as JsonObject;
    const named = typeOf(crdOfSpec(properties, { required: ["__proto__", "toString"] }));
    expect(linesOf(create(named, widget({})))).toEqual(["spec.__proto__: Required value", "spec.toString: Required value"]);
  });
});

describe("nesting that is too deep", () => {
  function nested(levels: number, wrap: (inner: JsonObject) => JsonObject): JsonObject {
    let value: JsonObject = { type: "string" };
    for (let level = 0; level < levels; level++) value = wrap(value);
    return value;
  }
  test("is an error for objects and for schemas", () => {
    expect(linesOf(create(type, widget(nested(500, (inner) => ({ a: inner })))))).toEqual(["json: exceeded max depth"]);
    expect(refusalsOf(crdOf(nested(500, (inner) => ({ type: "array", items: inner }))))).toEqual(["json: exceeded max depth"]);
  });
  test("is an error for expressions", () => {
    const [line] = refusalsOf(crdOfSpec({}, { "x-kubernetes-validations": [{ rule: `${"(".repeat(5000)}true${")".repeat(5000)}` }] }));
    expect(line).toContain("x-kubernetes-validations[0].rule: Invalid value");
  });
  test("has a limit above the depth of real schemas", () => {
    const deep = nested(20, (inner) => ({ type: "object", properties: { a: inner } }));
    expect(admitted(crdOf(deep)).findings).toEqual([]);
  });
});
