/**
 * The framing of a record in a file: a mark, the length, a checksum of the text, a checksum of this head, the text.
 *
 * The mark has bytes that no UTF-8 text contains. So it cannot occur inside a record, and after damage the next complete record can
 * be found: that is how a torn end is distinguished from a hole in the middle. The head has a checksum of its own because a damaged
 * length would look like a record whose end is missing.
 */
import { crc32 } from "node:zlib";
import type { FileWindow } from "./file-window.ts";

const MARK = Buffer.from([0xff, 0x4c, 0x52, 0xfe]);
const LENGTH_AT = 4;
const TEXT_CHECK_AT = 8;
const HEAD_CHECK_AT = 12;
const HEAD_BYTES = 16;

export type FrameRead =
  | { readonly kind: "whole"; readonly text: Buffer; readonly next: number }
  | { readonly kind: "end" }
  /** `torn`: the file ends before the record does, as when a writer is killed. It was never acknowledged then. */
  | { readonly kind: "damaged"; readonly problem: string; readonly torn: boolean };

export function encodeFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + length);
  MARK.copy(frame);
  frame.writeUInt32LE(length, LENGTH_AT);
  frame.write(text, HEAD_BYTES);
  frame.writeUInt32LE(crc32(frame.subarray(HEAD_BYTES)), TEXT_CHECK_AT);
  frame.writeUInt32LE(crc32(frame.subarray(0, HEAD_CHECK_AT)), HEAD_CHECK_AT);
  return frame;
}

export function readFrame(file: FileWindow, offset: number): FrameRead {
  const left = file.size - offset;
  if (left === 0) return { kind: "end" };
  const head = file.bytes(offset, Math.min(left, HEAD_BYTES));
  const mark = head.subarray(0, MARK.length);
  if (!mark.equals(MARK.subarray(0, mark.length))) return damaged("no record begins here");
  if (left < HEAD_BYTES) return torn(`the head of a record is cut short, ${left} of ${HEAD_BYTES} bytes`);
  if (crc32(head.subarray(0, HEAD_CHECK_AT)) !== head.readUInt32LE(HEAD_CHECK_AT))
    return damaged("the checksum of a record's head does not match");
  const length = HEAD_BYTES + head.readUInt32LE(LENGTH_AT);
  if (left < length) return torn(`a record is cut short, ${left} of ${length} bytes`);
  const text = file.bytes(offset, length).subarray(HEAD_BYTES);
  if (crc32(text) !== head.readUInt32LE(TEXT_CHECK_AT)) return damaged("the checksum of a record does not match");
  return { kind: "whole", text, next: offset + length };
}

/** The position of the next complete record; undefined if none follows. */
export function findFrameAfter(file: FileWindow, offset: number): number | undefined {
  for (let at = file.indexOf(MARK, offset + 1); at !== undefined; at = file.indexOf(MARK, at + 1)) {
    if (readFrame(file, at).kind === "whole") return at;
  }
  return undefined;
}

function damaged(problem: string): FrameRead {
  return { kind: "damaged", problem, torn: false };
}

function torn(problem: string): FrameRead {
  return { kind: "damaged", problem, torn: true };
}
