/**
 * Values as Go prints them: a real server formats error messages and FieldsV1 keys with fmt and jsoniter, and clients and tests compare them
 * exactly.
 *
 * Integers are printed as Go's int64, without an exponent; other numbers as float64.
 */
import { isJsonObject, type Json } from "./json.ts";

/** Go's order of strings: by UTF-8 bytes, which is the order of code points. JavaScript's order differs for characters above U+FFFF. */
export function goCompareText(a: string, b: string): number {
  if (a === b) return 0;
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

const ESCAPES = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);
const NOT_PLAIN = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

/** `%q` */
export function goQuote(text: string): string {
  return `"${text.replace(NOT_PLAIN, (character) => ESCAPES.get(character) ?? escaped(character.codePointAt(0) ?? 0))}"`;
}

function escaped(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** `%v` of a number. */
export function goNumberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value).toString() : goFloatText(value);
}

/** `%v` of a float64: the shortest digits, with an exponent (of at least two digits) below 1e-4 and from 1e6 on. */
export function goFloatText(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** `%v` */
export function goPlainText(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return goNumberText(value);
  if (Array.isArray(value)) return `[${value.map(goPlainText).join(" ")}]`;
  if (isJsonObject(value))
    return `map[${sortedFields(value)
      .map((name) => `${name}:${goPlainText(value[name])}`)
      .join(" ")}]`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `%#v` */
export function goSourceText(value: Json | undefined): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number") return goNumberText(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSourceText).join(", ")}}`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `map[string]interface {}{${sortedFields(value)
    .map((name) => `${goQuote(name)}:${goSourceText(value[name])}`)
    .join(", ")}}`;
}

/** `%T` */
export function goTypeText(value: Json): string {
  if (value === null) return "<nil>";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

/** JSON as jsoniter encodes it in its compatible mode: sorted fields, and `<`, `>`, `&` escaped. */
export function goJsonText(value: Json | undefined): string {
  if (typeof value === "string") return PLAIN.test(value) ? `"${value}"` : goStringText(value).replace(/[<>&\u2028\u2029]/g, unicodeEscape);
  if (typeof value === "number") return jsonNumber(value);
  if (Array.isArray(value)) return `[${value.map(goJsonText).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  return `{${sortedFields(value)
    .map((name) => `${goJsonText(name)}:${goJsonText(value[name])}`)
    .join(",")}}`;
}

/** Text that needs no escapes, such as most names. */
const PLAIN = /^[\w./:-]*$/;

/** A JSON string without HTML escapes; `\b` and `\f` are written as \u escapes. */
export function goStringText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const json = JSON.stringify(text);
  return json.includes("\\")
    ? json.replace(/\\(?:b|f|.)/g, (escape) => (escape === "\\b" ? "\\u0008" : escape === "\\f" ? "\\u000c" : escape))
    : json;
}

function jsonNumber(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e21)) return goNumberText(value);
  return size >= 2 ** 53 && Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function unicodeEscape(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

function sortedFields(value: { readonly [name: string]: unknown }): string[] {
  return Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted(goCompareText);
}
