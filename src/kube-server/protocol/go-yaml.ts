/**
 * Writes YAML as Go's library does: sorted keys, lists without indentation, and the quotes and line breaks of a real server.
 *
 * Whether a string needs quotes follows the rules of YAML 1.1, where `y`, `1_000` and `12:30` are not strings.
 */
import { isJsonObject, type Json, type JsonPrimitive } from "#kube";

const WIDTH = 80;

export function formatGoYaml(value: unknown): string {
  return `${node((value ?? null) as Json, 0, false)}\n`;
}

/** `inline`: it follows "- ", so its first line is already indented. */
function node(value: Json, indent: number, inline: boolean): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : sequence(value, indent, inline);
  if (!isJsonObject(value)) return scalar(value as JsonPrimitive, indent, indent);
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  if (keys.length === 0) return "{}";
  const lines = keys.toSorted(byGoOrder).map((key) => entry(key, value[key] ?? null, indent));
  return lines.map((line, at) => (at === 0 && inline ? line : " ".repeat(indent) + line)).join("\n");
}

function sequence(items: readonly Json[], indent: number, inline: boolean): string {
  const lines = items.map(
    (item) =>
      `- ${Array.isArray(item) || isJsonObject(item) ? node(item, indent + 2, true) : scalar(item as JsonPrimitive, indent, indent + 2)}`,
  );
  return lines.map((line, at) => (at === 0 && inline ? line : " ".repeat(indent) + line)).join("\n");
}

function entry(key: string, value: Json, indent: number): string {
  const name = text(key, indent, 0, true);
  if (Array.isArray(value) && value.length > 0) return `${name}:\n${node(value, indent, false)}`;
  if (isJsonObject(value) && Object.values(value).some((item) => item !== undefined)) return `${name}:\n${node(value, indent + 2, false)}`;
  return `${name}: ${Array.isArray(value) ? "[]" : isJsonObject(value) ? "{}" : scalar(value as JsonPrimitive, indent, indent + name.length + 2)}`;
}

function scalar(value: JsonPrimitive, indent: number, column: number): string {
  return typeof value === "string" ? text(value, indent, column, false) : String(value);
}

const TYPED =
  /^(|~|null|Null|NULL|y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|<<|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)|[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|\d{4}-\d\d?-\d\d?([Tt ].*)?)$/;
/** Characters that need escapes: all unprintable ones, including tabs. */
const SPECIAL = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|\ufeff/u;
/** Texts that need quotes in a block: a leading indicator, a comment or value indicator inside, leading or trailing spaces. */
const NOT_PLAIN = /^([#,[\]{}&*!|>'"%@`]|[?:-](\s|$)|---|\.\.\.)|:(\s|$)|\s#|^\s|\s$/;

function text(value: string, indent: number, column: number, key: boolean): string {
  const multiline = value.includes("\n");
  if (SPECIAL.test(value) || TYPED.test(value) || (multiline && (key || /[ ]$|[ ]\n/.test(value)))) return doubleQuoted(value);
  if (multiline) return literal(value, indent);
  if (!NOT_PLAIN.test(value)) return key ? value : folded(value, indent, column);
  const quoted = `'${value.replaceAll("'", "''")}'`;
  return key ? quoted : folded(quoted, indent, column);
}

function literal(value: string, indent: number): string {
  const chomping = value.endsWith("\n\n") || value === "\n" ? "+" : value.endsWith("\n") ? "" : "-";
  const hint = /^[ \n]/.test(value) ? "2" : "";
  const body = value.replace(/\n$/, "").split("\n");
  return `|${hint}${chomping}\n${body.map((line) => (line === "" ? "" : " ".repeat(indent + 2) + line)).join("\n")}`;
}

/** A line longer than the width is broken at its next single space. */
function folded(value: string, indent: number, column: number): string {
  let at = column;
  let out = "";
  for (const [index, character] of Array.from(value).entries()) {
    const alone = character === " " && value[index - 1] !== " " && value[index + 1] !== " ";
    if (alone && at > WIDTH && index > 0) {
      out += `\n${" ".repeat(indent + 2)}`;
      at = indent + 2;
    } else {
      out += character;
      at += 1;
    }
  }
  return out;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\u0000", "\\0"],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\u000b", "\\v"],
  ["\f", "\\f"],
  ["\r", "\\r"],
  ["\u001b", "\\e"],
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0085", "\\N"],
  ["\u00a0", "\\_"],
  ["\u2028", "\\L"],
  ["\u2029", "\\P"],
]);

function doubleQuoted(value: string): string {
  return `"${Array.from(value, escaped).join("")}"`;
}

function escaped(character: string): string {
  const known = ESCAPES.get(character);
  if (known !== undefined) return known;
  if (!SPECIAL.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  return code > 0xff ? `\\u${code.toString(16).toUpperCase().padStart(4, "0")}` : `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Letters sort after other characters, and numbers inside names by value: a2 before a10. */
function byGoOrder(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [x = "", y = ""] = [a[at], b[at]];
    if (x === y) continue;
    const [xIsLetter, yIsLetter] = [/\p{L}/u.test(x), /\p{L}/u.test(y)];
    if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
    if (xIsLetter) return x < y ? -1 : 1;
    const [m, n] = [numberAt(left, at), numberAt(right, at)];
    return m === n ? (x < y ? -1 : 1) : m - n;
  }
  return a.length - b.length;
}

function numberAt(value: string, at: number): number {
  const digits = /^\d*/.exec(value.slice(at))?.[0] ?? "";
  const behindDigits = /[1-9]\d*$/.test(value.slice(0, at)) ? "1" : "";
  return digits === "" ? behindDigits.length : Number(behindDigits + digits);
}
