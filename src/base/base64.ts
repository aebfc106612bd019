/** Base64 of bytes and of text (as UTF-8), without Node's Buffer: the compilers run anywhere. */
import { err, ok, type Result } from "./result.ts";

const CHUNK = 8_192;

export function base64OfBytes(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}

const encoder = new TextEncoder();

export function base64OfText(text: string): string {
  return base64OfBytes(encoder.encode(text));
}

/** Line breaks and spaces are ignored, as in pasted files; any other character outside the alphabet is an error. */
export function bytesOfBase64(text: string): Result<Uint8Array, string> {
  const dense = text.replace(/[\r\n\t ]/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(dense) || dense.length % 4 !== 0) return err("is not valid base64");
  return ok(Uint8Array.from(atob(dense), (character) => character.charCodeAt(0)));
}

/**
 * Base64url without padding (RFC 7515), in its canonical form only: `Buffer.from(text, "base64url")` skips unknown characters and ignores
 * unused bits, so that many texts would be the same signature.
 */
export function bytesOfBase64Url(text: string): Result<Uint8Array, string> {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return err("is not valid base64url");
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
  return base64OfBytes(bytes).replace(/=+$/, "") === standard ? ok(bytes) : err("is not canonical base64url");
}
