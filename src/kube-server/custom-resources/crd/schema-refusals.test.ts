/** Schemas of CRDs that are refused, with the messages of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { crdOf, crdOfSpec, refusalsOf } from "../widget.test-support.ts";

const AT = "spec.validation.openAPIV3Schema";
const spec = (property: JsonObject): JsonObject => crdOf({ type: "object", properties: { spec: property } });

const REFUSED: readonly { readonly name: string; readonly given: JsonObject; readonly want: readonly string[] }[] = [
  {
    name: "a root that is no object",
    given: crdOf({ type: "string" }),
    want: [`${AT}.type: Invalid value: "string": must be object at the root`],
  },
  {
    name: "a field without a type",
    given: spec({}),
    want: [`${AT}.properties[spec].type: Required value: must not be empty for specified object fields`],
  },
  {
    name: "items without a type",
    given: spec({ type: "array", items: {} }),
    want: [`${AT}.properties[spec].items.type: Required value: must not be empty for specified array items`],
  },
  {
    name: "an array without items",
    given: spec({ type: "array" }),
    want: [`${AT}.properties[spec].items: Required value: must be specified`],
  },
  {
    name: "a type inside anyOf",
    given: spec({ type: "string", anyOf: [{ type: "string" }] }),
    want: [`${AT}.properties[spec].anyOf[0].type: Forbidden: must be empty to be structural`],
  },
  {
    name: "a field only inside allOf",
    given: crdOf({ type: "object", allOf: [{ properties: { a: { maxLength: 1 } } }] }),
    want: [`${AT}.properties[a]: Required value: because it is defined in ${AT}.allOf[0].properties[a]`],
  },
  {
    name: "an unknown type",
    given: spec({ type: "text" }),
    want: [
      `${AT}.properties[spec].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  },
  {
    name: "a reference",
    given: spec({ type: "object", $ref: "#/a" }),
    want: [`${AT}.properties[spec].$ref: Forbidden: $ref is not supported`],
  },
  {
    name: "unique items",
    given: spec({ type: "array", uniqueItems: true, items: { type: "string" } }),
    want: [
      `${AT}.properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  },
  {
    name: "properties beside additionalProperties",
    given: spec({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
    want: [`${AT}.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  },
  {
    name: "an invalid pattern",
    given: spec({ type: "string", pattern: "(" }),
    want: [
      `${AT}.properties[spec].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
    ],
  },
  {
    name: "a default of another type",
    given: spec({ type: "string", default: 5 }),
    want: [`${AT}.properties[spec].default: Invalid value: "integer":  in body must be of type string: "integer"`],
  },
  {
    name: "a default with unknown fields",
    given: spec({ type: "object", default: { a: 1 } }),
    want: [`${AT}.properties[spec].default: Invalid value: {"a":1}: must not have unknown fields`],
  },
  {
    name: "a default that a rule refuses",
    given: spec({ type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self > 3", message: "small" }] }),
    want: [`${AT}.properties[spec].default: Invalid value: 1: small`],
  },
  {
    name: "a default of metadata",
    given: crdOf({ type: "object", properties: { metadata: { type: "object", properties: { name: { type: "string", default: "x" } } } } }),
    want: [`${AT}.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata`],
  },
  {
    name: "a restriction of metadata other than names",
    given: crdOf({ type: "object", properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } } }),
    want: [
      `${AT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  },
  {
    name: "a list map without keys",
    given: spec({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } }),
    want: [`${AT}.properties[spec].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
  },
  {
    name: "a key that is optional",
    given: spec({
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" } } },
    }),
    want: [
      `${AT}.properties[spec].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  },
  {
    name: "a set of objects that are not atomic",
    given: spec({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    want: [
      `${AT}.properties[spec].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  },
  {
    name: "an empty rule",
    given: crdOfSpec({}, { "x-kubernetes-validations": [{ rule: "" }] }),
    want: [`${AT}.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified`],
  },
  {
    name: "a blank message",
    given: crdOfSpec({}, { "x-kubernetes-validations": [{ rule: "true", message: " " }] }),
    want: [`${AT}.properties[spec].x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified`],
  },
  {
    name: "a rule that is no boolean",
    given: spec({ type: "string", "x-kubernetes-validations": [{ rule: "self" }] }),
    want: [
      `${AT}.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool`,
    ],
  },
  {
    name: "a fieldPath without a field",
    given: crdOfSpec({ a: { type: "string" } }, { "x-kubernetes-validations": [{ rule: "true", fieldPath: ".b" }] }),
    want: [`${AT}.properties[spec].x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path`],
  },
  {
    name: "oldSelf in a list without keys",
    given: spec({
      type: "array",
      maxItems: 5,
      items: { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
    }),
    want: [
      `${AT}.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${AT}.properties[spec]`,
    ],
  },
];

describe("a schema is refused for", () => {
  test.each(REFUSED)("$name", ({ given, want }) => {
    expect(refusalsOf(given)).toEqual(want);
  });

  test("rules that could cost too much, one by one and together", () => {
    const rule = { rule: 'self.all(x, self.all(y, x.all(z, z.contains("a"))))' };
    const list = { type: "array", items: { type: "array", items: { type: "string" } }, "x-kubernetes-validations": [rule] };
    const [alone, part, together] = refusalsOf(crdOfSpec({ l: list }));
    expect(alone).toContain("Forbidden: estimated rule cost exceeds budget by factor of more than 100x");
    expect(part).toContain("contributed to estimated rule cost total exceeding cost limit");
    expect(together).toContain(`${AT}: Forbidden: x-kubernetes-validations estimated rule cost total`);
  });
});
