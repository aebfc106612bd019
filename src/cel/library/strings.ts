/** Strings: the standard tests, the extension library (version 2), and regular expressions through RE2. */
import { declare, metered, type Declarations, type Metered } from "../declarations.ts";
import type { Meter } from "../meter.ts";
import { tooLongText, tooManyItems } from "../size-limits.ts";
import { failure, isList, itemsOf, listOf, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";
import { find, findAll, matches } from "./regular-expressions.ts";
import { format } from "./string-format.ts";
import { findLastText, findText, offsetOf, positionOf } from "./text-search.ts";

type Text = (meter: Meter, text: string, ...rest: readonly CelValue[]) => CelValue;

function onText(run: Text): Metered {
  return metered((meter, text = null, ...rest) => (typeof text === "string" ? run(meter, text, ...rest) : NO_SUCH_OVERLOAD));
}

function onTexts(run: (meter: Meter, text: string, other: string, ...rest: readonly CelValue[]) => CelValue): Metered {
  return onText((meter, text, other = null, ...rest) => (typeof other === "string" ? run(meter, text, other, ...rest) : NO_SUCH_OVERLOAD));
}

function outOfRange(position: bigint): CelValue {
  return failure(`index out of range: ${position}`);
}

function charAt(meter: Meter, text: string, at: CelValue = null): CelValue {
  if (typeof at !== "bigint") return NO_SUCH_OVERLOAD;
  if (at < 0n || at > BigInt(meter.characters(text))) return outOfRange(at);
  const code = text.codePointAt(offsetOf(text, Number(at), meter));
  return code === undefined ? "" : String.fromCodePoint(code);
}

function indexOf(meter: Meter, text: string, part: string, from: CelValue = 0n): CelValue {
  if (typeof from !== "bigint") return NO_SUCH_OVERLOAD;
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  if (from >= BigInt(meter.characters(text))) return -1n;
  const found = meter.work(text.length) ?? findText(text, part, offsetOf(text, Number(from), meter));
  return typeof found === "number" ? BigInt(found < 0 ? -1 : positionOf(text, found, meter)) : found;
}

function lastIndexOf(meter: Meter, text: string, part: string, from?: CelValue): CelValue {
  const size = meter.characters(text);
  if (from === undefined && part === "") return BigInt(size);
  if (from === undefined && size < meter.characters(part)) return -1n;
  const offset = from ?? BigInt(size - 1);
  if (typeof offset !== "bigint") return NO_SUCH_OVERLOAD;
  if (part === "") return offset;
  if (offset < 0n) return outOfRange(offset);
  if (offset >= BigInt(size)) return -1n;
  const found = meter.work(text.length) ?? findLastText(text, part, offsetOf(text, Number(offset), meter));
  return typeof found === "number" ? BigInt(found < 0 ? -1 : positionOf(text, found, meter)) : found;
}

function substring(meter: Meter, text: string, start: CelValue = null, end?: CelValue): CelValue {
  const size = BigInt(meter.characters(text));
  const stop = end ?? size;
  if (typeof start !== "bigint" || typeof stop !== "bigint") return NO_SUCH_OVERLOAD;
  if (end !== undefined && start > stop) return failure(`invalid substring range. start: ${start}, end: ${stop}`);
  if (start < 0n || start > size) return outOfRange(start);
  if (stop < 0n || stop > size) return outOfRange(stop);
  return text.slice(offsetOf(text, Number(start), meter), offsetOf(text, Number(stop), meter));
}

/** The offsets of the part, without overlaps. An empty part is before every character and at the end. */
function* occurrences(text: string, part: string): Generator<number> {
  for (let at = 0; at <= text.length;) {
    const found = part === "" ? at : findText(text, part, at);
    if (found < 0) return;
    yield found;
    at = found + (part === "" ? ((text.codePointAt(found) ?? 0) > 0xffff ? 2 : 1) : part.length);
  }
}

/** The cost in Kubernetes is that of the text and not of the inserted parts, so the length of the result is computed first. */
function replace(meter: Meter, text: string, old: CelValue = null, next: CelValue = null, limit: CelValue = -1n): CelValue {
  if (typeof old !== "string" || typeof next !== "string" || typeof limit !== "bigint") return NO_SUCH_OVERLOAD;
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  const spent = meter.work(text.length + old.length);
  if (spent !== undefined) return spent;
  const found: number[] = [];
  if (most > 0) {
    for (const at of occurrences(text, old)) if (found.push(at) >= most) break;
  }
  const length = text.length + found.length * (next.length - old.length);
  return tooLongText(length) ?? meter.work(length / 4 + found.length * 4) ?? replaced(text, found, { old, next });
}

function replaced(text: string, found: readonly number[], { old, next }: { readonly old: string; readonly next: string }): string {
  const parts: string[] = [];
  let at = 0;
  for (const start of found) {
    parts.push(text.slice(at, start), next);
    at = start + old.length;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

function split(meter: Meter, text: string, separator: string, limit: CelValue = -1n): CelValue {
  if (typeof limit !== "bigint") return NO_SUCH_OVERLOAD;
  const spent = meter.work(text.length * 2 + separator.length);
  if (spent !== undefined) return spent;
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  return separator === "" ? splitCharacters(meter, text, most) : splitAt(meter, { text, separator }, most);
}

function splitCharacters(meter: Meter, text: string, most: number): CelValue {
  const count = Math.min(most, meter.characters(text));
  if (count === 0) return listOf([]);
  const last = offsetOf(text, count - 1, meter);
  return tooManyItems(count) ?? listOf([...Array.from(text.slice(0, last)), text.slice(last)]);
}

function splitAt(meter: Meter, { text, separator }: { readonly text: string; readonly separator: string }, most: number): CelValue {
  if (most === 0) return listOf([]);
  const parts: string[] = [];
  let at = 0;
  for (const found of occurrences(text, separator)) {
    if (parts.length + 1 >= most) break;
    parts.push(text.slice(at, found));
    at = found + separator.length;
    const refused = tooManyItems(parts.length) ?? meter.work(8);
    if (refused !== undefined) return refused;
  }
  parts.push(text.slice(at));
  return listOf(parts);
}

function join(list: CelValue, separator: CelValue): CelValue {
  if (!isList(list) || typeof separator !== "string") return NO_SUCH_OVERLOAD;
  const items = itemsOf(list);
  const texts = items.filter((item): item is string => typeof item === "string");
  if (texts.length !== items.length) return failure("join: invalid input");
  const length = texts.reduce((total, text) => total + text.length, separator.length * Math.max(0, texts.length - 1));
  return tooLongText(length) ?? texts.join(separator);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

/** Made from the table: a regular expression literal may not contain control characters. */
const ESCAPED = new RegExp(
  [...ESCAPES.keys()].map((character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`).join("|"),
  "g",
);

function quoted(text: string): CelValue {
  const quotedText = `"${text.toWellFormed().replace(ESCAPED, (character) => ESCAPES.get(character) ?? character)}"`;
  return tooLongText(quotedText.length) ?? quotedText;
}

/** Changes ASCII letters only. */
function asciiCase(text: string, to: "lower" | "upper"): string {
  return to === "lower" ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}

export function strings(): Declarations {
  return declare([
    ["contains_string", "<string> contains(string) -> bool", onTexts((_, text, part) => findText(text, part, 0) >= 0)],
    ["ends_with_string", "<string> endsWith(string) -> bool", onTexts((_, text, part) => text.endsWith(part))],
    ["starts_with_string", "<string> startsWith(string) -> bool", onTexts((_, text, part) => text.startsWith(part))],
    ["matches", "matches(string, string) -> bool", onTexts(matches)],
    ["matches_string", "<string> matches(string) -> bool", onTexts(matches)],
    ["string_find_string", "<string> find(string) -> string", onTexts(find)],
    ["string_find_all_string", "<string> findAll(string) -> list(string)", onTexts(findAll)],
    ["string_find_all_string_int", "<string> findAll(string, int) -> list(string)", onTexts(findAll)],
    ["string_char_at_int", "<string> charAt(int) -> string", onText(charAt)],
    ["string_index_of_string", "<string> indexOf(string) -> int", onTexts(indexOf)],
    ["string_index_of_string_int", "<string> indexOf(string, int) -> int", onTexts(indexOf)],
    ["string_last_index_of_string", "<string> lastIndexOf(string) -> int", onTexts(lastIndexOf)],
    ["string_last_index_of_string_int", "<string> lastIndexOf(string, int) -> int", onTexts(lastIndexOf)],
    ["string_lower_ascii", "<string> lowerAscii() -> string", onText((_, text) => asciiCase(text, "lower"))],
    ["string_upper_ascii", "<string> upperAscii() -> string", onText((_, text) => asciiCase(text, "upper"))],
    ["string_replace_string_string", "<string> replace(string, string) -> string", onText(replace)],
    ["string_replace_string_string_int", "<string> replace(string, string, int) -> string", onText(replace)],
    ["string_split_string", "<string> split(string) -> list(string)", onTexts(split)],
    ["string_split_string_int", "<string> split(string, int) -> list(string)", onTexts(split)],
    ["string_substring_int", "<string> substring(int) -> string", onText(substring)],
    ["string_substring_int_int", "<string> substring(int, int) -> string", onText(substring)],
    ["string_trim", "<string> trim() -> string", onText((_, text) => text.trim())],
    ["string_format", "<string> format(list(dyn)) -> string", onText((meter, text, list = null) => format(text, list, meter))],
    ["strings_quote", "strings.quote(string) -> string", onText((_, text) => quoted(text))],
    ["list_join", "<list(string)> join() -> string", (list = null) => join(list, "")],
    ["list_join_string", "<list(string)> join(string) -> string", (list = null, separator = null) => join(list, separator)],
  ]);
}
