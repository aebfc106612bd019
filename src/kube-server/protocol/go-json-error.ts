/**
 * Explains why a text is not JSON, with the messages of Go's decoder, which a real server sends. Called only for text that failed to parse,
 * so it need not be fast.
 */
const END = "unexpected end of JSON input";
const SPACE = /\s/;
const LITERALS: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" };
const ESCAPES = new Set('"\\/bfnrtu');

/** Go's limit is 10,000; the JavaScript stack may be smaller. */
const MAX_DEPTH = 2_000;

type Step = { readonly end: number } | { readonly problem: string };

export function goJsonError(text: string): string {
  const value = readValue(text, skip(text, 0), 0);
  if ("problem" in value) return value.problem;
  const rest = skip(text, value.end);
  return rest < text.length ? invalid(text, rest, "after top-level value") : END;
}

function skip(text: string, at: number): number {
  let end = at;
  while (end < text.length && SPACE.test(text[end] ?? "")) end += 1;
  return end;
}

function invalid(text: string, at: number, where: string): string {
  const character = text[at];
  if (character === undefined) return END;
  const shown = character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${escapeUnprintable(character)}'`;
  return `invalid character ${shown} ${where}`;
}

/** Unprintable characters are shown by their code. */
function escapeUnprintable(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(4, "0");
  return /[\u007f-\u00a0\u00ad]/.test(character) ? `\\u${code}` : JSON.stringify(character).slice(1, -1);
}

function wrong(text: string, at: number, where: string): Step {
  return { problem: invalid(text, at, where) };
}

function readValue(text: string, at: number, depth: number): Step {
  const first = text[at] ?? "";
  if (depth > MAX_DEPTH) return { problem: "exceeded max depth" };
  if (first === "{") return readObject(text, at + 1, depth + 1);
  if (first === "[") return readArray(text, at + 1, depth + 1);
  if (first === '"') return readString(text, at + 1);
  if (first === "-" || /[0-9]/.test(first)) return readNumber(text, at);
  const literal = LITERALS[first];
  return literal === undefined ? wrong(text, at, "looking for beginning of value") : readLiteral(text, at, literal);
}

function readObject(text: string, start: number, depth: number): Step {
  let at = skip(text, start);
  if (text[at] === "}") return { end: at + 1 };
  for (;;) {
    if (text[at] !== '"') return wrong(text, at, "looking for beginning of object key string");
    const name = readString(text, at + 1);
    if ("problem" in name) return name;
    at = skip(text, name.end);
    if (text[at] !== ":") return wrong(text, at, "after object key");
    const value = readValue(text, skip(text, at + 1), depth);
    if ("problem" in value) return value;
    at = skip(text, value.end);
    if (text[at] === "}") return { end: at + 1 };
    if (text[at] !== ",") return wrong(text, at, "after object key:value pair");
    at = skip(text, at + 1);
  }
}

function readArray(text: string, start: number, depth: number): Step {
  let at = skip(text, start);
  if (text[at] === "]") return { end: at + 1 };
  for (;;) {
    const value = readValue(text, at, depth);
    if ("problem" in value) return value;
    at = skip(text, value.end);
    if (text[at] === "]") return { end: at + 1 };
    if (text[at] !== ",") return wrong(text, at, "after array element");
    at = skip(text, at + 1);
  }
}

function readString(text: string, start: number): Step {
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === '"') return { end: at + 1 };
    if (character < " ") return wrong(text, at, "in string literal");
    if (character !== "\\") continue;
    at += 1;
    if (!ESCAPES.has(text[at] ?? "")) return wrong(text, at, "in string escape code");
    if (text[at] !== "u") continue;
    for (const end = at + 4; at < end;) {
      at += 1;
      if (!/[0-9a-fA-F]/.test(text[at] ?? "")) return wrong(text, at, "in \\u hexadecimal character escape");
    }
  }
  return { problem: END };
}

function readNumber(text: string, start: number): Step {
  const [whole = ""] = /^-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?[0-9]*)?/.exec(text.slice(start)) ?? [];
  const end = start + whole.length;
  if (/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(whole)) return { end };
  if (whole === "-") return wrong(text, end, "in numeric literal");
  return wrong(
    text,
    end,
    whole.includes("e") || whole.includes("E") ? "in exponent of numeric literal" : "after decimal point in numeric literal",
  );
}

function readLiteral(text: string, start: number, literal: string): Step {
  for (let at = 1; at < literal.length; at += 1) {
    if (text[start + at] !== literal[at]) return wrong(text, start + at, `in literal ${literal} (expecting '${literal[at]}')`);
  }
  return { end: start + literal.length };
}
