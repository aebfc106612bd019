/** Protobuf's wire format: a sequence of fields, each with a number and a wire type. */
import { err, ok, type Result } from "#base";

export type WireField = { readonly number: number; readonly value: bigint | Uint8Array };

const TRUNCATED = "unexpected EOF";

/** All fields of a message, in order. */
export function readFields(bytes: Uint8Array): Result<readonly WireField[], string> {
  const fields: WireField[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === undefined) return err(TRUNCATED);
    const number = Number(tag.value >> 3n);
    const read = READERS.get(Number(tag.value & 7n))?.(bytes, tag.end);
    if (number === 0 || read === undefined) return err(`proto: illegal field ${number} or wire type ${Number(tag.value & 7n)}`);
    if (read === "truncated") return err(TRUNCATED);
    fields.push({ number, value: read.value });
    at = read.end;
  }
  return ok(fields);
}

type Read = { readonly value: bigint | Uint8Array; readonly end: number } | "truncated";

const READERS: ReadonlyMap<number, (bytes: Uint8Array, at: number) => Read> = new Map<number, (bytes: Uint8Array, at: number) => Read>([
  [0, (bytes, at) => readVarint(bytes, at) ?? "truncated"],
  [1, (bytes, at) => readFixed(bytes, at, 8)],
  [2, readDelimited],
  [5, (bytes, at) => readFixed(bytes, at, 4)],
]);

function readVarint(bytes: Uint8Array, start: number): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n;
  for (let at = start, shift = 0n; at < bytes.length && shift < 70n; at += 1, shift += 7n) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}

function readFixed(bytes: Uint8Array, at: number, size: number): Read {
  return at + size > bytes.length ? "truncated" : { value: bytes.subarray(at, at + size), end: at + size };
}

function readDelimited(bytes: Uint8Array, at: number): Read {
  const length = readVarint(bytes, at);
  if (length === undefined || length.value > BigInt(bytes.length - length.end)) return "truncated";
  const end = length.end + Number(length.value);
  return { value: bytes.subarray(length.end, end), end };
}
