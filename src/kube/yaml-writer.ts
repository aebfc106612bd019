/**
 * A fast YAML writer for typical Kubernetes objects: nested maps and lists of plain scalars, numbers and some multi-line text.
 *
 * Its output equals that of js-yaml, ten times faster. A scalar that needs quotes or escapes is formatted by js-yaml; for a document with other
 * unsupported values the result is `undefined`, and the caller uses js-yaml for all of it.
 */
import { isJsonObject } from "./json.ts";

/** Formats a single-line text or a number with js-yaml. */
export type WriteScalar = (value: string | number) => string;

export function writePlainYaml(value: unknown, writeScalar: WriteScalar): string | undefined {
  if (!isCollection(value) || isEmpty(value)) return undefined;
  const writer: Writer = { writeScalar, isStrange: false };
  const text = writeBlock(writer, value, "");
  return writer.isStrange ? undefined : `${text}\n`;
}

type Writer = { readonly writeScalar: WriteScalar; isStrange: boolean };
type Fields = { readonly [field: string]: unknown };
type Collection = readonly unknown[] | Fields;

function isCollection(value: unknown): value is Collection {
  return Array.isArray(value) || isJsonObject(value);
}

/** Undefined fields are ignored. */
function isEmpty(value: Collection): boolean {
  if (Array.isArray(value)) return value.length === 0;
  const map = value as Fields;
  return Object.keys(map).every((name) => map[name] === undefined);
}

/** The first line gets no indentation; the others begin with `indent`. */
function writeBlock(writer: Writer, value: Collection, indent: string): string {
  const deeper = `${indent}  `;
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) {
      const line = isCollection(item) && !isEmpty(item) ? writeBlock(writer, item, deeper) : writeLeaf(writer, item, deeper);
      text += text === "" ? `- ${line}` : `\n${indent}- ${line}`;
    }
    return text;
  }
  const map = value as Fields;
  for (const name of Object.keys(map)) {
    const item = map[name];
    if (item === undefined) continue;
    text += text === "" ? writeKey(writer, name) : `\n${indent}${writeKey(writer, name)}`;
    if (isCollection(item) && !isEmpty(item)) text += `:\n${deeper}${writeBlock(writer, item, deeper)}`;
    else text += `: ${writeLeaf(writer, item, deeper)}`;
  }
  return text;
}

/** js-yaml writes longer keys with a leading question mark. */
const LONGEST_KEY = 1_000;

function writeKey(writer: Writer, name: string): string {
  if (name.length > LONGEST_KEY || name.includes("\n")) writer.isStrange = true;
  return writeLine(writer, name);
}

function writeLeaf(writer: Writer, value: unknown, indent: string): string {
  switch (typeof value) {
    case "string":
      return value.includes("\n") ? writeLines(writer, value, indent) : writeLine(writer, value);
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : writer.writeScalar(value);
    case "boolean":
      return String(value);
    case "undefined":
      return "null"; // in a list; a map omits undefined fields
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "[]" : "{}";
    default:
      writer.isStrange = true;
      return "";
  }
}

/** Text that needs no quotes: it begins with a letter, a path or a flag, and has no character that is syntax in YAML. */
const PLAIN = /^(?:[A-Za-z/_]|--?[A-Za-z])(?:[A-Za-z0-9/_.@=;,+$%()-]|:(?=[A-Za-z0-9/_.])| (?=[A-Za-z0-9/_.(]))*$/;
/** Text that begins like a number and needs no quotes: 500m, 128Mi, 10.0.0.1, 10.0.0.0/8. */
const PLAIN_FIGURE = /^[0-9]+(?:(?:\.[0-9]+)?(?:m|[KMGT]i)|(?:\.[0-9]+){3}(?:\/[0-9]+)?)$/;
/** Text that would be read as a number, null, or an alias. */
const QUOTED = /^(?:[0-9]{1,15}|\*)?$/;
/** Text that YAML reads as a boolean or null, in any case. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
const LONGEST_RESERVED = 5;

function writeLine(writer: Writer, text: string): string {
  if (PLAIN.test(text)) return text.length > LONGEST_RESERVED || !RESERVED.test(text) ? text : writer.writeScalar(text);
  if (QUOTED.test(text)) return `'${text}'`;
  return PLAIN_FIGURE.test(text) ? text : writer.writeScalar(text);
}

/** Begins with a visible character, and contains no control characters except line breaks. */
const BLOCK = /^[\x21-\x7e][\x20-\x7e\n]*$/;

function writeLines(writer: Writer, text: string, indent: string): string {
  if (!BLOCK.test(text) || text.endsWith("\n\n")) {
    writer.isStrange = true;
    return "";
  }
  const isEnded = text.endsWith("\n");
  const lines = (isEnded ? text.slice(0, -1) : text).replace(/\n(?!\n)/g, `\n${indent}`);
  return `${isEnded ? "|" : "|-"}\n${indent}${lines}`;
}
