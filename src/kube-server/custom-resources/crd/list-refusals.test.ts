/** Lists, maps, embedded resources and rules that a schema may not declare, with the messages of kube-apiserver 1.36.3. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { crdOf, crdOfSpec, refusalsOf } from "../widget.test-support.ts";

const AT = "spec.validation.openAPIV3Schema.properties[spec]";
const spec = (property: JsonObject): JsonObject => crdOf({ type: "object", properties: { spec: property } });
const STRING = { type: "string" };
const MAP = { type: "array", "x-kubernetes-list-type": "map" };
const keyed = (keys: readonly string[], items: JsonObject): JsonObject => spec({ ...MAP, "x-kubernetes-list-map-keys": keys, items });
const ruled = (more: JsonObject): JsonObject =>
  crdOfSpec({ a: { type: "string", maxLength: 3 } }, { "x-kubernetes-validations": [{ rule: "true", ...more }] });
const RULE = `${AT}.x-kubernetes-validations[0]`;
const starting = (text: string): string => expect.stringContaining(text) as string;

describe("a schema is refused for", () => {
  test.each<{ name: string; given: JsonObject; want: readonly string[] }>([
    {
      name: "a list type of a field that is no list",
      given: spec({ type: "string", "x-kubernetes-list-type": "atomic" }),
      want: [`${AT}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`],
    },
    {
      name: "an unknown list type",
      given: spec({ type: "array", "x-kubernetes-list-type": "bag", items: STRING }),
      want: [`${AT}.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`],
    },
    {
      name: "keys of a set",
      given: spec({ type: "array", "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"], items: STRING }),
      want: [`${AT}.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty`],
    },
    {
      name: "keys of any list",
      given: spec({ type: "array", "x-kubernetes-list-map-keys": ["a"], items: STRING }),
      want: [`${AT}.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`],
    },
    {
      name: "a set of lists that are not atomic",
      given: spec({
        type: "array",
        "x-kubernetes-list-type": "set",
        items: { type: "array", "x-kubernetes-list-type": "set", items: STRING },
      }),
      want: [`${AT}.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set`],
    },
    {
      name: "a set with null",
      given: spec({ type: "array", "x-kubernetes-list-type": "set", items: { type: "string", nullable: true } }),
      want: [`${AT}.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set`],
    },
    {
      name: "keys of items that are no objects",
      given: keyed(["a"], STRING),
      want: [`${AT}.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`],
    },
    {
      name: "keys that are no fields, or twice",
      given: keyed(["a", "b", "b"], { type: "object", required: ["b"], properties: { b: STRING } }),
      want: [
        `${AT}.x-kubernetes-list-map-keys: Invalid value: ["a","b","b"]: entries must all be names of item properties`,
        `${AT}.x-kubernetes-list-map-keys: Invalid value: ["a","b","b"]: must not contain duplicate entries`,
      ],
    },
    {
      name: "keys that are objects",
      given: keyed(["a"], { type: "object", required: ["a"], properties: { a: { type: "object" } } }),
      want: [
        `${AT}.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
      ],
    },
    {
      name: "keys that may be null",
      given: keyed(["a"], { type: "object", required: ["a"], properties: { a: { type: "string", nullable: true } } }),
      want: [`${AT}.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`],
    },
    {
      name: "an unknown map type",
      given: spec({ type: "object", "x-kubernetes-map-type": "odd" }),
      want: [`${AT}.x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"`],
    },
    {
      name: "a map type of a field that is no map",
      given: spec({ type: "string", "x-kubernetes-map-type": "atomic" }),
      want: [`${AT}.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`],
    },
    {
      name: "x-kubernetes-preserve-unknown-fields false",
      given: spec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
      want: [`${AT}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
    },
    {
      name: "an embedded resource that is a text",
      given: spec({ type: "string", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
      want: [`${AT}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`],
    },
    {
      name: "a kind that is no text",
      given: spec({ type: "object", "x-kubernetes-embedded-resource": true, properties: { kind: { type: "integer" }, metadata: STRING } }),
      want: [
        `${AT}.properties[kind].type: Invalid value: "integer": must be string`,
        `${AT}.properties[metadata].type: Invalid value: "string": must be object`,
      ],
    },
    {
      name: "int-or-string that is also something else",
      given: spec({ "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true }),
      want: [`${AT}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`],
    },
    {
      name: "a rule of two lines without a message",
      given: ruled({ rule: "true\n|| true" }),
      want: [`${RULE}.message: Required value: message must be specified if rule contains line breaks`],
    },
    {
      name: "a message of two lines",
      given: ruled({ message: "a\nb" }),
      want: [`${RULE}.message: Invalid value: "a\\nb": must not contain line breaks`],
    },
    {
      name: "an empty message expression",
      given: ruled({ messageExpression: " " }),
      want: [`${RULE}.messageExpression: Required value: messageExpression must be non-empty if specified`],
    },
    {
      name: "a message expression of another type than string",
      given: ruled({ messageExpression: "1" }),
      want: [starting(`messageExpression must evaluate to a string`)],
    },
    {
      name: "an unknown reason",
      given: ruled({ reason: "Odd" }),
      want: [
        `${RULE}.reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    },
    {
      name: "optionalOldSelf without oldSelf",
      given: ruled({ optionalOldSelf: true }),
      want: [`${RULE}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
    },
    {
      name: "null at the root",
      given: crdOf({ type: "object", nullable: true }),
      want: ["spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root"],
    },
  ])("$name", ({ given, want }) => {
    expect(refusalsOf(given)).toEqual(want);
  });
});
