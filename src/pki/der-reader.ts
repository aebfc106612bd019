/**
 * DER decoder: only what is needed to find a part of a certificate. The input is untrusted: every length is checked against the input.
 */
import { err, ok, type Result } from "#base";

export type DerElement = {
  readonly tag: number;
  readonly content: Uint8Array;
  /** Tag and length included. */
  readonly whole: Uint8Array;
  /** The bytes after the element. */
  readonly rest: Uint8Array;
};

export function readElement(bytes: Uint8Array): Result<DerElement, string> {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) return err("the element is cut off");
  if ((tag & 0x1f) === 0x1f) return err("tags of several bytes are not used in certificates");
  const header = readLength(bytes, first);
  if (!header.ok) return header;
  const end = header.value.start + header.value.length;
  if (end > bytes.byteLength) return err("the element is longer than its input");
  return ok({ tag, content: bytes.subarray(header.value.start, end), whole: bytes.subarray(0, end), rest: bytes.subarray(end) });
}

function readLength(bytes: Uint8Array, first: number): Result<{ start: number; length: number }, string> {
  if (first < 0x80) return ok({ start: 2, length: first });
  const count = first & 0x7f;
  // 0x80 is BER's indefinite length; four bytes already mean four gigabytes
  if (count === 0 || count > 4 || bytes.byteLength < 2 + count) return err("the length is not written in DER");
  const length = bytes.subarray(2, 2 + count).reduce((value, byte) => value * 256 + byte, 0);
  if (length < 0x80 || bytes[2] === 0) return err("the length is not written in its shortest form");
  return ok({ start: 2 + count, length });
}

/** The elements inside a SEQUENCE or SET, at most `limit` of them. */
export function readChildren(content: Uint8Array, limit = 1_000): Result<readonly DerElement[], string> {
  const children: DerElement[] = [];
  for (let rest = content; rest.byteLength > 0;) {
    if (children.length >= limit) return err(`more than ${limit} elements`);
    const child = readElement(rest);
    if (!child.ok) return child;
    children.push(child.value);
    rest = child.value.rest;
  }
  return ok(children);
}
