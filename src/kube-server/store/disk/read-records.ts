/** Reads the records of one file in order, up to the end or the first error. */
import { decodeRecord, type DiskRecord } from "./disk-records.ts";
import type { FileWindow } from "./file-window.ts";
import { findFrameAfter, readFrame } from "./frames.ts";

/** Bytes of a file that are not a record, and the reason. */
export type Damage = { readonly file: string; readonly offset: number; readonly bytes: number; readonly problem: string };

export type Trouble = Omit<Damage, "file"> & {
  /** The file ends inside a record: its writer was killed, and the write was not acknowledged. */
  readonly torn: boolean;
  /** The position of the next complete record; undefined: none follows. */
  readonly resumesAt: number | undefined;
};

/** `take` returns the error of a record at this position, or undefined. */
export function readRecords(
  file: FileWindow,
  from: number,
  take: (record: DiskRecord, offset: number) => string | undefined,
): Trouble | undefined {
  for (let offset = from; ;) {
    const frame = readFrame(file, offset);
    if (frame.kind === "end") return undefined;
    if (frame.kind === "damaged") return troubleAt(file, offset, frame);
    const record = decodeRecord(frame.text);
    const problem = record.ok ? take(record.value, offset) : record.error;
    // a complete record at a wrong position is not a torn write: it must not be removed
    if (problem !== undefined) return { offset, bytes: frame.next - offset, problem, torn: false, resumesAt: frame.next };
    offset = frame.next;
  }
}

function troubleAt(file: FileWindow, offset: number, { problem, torn }: { problem: string; torn: boolean }): Trouble {
  const resumesAt = findFrameAfter(file, offset);
  return { offset, bytes: (resumesAt ?? file.size) - offset, problem, torn, resumesAt };
}
