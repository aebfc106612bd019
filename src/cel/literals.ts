/** The values of string, bytes and number tokens. */
import { err, ok, type Result } from "#base";

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

function unquoted(token: string): { readonly body: string; readonly raw: boolean } {
  const prefix = /^[rRbB]*/.exec(token)?.[0] ?? "";
  const text = token.slice(prefix.length);
  const size = text.startsWith('"""') || text.startsWith("'''") ? 3 : 1;
  return { body: text.slice(size, -size).replaceAll("\r\n", "\n").replaceAll("\r", "\n"), raw: /[rR]/.test(prefix) };
}

export function readString(token: string): Result<string, string> {
  const { body, raw } = unquoted(token);
  if (raw) return ok(body);
  let problem: string | undefined;
  const text = body.replace(ESCAPE, (escape) => {
    const code = codeOf(escape);
    if (typeof code === "string") return code;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) problem = "illegal unicode value";
    return problem === undefined ? String.fromCodePoint(code) : "";
  });
  return problem === undefined ? ok(text) : err(problem);
}

const ESCAPE = /\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|[^])/gu;

function codeOf(escape: string): string | number {
  const letter = escape[1] ?? "";
  if (letter === "x" || letter === "X" || letter === "u" || letter === "U") return Number.parseInt(escape.slice(2), 16);
  if (/[0-7]/.test(letter)) return Number.parseInt(escape.slice(1), 8);
  return SIMPLE.get(letter) ?? letter;
}

/** In bytes a numeric escape is one byte; everything else is UTF-8. */
export function readBytes(token: string): Result<Uint8Array, string> {
  const { body, raw } = unquoted(token);
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  let rest = body;
  while (rest !== "") {
    const escape = raw ? undefined : /^\\(?:[xX][0-9a-fA-F]{2}|[0-3][0-7]{2}|[^])/u.exec(rest)?.[0];
    const part = escape ?? Array.from(rest.slice(0, 2))[0] ?? "";
    if (escape !== undefined && /^\\[uU]/.test(escape)) return err("unable to unescape string");
    const code = escape === undefined ? part : codeOf(escape);
    bytes.push(...(typeof code === "number" ? [code] : encoder.encode(code)));
    rest = rest.slice(part.length);
  }
  return ok(Uint8Array.from(bytes));
}

export function readInteger(token: string, limit: { readonly min: bigint; readonly max: bigint }): bigint | undefined {
  const negative = token.startsWith("-");
  const size = BigInt(negative ? token.slice(1) : token);
  const value = negative ? -size : size;
  return value < limit.min || value > limit.max ? undefined : value;
}

export const INT64 = { min: -(1n << 63n), max: (1n << 63n) - 1n };
export const UINT64 = { min: 0n, max: (1n << 64n) - 1n };
