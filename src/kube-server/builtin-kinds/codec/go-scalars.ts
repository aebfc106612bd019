/** Decodes scalars as Go does: wrong types are recorded, and types with their own decoder may reject a value. */
import { err, memoize, ok, type Result } from "#base";
import { isJsonObject, type Json } from "#kube";
import { normaliseBase64 } from "./base64.ts";
import { normaliseTime } from "./go-time.ts";
import type { ScalarKind } from "./go-types.ts";
import { canonicalQuantity } from "./quantity-text.ts";

export type Reading = {
  readonly findings: string[];
  /** The first wrong type. */
  mismatch: string | undefined;
  /** The error of a type with its own decoder. */
  refusal: string | undefined;
  /** Go's path, by struct fields: "spec.containers.name". */
  readonly goPath: string[];
  struct: string;
};

const INT32 = 2_147_483_647;

export function readScalar(reading: Reading, kind: ScalarKind, go: string, value: Json): Json | undefined {
  switch (kind) {
    case "string":
      return typeof value === "string" ? value : mismatch(reading, value, go);
    case "bool":
      return typeof value === "boolean" ? value : mismatch(reading, value, go);
    case "float64":
      return typeof value === "number" ? value : mismatch(reading, value, go);
    case "int32":
    case "int64":
      if (typeof value !== "number") return mismatch(reading, value, go);
      return isWhole(value, kind) ? value : mismatch(reading, value, go, `number ${goNumber(value)}`);
    case "bytes":
      return typeof value === "string" ? readBytes(reading, value) : mismatch(reading, value, go);
    default:
      return keepOrRefuse(reading, readSelf(reading, kind, value));
  }
}

/** The value as Go writes it; undefined when it needs an error or a warning. */
export function soundScalar(kind: ScalarKind, value: Json): Json | undefined {
  switch (kind) {
    case "string":
      return typeof value === "string" ? value : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "float64":
      return typeof value === "number" ? value : undefined;
    case "int32":
    case "int64":
      return typeof value === "number" && isWhole(value, kind) ? value : undefined;
    case "bytes":
      return typeof value === "string" ? soundText(normaliseBase64(value)) : undefined;
    case "quantity":
      return typeof value === "string" ? soundQuantity(value) : undefined;
    case "intOrString":
      return typeof value === "string" || (typeof value === "number" && isWhole(value, "int32")) ? value : undefined;
    case "time":
    case "microTime":
      return typeof value === "string" ? soundText(normaliseTime(value, kind === "microTime")) : undefined;
  }
}

function soundText(read: Result<string, string>): string | undefined {
  return read.ok ? read.value : undefined;
}

/** Cached, because most quantities are from a small set of round numbers. */
const knownQuantity = memoize({ limit: 2_000 }, canonicalQuantity);

function soundQuantity(text: string): string | undefined {
  return soundText(knownQuantity(text));
}

function isWhole(value: number, kind: "int32" | "int64"): boolean {
  return Number.isInteger(value) && (kind === "int64" ? Math.abs(value) <= 2 ** 63 : value <= INT32 && value >= -INT32 - 1);
}

function goNumber(value: number): string {
  return String(value);
}

function readBytes(reading: Reading, value: string): Json | undefined {
  const read = normaliseBase64(value);
  if (read.ok) return read.value;
  reading.mismatch ??= read.error;
  return undefined;
}

function readSelf(reading: Reading, kind: "time" | "microTime" | "quantity" | "intOrString", value: Json): Result<Json, string> {
  if (kind === "quantity") {
    // numbers are taken as they are written; other values fail on their text
    return canonicalQuantity(typeof value === "string" ? value : JSON.stringify(value));
  }
  if (kind === "intOrString") {
    if (typeof value === "string") return ok(value);
    if (typeof value !== "number") return err(mismatchText(reading, jsonKind(value), "int32"));
    return isWhole(value, "int32") ? ok(value) : err(mismatchText(reading, `number ${goNumber(value)}`, "int32"));
  }
  if (typeof value !== "string") return err(mismatchText(reading, jsonKind(value), "string"));
  return normaliseTime(value, kind === "microTime");
}

function keepOrRefuse(reading: Reading, read: Result<Json, string>): Json | undefined {
  if (read.ok) return read.value;
  reading.refusal = read.error;
  return undefined;
}

export function mismatch(reading: Reading, value: Json, go: string, what = jsonKind(value)): undefined {
  reading.mismatch ??= mismatchText(reading, what, go);
}

function mismatchText(reading: Reading, what: string, go: string): string {
  const where = reading.goPath.length === 0 ? "Go value" : `Go struct field ${reading.struct}.${reading.goPath.join(".")}`;
  return `json: cannot unmarshal ${what} into ${where} of type ${go}`;
}

function jsonKind(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  return typeof value === "boolean" ? "bool" : typeof value;
}
