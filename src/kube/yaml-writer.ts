/**
 * YAML of what Kubernetes objects mostly are: nested maps and lists of plain scalars, numbers and some multi-line text.
 *
 * It writes what js-yaml writes, byte for byte, and ten times faster; a single scalar that needs thought (quotes, escapes) is handed over, and
 * a document with something stranger in it is left to js-yaml as a whole: `undefined`.
 */
import { isJsonObject } from "./json.ts";

/** How js-yaml writes a text in one line, or a number. */
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

/** A field that is undefined is not there. */
function isEmpty(value: Collection): boolean {
  if (Array.isArray(value)) return value.length === 0;
  const map = value as Fields;
  return Object.keys(map).every((name) => map[name] === undefined);
}

/** The first line stands where the writer is already; the others begin with `indent`. */
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

/** Longer ones are written with a question mark before them. */
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
      return "null"; // in a list; in a map it is left out
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "[]" : "{}";
    default:
      writer.isStrange = true;
      return "";
  }
}

/** Text that needs no quotes: it begins with a letter, a path or a flag, and has no character that is syntax in YAML. */
const PLAIN = /^(?:[A-Za-z/_]|--?[A-Za-z])(?:[A-Za-z0-9/_.@=;,+$%()-]|:(?=[A-Za-z0-9/_.])| (?=[A-Za-z0-9/_.(]))*$/;
/** What looks like a number and is none: 500m, 128Mi, 10.0.0.1, 10.0.0.0/8. */
const PLAIN_FIGURE = /^[0-9]+(?:(?:\.[0-9]+)?(?:m|[KMGT]i)|(?:\.[0-9]+){3}(?:\/[0-9]+)?)$/;
/** What would be a number, nothing, or an alias. */
const QUOTED = /^(?:[0-9]{1,15}|\*)?$/;
/** Text that YAML reads as a boolean or null, in any case. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
const LONGEST_RESERVED = 5;

function writeLine(writer: Writer, text: string): string {
  if (PLAIN.test(text)) return text.length > LONGEST_RESERVED || !RESERVED.test(text) ? text : writer.writeScalar(text);
  if (QUOTED.test(text)) return `'${text}'`;
  return PLAIN_FIGURE.test(text) ? text : writer.writeScalar(text);
}

/** Begins with a character that is seen, and holds no other control characters than line breaks. */
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
