/**
 * Tokens of CEL. Invalid text is reported and skipped, as ANTLR does, so that the parser can report what is missing.
 */
import type { Issue, Source } from "./source.ts";

export type TokenKind = "identifier" | "escaped" | "int" | "uint" | "float" | "string" | "bytes" | "symbol" | "eof";
export type Token = { readonly kind: TokenKind; readonly text: string; readonly at: number };

export type Lexed = { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] };

const SYMBOLS = ["==", "!=", "<=", ">=", "&&", "||", ...Array.from("<>[]{}().,-!?:+*/%")];
const WORD_SYMBOLS = new Set(["in"]);
const SPACE = /^[ \t\r\n\f]/;

/** Each is matched at the start of the remaining text; the first match wins. */
const PATTERNS: readonly (readonly [kind: TokenKind, pattern: RegExp])[] = [
  ["bytes", /^[bB](?:[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\n\r]*"|'[^'\n\r]*'))/],
  ["bytes", bodyPattern("[bB]")],
  ["string", /^[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\n\r]*"|'[^'\n\r]*')/],
  ["string", bodyPattern("")],
  ["float", /^(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/],
  ["uint", /^(?:0x[0-9a-fA-F]+|\d+)[uU]/],
  ["int", /^(?:0x[0-9a-fA-F]+|\d+)/],
  ["identifier", /^[A-Za-z_][A-Za-z0-9_]*/],
  ["escaped", /^`[A-Za-z0-9_.\-/ ]+`/],
];

function bodyPattern(prefix: string): RegExp {
  const escape = "\\\\(?:[abfnrtv\"'\\\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})";
  const quoted = (mark: string): string => `${mark}${mark}${mark}(?:${escape}|[^\\\\])*?${mark}${mark}${mark}`;
  const simple = (mark: string): string => `${mark}(?:${escape}|[^\\\\${mark}\\n\\r])*${mark}`;
  return new RegExp(`^${prefix}(?:${quoted('"')}|${quoted("'")}|${simple('"')}|${simple("'")})`, "u");
}

export function lex(source: Source): Lexed {
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  const text = source.characters.join("");
  let unit = 0; // in UTF-16, for slicing; `at` counts code points
  let at = 0;
  while (unit < text.length) {
    const rest = text.slice(unit, unit + MAX_TOKEN);
    const skipped = skippedLength(rest);
    const token = skipped > 0 ? undefined : tokenAt(rest, at);
    const length = skipped > 0 ? skipped : (token?.text.length ?? badLength(rest));
    if (token !== undefined) tokens.push(token);
    else if (skipped === 0) issues.push({ at, message: `Syntax error: token recognition error at: '${rest.slice(0, length)}'` });
    at += Array.from(rest.slice(0, length)).length;
    unit += length;
  }
  tokens.push({ kind: "eof", text: "<EOF>", at });
  return { tokens, issues };
}

/** No token of a rule that the server accepts is longer. */
const MAX_TOKEN = 100_000;

function skippedLength(rest: string): number {
  if (rest.startsWith("//")) return /^[^\n]*/.exec(rest)?.[0].length ?? 0;
  return SPACE.test(rest) ? 1 : 0;
}

function tokenAt(rest: string, at: number): Token | undefined {
  for (const [kind, pattern] of PATTERNS) {
    const text = pattern.exec(rest)?.[0];
    if (text !== undefined) return { kind: WORD_SYMBOLS.has(text) ? "symbol" : kind, text, at };
  }
  const symbol = SYMBOLS.find((one) => rest.startsWith(one));
  return symbol === undefined ? undefined : { kind: "symbol", text: symbol, at };
}

/** The longest prefix of a token: `=` needs a second character, a quote its end. */
function badLength(rest: string): number {
  const first = Array.from(rest.slice(0, 2))[0] ?? "";
  if (first === '"' || first === "'") return unfinishedText(rest);
  if ("=&|".includes(first) && rest.length > 1) return 1 + (Array.from(rest.slice(1, 3))[0]?.length ?? 0);
  return first.length;
}

function unfinishedText(rest: string): number {
  for (let at = 1; at < rest.length; at++) {
    if (rest[at] === "\n" || rest[at] === "\r") return at + 1;
    if (rest[at] !== "\\") continue;
    const escape = /^\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/.exec(rest.slice(at));
    if (escape === null) return at + 2;
    at += escape[0].length - 1;
  }
  return rest.length;
}
