/** An object with a field of every type, and functions that run rules on it. Only for tests. */
import type { Json, JsonObject } from "#kube";
import { create, crdOfSpec, linesOf, typeOf, widget } from "../widget.test-support.ts";

export const FIELDS: JsonObject = {
  s: { type: "string", maxLength: 30 },
  s2: { type: "string", maxLength: 30 },
  i: { type: "integer" },
  j: { type: "integer" },
  d: { type: "number" },
  b: { type: "boolean" },
  l: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
  li: { type: "array", maxItems: 10, items: { type: "integer" } },
  m: { type: "object", maxProperties: 10, additionalProperties: { type: "integer" } },
  o: { type: "object", properties: { x: { type: "string", maxLength: 5 }, y: { type: "string", maxLength: 5 } } },
  lo: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: { type: "object", required: ["k"], properties: { k: { type: "string", maxLength: 5 }, v: { type: "integer" } } },
  },
  set: { type: "array", maxItems: 5, "x-kubernetes-list-type": "set", items: { type: "string", maxLength: 5 } },
  ios: { "x-kubernetes-int-or-string": true, maxLength: 5 },
  ios2: { "x-kubernetes-int-or-string": true, maxLength: 5 },
  ts: { type: "string", format: "date-time" },
  date: { type: "string", format: "date" },
  du: { type: "string", format: "duration" },
  by: { type: "string", format: "byte", maxLength: 20 },
  nn: { type: "string", nullable: true, maxLength: 5 },
  missing: { type: "string", maxLength: 5 },
  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
};

export const SPEC: JsonObject = {
  s: "hello",
  s2: "a,b,,c",
  i: 7,
  j: -3,
  d: 2.5,
  b: true,
  l: ["a", "b", "c"],
  li: [3, 1, 2],
  m: { a: 1, "b-c": 2 },
  o: { x: "ox" },
  lo: [
    { k: "a", v: 1 },
    { k: "b", v: 2 },
  ],
  set: ["x", "y"],
  ios: 5,
  ios2: "5%",
  ts: "2020-02-29T12:34:56.789Z",
  date: "2021-03-04",
  du: "1h30m",
  by: "aGVsbG8=",
  nn: null,
  any: { z: 1 },
};

/** The error for this rule on `SPEC`; undefined when the rule is true. */
export function ruleError(rule: string, spec: Json = SPEC): string | undefined {
  const type = typeOf(crdOfSpec(FIELDS, { "x-kubernetes-validations": [{ rule, message: "the rule" }] }));
  return linesOf(create(type, widget(spec)))[0]?.replace(/^spec: Invalid value: (?:"object": )?/, "");
}

/** The text that an expression returns, as a message. */
export function textOf(expression: string): string | undefined {
  const rule = { rule: "1 > 2", message: "no text", messageExpression: expression };
  return linesOf(create(typeOf(crdOfSpec(FIELDS, { "x-kubernetes-validations": [rule] })), widget(SPEC)))[0]?.replace(
    "spec: Invalid value: ",
    "",
  );
}
