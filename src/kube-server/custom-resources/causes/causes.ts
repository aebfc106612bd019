/**
 * Causes of a 422, one constructor per kind, with the texts of `k8s.io/apimachinery/pkg/util/validation/field`.
 *
 * Surprise: a type error has the text "Invalid value" too; only its reason is different. And "Too long" counts characters but prints bytes.
 */
import { goJsonText, goNumberText, goQuote, type Json } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { pathText, type CausePath } from "./field-path.ts";

/** Values that the server leaves out of the message: objects and lists that a rule refused. */
export const OMITTED = Symbol("omitted");
const PRINTED = Symbol("printed");
/** Text that is printed unchanged: values whose Go form differs from their JSON. No JSON document can contain one. */
export type Printed = { readonly [PRINTED]: string };
export type BadValue = Json | undefined | Printed | typeof OMITTED;

export function printed(text: string): Printed {
  return { [PRINTED]: text };
}

export function required(path: CausePath, detail = ""): FieldCause {
  return cause("FieldValueRequired", path, withDetail("Required value", detail));
}

export function forbidden(path: CausePath, detail: string): FieldCause {
  return cause("FieldValueForbidden", path, withDetail("Forbidden", detail));
}

export function invalid(path: CausePath, value: BadValue, detail: string): FieldCause {
  return cause("FieldValueInvalid", path, withDetail(withValue("Invalid value", value), detail));
}

export function typeInvalid(path: CausePath, value: BadValue, detail: string): FieldCause {
  return cause("FieldValueTypeInvalid", path, withDetail(withValue("Invalid value", value), detail));
}

export function duplicate(path: CausePath, value: BadValue): FieldCause {
  return cause("FieldValueDuplicate", path, withValue("Duplicate value", value));
}

export function notSupported(path: CausePath, value: BadValue, supported: readonly string[]): FieldCause {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return cause("FieldValueNotSupported", path, withDetail(withValue("Unsupported value", value), detail));
}

export function tooLong(path: CausePath, max: number): FieldCause {
  const limit = max < 0 ? "value is too long" : `may not be more than ${max} ${max === 1 ? "byte" : "bytes"}`;
  return cause("FieldValueTooLong", path, `Too long: ${limit}`);
}

export function tooMany(path: CausePath, actual: number, max: number): FieldCause {
  const limit = max < 0 ? "has too many items" : `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return cause("FieldValueTooMany", path, `Too many: ${actual}: ${limit}`);
}

export function internalError(path: CausePath, detail: string): FieldCause {
  return cause("InternalError", path, `Internal error: ${detail}`);
}

/** The text after "is invalid: ": one cause alone, several in brackets, each once. */
export function describeCauses(causes: readonly FieldCause[]): string {
  const lines = [...new Set(causes.map((one) => `${one.field}: ${one.detail}`))];
  return lines.length === 1 ? (lines[0] ?? "") : `[${lines.join(", ")}]`;
}

function cause(reason: FieldCause["reason"], path: CausePath, detail: string): FieldCause {
  return { reason, field: pathText(path), detail };
}

function withDetail(text: string, detail: string): string {
  return detail === "" ? text : `${text}: ${detail}`;
}

function withValue(text: string, value: BadValue): string {
  return value === OMITTED ? text : `${text}: ${valueText(value)}`;
}

function valueText(value: Exclude<BadValue, typeof OMITTED>): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumberText(value);
  return isPrinted(value) ? value[PRINTED] : goJsonText(value ?? null);
}

function isPrinted(value: Exclude<BadValue, typeof OMITTED>): value is Printed {
  return typeof value === "object" && value !== null && PRINTED in value;
}
