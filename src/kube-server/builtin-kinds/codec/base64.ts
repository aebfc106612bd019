/** Base64 as Go reads it: line breaks are skipped, everything else must be exact, and an error names the byte where it stopped. */
import { err, ok, type Result } from "#base";

const ALPHABET = /^[A-Za-z0-9+/]$/;

const WHOLE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The text without line breaks, checked. */
export function normaliseBase64(text: string): Result<string, string> {
  return WHOLE.test(text) ? ok(text) : normaliseClosely(text);
}

function normaliseClosely(text: string): Result<string, string> {
  let clean = "";
  let inGroup = 0;
  let groupStart = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "\n" || char === "\r") continue;
    if (char === "=") return padded(text, at, clean, inGroup);
    if (!ALPHABET.test(char)) return illegal(at);
    if (inGroup === 0) groupStart = at;
    clean += char;
    inGroup = (inGroup + 1) % 4;
  }
  return inGroup === 0 ? ok(clean) : illegal(groupStart);
}

function padded(text: string, at: number, clean: string, inGroup: number): Result<string, string> {
  if (inGroup < 2) return illegal(at);
  const rest = text.slice(at).replaceAll(/[\r\n]/g, "");
  const want = inGroup === 2 ? "==" : "=";
  if (!rest.startsWith(want)) return illegal(rest.length < want.length ? text.length : at + 1);
  return rest === want ? ok(clean + want) : illegal(at + want.length);
}

function illegal(byte: number): Result<never, string> {
  return err(`illegal base64 data at input byte ${byte}`);
}
