/** Field errors with the API server's messages. Values are shown as Go's JSON shows them, so that people find the messages they know. */
import { isJsonObject, goQuote, type Json, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";

export type Causes = readonly FieldCause[];

/** A shared empty list, because nearly every check finds no errors. */
const NOTHING: readonly never[] = [];
export const NO_CAUSES: Causes = NOTHING;

/** All of them, in their order. Nearly all are empty, and then there is nothing to join. */
export function joined<T>(...lists: readonly (readonly T[])[]): readonly T[] {
  let all: readonly T[] = NOTHING;
  for (const list of lists) if (list.length > 0) all = all.length === 0 ? list : [...all, ...list];
  return all;
}

export function required(field: string, detail = ""): FieldCause {
  return { reason: "FieldValueRequired", field, detail: withDetail("Required value", detail) };
}

export function invalid(field: string, value: Json | undefined, detail: string): FieldCause {
  return { reason: "FieldValueInvalid", field, detail: withDetail(`Invalid value: ${valueText(value)}`, detail) };
}

/** Of a value that is not shown. */
export function invalidUnseen(field: string, detail: string): FieldCause {
  return { reason: "FieldValueInvalid", field, detail: `Invalid value: ${detail}` };
}

export function notSupported(field: string, value: Json | undefined, supported: readonly string[]): FieldCause {
  const list = supported.map((text) => JSON.stringify(text)).join(", ");
  return { reason: "FieldValueNotSupported", field, detail: `Unsupported value: ${valueText(value)}: supported values: ${list}` };
}

export function forbidden(field: string, detail: string): FieldCause {
  return { reason: "FieldValueForbidden", field, detail: withDetail("Forbidden", detail) };
}

export function duplicate(field: string, value: Json | undefined): FieldCause {
  return { reason: "FieldValueDuplicate", field, detail: `Duplicate value: ${valueText(value)}` };
}

export function notFound(field: string, value: Json | undefined, detail = ""): FieldCause {
  return { reason: "FieldValueNotFound", field, detail: withDetail(`Not found: ${valueText(value)}`, detail) };
}

export function tooLong(field: string, max: number): FieldCause {
  return { reason: "FieldValueTooLong", field, detail: `Too long: may not be more than ${max} bytes` };
}

export function tooMany(field: string, actual: number, max: number): FieldCause {
  return { reason: "FieldValueTooMany", field, detail: `Too many: ${actual}: must have at most ${max} items` };
}

export const IMMUTABLE = "field is immutable";
export const NOT_NEGATIVE = "must be greater than or equal to 0";

export function immutable(field: string, value: Json | undefined): FieldCause {
  return invalid(field, value, IMMUTABLE);
}

/** One cause for each message about a value. */
export function invalidEach(field: string, value: Json, messages: readonly string[]): Causes {
  return messages.length === 0 ? NO_CAUSES : messages.map((message) => invalid(field, value, message));
}

export function nonNegative(field: string, value: number | undefined): Causes {
  return value !== undefined && value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : NO_CAUSES;
}

export function inRange(field: string, value: number, [low, high]: readonly [number, number]): Causes {
  return value < low || value > high ? [invalid(field, value, `must be between ${low} and ${high}, inclusive`)] : [];
}

function withDetail(what: string, detail: string): string {
  return detail === "" ? what : `${what}: ${detail}`;
}

/** A map as Go writes it: by its keys. Structs have an order of their own. */
export function goMap(map: JsonObject | undefined): Json {
  return map === undefined ? null : Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function goSelector(selector: JsonObject | undefined): Json {
  const labels = selector?.["matchLabels"];
  return selector === undefined ? null : isJsonObject(labels) ? { ...selector, matchLabels: goMap(labels) } : selector;
}

function valueText(value: Json | undefined): string {
  if (typeof value === "string") return goQuote(value);
  return JSON.stringify(value ?? null).replaceAll(/[<>&]/g, (char) => ESCAPED[char] ?? char);
}

/** Go's JSON escapes these; its quoted texts do not. */
const ESCAPED: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
