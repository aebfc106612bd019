/** Strings: the standard tests, the extension library (version 2), and regular expressions through RE2. */
import { compileRegex } from "../../validation/regex.ts";
import { declare, type Declarations, type Evaluate } from "../declarations.ts";
import { failure, isList, itemsOf, listOf, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";
import { format } from "./string-format.ts";

type Text = (text: string, ...rest: readonly CelValue[]) => CelValue;

function onText(run: Text): Evaluate {
  return (text = null, ...rest) => (typeof text === "string" ? run(text, ...rest) : NO_SUCH_OVERLOAD);
}

function onTexts(run: (text: string, other: string, ...rest: readonly CelValue[]) => CelValue): Evaluate {
  return onText((text, other = null, ...rest) => (typeof other === "string" ? run(text, other, ...rest) : NO_SUCH_OVERLOAD));
}

function outOfRange(position: bigint): CelValue {
  return failure(`index out of range: ${position}`);
}

function charAt(text: string, at: CelValue): CelValue {
  if (typeof at !== "bigint") return NO_SUCH_OVERLOAD;
  const characters = Array.from(text);
  if (at < 0n || at > BigInt(characters.length)) return outOfRange(at);
  return characters[Number(at)] ?? "";
}

function startsAt(characters: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((character, offset) => characters[at + offset] === character);
}

function indexOf(text: string, part: string, from: CelValue = 0n): CelValue {
  if (typeof from !== "bigint") return NO_SUCH_OVERLOAD;
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const characters = Array.from(text);
  const wanted = Array.from(part);
  for (let at = Number(from); at <= characters.length - wanted.length; at++) if (startsAt(characters, wanted, at)) return BigInt(at);
  return -1n;
}

function lastIndexOf(text: string, part: string, from?: CelValue): CelValue {
  const characters = Array.from(text);
  const wanted = Array.from(part);
  if (from === undefined && part === "") return BigInt(characters.length);
  if (from === undefined && characters.length < wanted.length) return -1n;
  const offset = from ?? BigInt(characters.length - 1);
  if (typeof offset !== "bigint") return NO_SUCH_OVERLOAD;
  if (part === "") return offset;
  if (offset < 0n) return outOfRange(offset);
  if (offset >= BigInt(characters.length)) return -1n;
  for (let at = Math.min(Number(offset), characters.length - wanted.length); at >= 0; at--)
    if (startsAt(characters, wanted, at)) return BigInt(at);
  return -1n;
}

function substring(text: string, start: CelValue, end?: CelValue): CelValue {
  const characters = Array.from(text);
  const size = BigInt(characters.length);
  const stop = end ?? size;
  if (typeof start !== "bigint" || typeof stop !== "bigint") return NO_SUCH_OVERLOAD;
  if (end !== undefined && start > stop) return failure(`invalid substring range. start: ${start}, end: ${stop}`);
  if (start < 0n || start > size) return outOfRange(start);
  return stop < 0n || stop > size ? outOfRange(stop) : characters.slice(Number(start), Number(stop)).join("");
}

/** Go's Replace: an empty old text stands before every character and at the end. */
function replace(text: string, old: CelValue, next: CelValue, limit: CelValue = -1n): CelValue {
  if (typeof old !== "string" || typeof next !== "string" || typeof limit !== "bigint") return NO_SUCH_OVERLOAD;
  const count = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  const parts = old === "" ? ["", ...Array.from(text)] : text.split(old);
  let out = parts[0] ?? "";
  for (const [at, part] of parts.slice(1).entries()) out += (at < count ? next : old) + part;
  return old === "" && parts.length - 1 < count ? out + next : out;
}

function split(text: string, separator: string, limit: CelValue = -1n): CelValue {
  if (typeof limit !== "bigint") return NO_SUCH_OVERLOAD;
  if (limit === 0n) return listOf([]);
  const parts = separator === "" ? Array.from(text) : text.split(separator);
  if (limit < 0n || parts.length <= limit) return listOf(parts);
  const kept = parts.slice(0, Number(limit) - 1);
  return listOf([...kept, parts.slice(kept.length).join(separator)]);
}

function join(list: CelValue, separator: CelValue): CelValue {
  if (!isList(list) || typeof separator !== "string") return NO_SUCH_OVERLOAD;
  const items = itemsOf(list);
  const texts = items.filter((item): item is string => typeof item === "string");
  return texts.length === items.length ? texts.join(separator) : failure("join: invalid input");
}

function matches(text: string, pattern: string): CelValue {
  const regex = compileRegex(pattern);
  return regex.ok ? regex.value.matcher(text).find() : failure(regex.error);
}

function findAll(text: string, pattern: string, limit: number): readonly string[] | string {
  const regex = compileRegex(pattern);
  if (!regex.ok) return `Illegal regex: ${regex.error}`;
  const matcher = regex.value.matcher(text);
  const found: string[] = [];
  while (found.length < limit && matcher.find()) found.push(matcher.group() ?? "");
  return found;
}

function find(text: string, pattern: string): CelValue {
  const found = findAll(text, pattern, 1);
  return typeof found === "string" ? failure(found) : (found[0] ?? "");
}

function findMany(text: string, pattern: string, limit: CelValue = -1n): CelValue {
  if (typeof limit !== "bigint") return NO_SUCH_OVERLOAD;
  const found = findAll(text, pattern, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit));
  return typeof found === "string" ? failure(found) : listOf(found);
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

function quoted(text: string): string {
  return `"${Array.from(text.toWellFormed())
    .map((character) => ESCAPES.get(character) ?? character)
    .join("")}"`;
}

/** Only ASCII letters change. */
function asciiCase(text: string, to: "lower" | "upper"): string {
  return to === "lower" ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}

export function strings(): Declarations {
  return declare([
    ["contains_string", "<string> contains(string) -> bool", onTexts((text, part) => text.includes(part))],
    ["ends_with_string", "<string> endsWith(string) -> bool", onTexts((text, part) => text.endsWith(part))],
    ["starts_with_string", "<string> startsWith(string) -> bool", onTexts((text, part) => text.startsWith(part))],
    ["matches", "matches(string, string) -> bool", onTexts(matches)],
    ["matches_string", "<string> matches(string) -> bool", onTexts(matches)],
    ["string_find_string", "<string> find(string) -> string", onTexts(find)],
    ["string_find_all_string", "<string> findAll(string) -> list(string)", onTexts(findMany)],
    ["string_find_all_string_int", "<string> findAll(string, int) -> list(string)", onTexts(findMany)],
    ["string_char_at_int", "<string> charAt(int) -> string", onText((text, at = null) => charAt(text, at))],
    ["string_index_of_string", "<string> indexOf(string) -> int", onTexts(indexOf)],
    ["string_index_of_string_int", "<string> indexOf(string, int) -> int", onTexts(indexOf)],
    ["string_last_index_of_string", "<string> lastIndexOf(string) -> int", onTexts(lastIndexOf)],
    ["string_last_index_of_string_int", "<string> lastIndexOf(string, int) -> int", onTexts(lastIndexOf)],
    ["string_lower_ascii", "<string> lowerAscii() -> string", onText((text) => asciiCase(text, "lower"))],
    ["string_upper_ascii", "<string> upperAscii() -> string", onText((text) => asciiCase(text, "upper"))],
    [
      "string_replace_string_string",
      "<string> replace(string, string) -> string",
      onText((text, old = null, next = null) => replace(text, old, next)),
    ],
    [
      "string_replace_string_string_int",
      "<string> replace(string, string, int) -> string",
      onText((text, old = null, next = null, limit = null) => replace(text, old, next, limit)),
    ],
    ["string_split_string", "<string> split(string) -> list(string)", onTexts(split)],
    ["string_split_string_int", "<string> split(string, int) -> list(string)", onTexts(split)],
    ["string_substring_int", "<string> substring(int) -> string", onText((text, start = null) => substring(text, start))],
    [
      "string_substring_int_int",
      "<string> substring(int, int) -> string",
      onText((text, start = null, end = null) => substring(text, start, end)),
    ],
    ["string_trim", "<string> trim() -> string", onText((text) => text.trim())],
    ["string_format", "<string> format(list(dyn)) -> string", onText((text, list = null) => format(text, list))],
    ["strings_quote", "strings.quote(string) -> string", onText(quoted)],
    ["list_join", "<list(string)> join() -> string", (list = null) => join(list, "")],
    ["list_join_string", "<list(string)> join(string) -> string", (list = null, separator = null) => join(list, separator)],
  ]);
}
