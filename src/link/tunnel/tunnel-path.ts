/**
 * Checks a path before it is sent to an API server: everything that two servers could read differently is refused, not corrected.
 *
 * Percent-encoding is decoded until nothing changes: another proxy behind the API server may decode once more.
 */
import { err, ok, type Result } from "#base";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";

/** Printable ASCII without space, `"`, `#`, `<`, `>`, `\`, `^`, backtick, `{`, `|`, `}`. */
const TARGET = /^[!$-;=?-[\]_a-z~]+$/;
const MAX_DECODING = 8;

/** A path with its query; the result equals the input. */
export function parseTunnelPath(raw: string): Result<string, string> {
  if (!raw.startsWith("/")) return err("the path must begin with /");
  if (raw.length > TUNNEL_LIMITS.pathBytes) return err(`the path is longer than ${TUNNEL_LIMITS.pathBytes} characters`);
  if (!TARGET.test(raw)) return err("the path has a character that must be percent-encoded");
  const query = raw.indexOf("?");
  const path = query < 0 ? raw : raw.slice(0, query);
  if (path.includes("//")) return err("the path has an empty segment");
  const decoded = decodings(path);
  if (decoded === undefined) return err("the percent-encoding of the path is invalid");
  if (decoded.some(hasDotSegment)) return err("the path has a segment . or ..");
  return decoded.some(hasControl) ? err("the path has an encoded control character") : ok(raw);
}

/** The path, decoded once, decoded twice, and so on. Undefined: the encoding is invalid or nested too deeply. */
function decodings(path: string): readonly string[] | undefined {
  const all = [path];
  for (let text = path; text.includes("%");) {
    const next = decodePercent(text);
    // text behind the first decoding may contain a literal percent sign
    if (next === undefined) return all.length === 1 ? undefined : all;
    if (all.length === MAX_DECODING) return undefined;
    all.push(next);
    text = next;
  }
  return all;
}

/** Byte by byte: overlong and invalid UTF-8 must not hide a character. */
function decodePercent(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  return text.replace(/%([0-9a-fA-F]{2})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Also between backslashes, and before the parameters that some servers cut off a segment (`..;x`). */
function hasDotSegment(text: string): boolean {
  return text.split(/[/\\]/).some((segment) => /^\.{1,2}(;.*)?$/s.test(segment));
}

function hasControl(text: string): boolean {
  // eslint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f]/.test(text);
}
