/** Decodes bytes as text. Invalid UTF-8 is an error: replacement characters would silently change a password or a name. */
import { err, fromThrowing, type Result } from "./result.ts";

/** A byte order mark at the beginning is kept, as part of the text. */
export function textOfBytes(bytes: Uint8Array): Result<string, string> {
  return decode(bytes, true);
}

/** The text of a file, without a byte order mark at its beginning. */
export function textOfFile(bytes: Uint8Array): Result<string, string> {
  return decode(bytes, false);
}

function decode(bytes: Uint8Array, ignoreBOM: boolean): Result<string, string> {
  const text = fromThrowing(
    () => new TextDecoder("utf-8", { fatal: true, ignoreBOM }).decode(bytes),
    () => undefined,
  );
  return text.ok ? text : err("is no UTF-8 text");
}
