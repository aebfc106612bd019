/**
 * Repairs a folder after `recover` has reported what is wrong with it; it is then read again. Bytes that are not a record are
 * copied to another file before anything is removed, so that they can be inspected later.
 *
 * Revisions are never reused. A torn record was never acknowledged, so its revision is free; but a damaged record had a revision that a client
 * may have received. Those are skipped, and a client that sends one of them gets 410 and must list again.
 */
import { basename, dirname } from "node:path";
import { andThen, map, ok, type Result } from "#base";
import type { StorageError } from "../port.ts";
import { freePath } from "./data-folder.ts";
import { encodeRecord } from "./disk-records.ts";
import { encodeFrame } from "./frames.ts";
import { LogFile } from "./log-file.ts";
import type { Damage } from "./read-records.ts";
import type { Recovered } from "./recover.ts";
import { SnapshotWriter } from "./snapshot-writer.ts";
import { attempt, withFile, writeAll, type StoreFiles } from "./store-files.ts";

/** Bytes that are not a record, and the name of their copy. */
export type KeptDamage = Damage & { readonly keptIn: string };

/** The minimal size of a change: damaged bytes contained at most one revision per this number. */
const SMALLEST_RECORD = 32;

/** Bytes that were removed or set aside. Empty: nothing was repaired. */
export function mend(files: StoreFiles, folder: string, recovered: Recovered): Result<readonly KeptDamage[], StorageError> {
  const { tail, state } = recovered;
  const cut = tail === undefined ? ok([]) : map(cutTail(files, tail, state.revision), (kept) => [kept]);
  return andThen(cut, (kept) => map(rewrite(files, folder, recovered), (more) => [...kept, ...more]));
}

function cutTail(files: StoreFiles, tail: NonNullable<Recovered["tail"]>, revision: number): Result<KeptDamage, StorageError> {
  const { torn, ...damage } = tail;
  const kept = attempt(`cannot set the end of ${tail.file} aside`, () => ({ ...damage, keptIn: keepBytes(files, damage) }));
  return andThen(kept, (value) => {
    const log = tail.offset === 0 ? LogFile.create(files, tail.file, revision) : LogFile.cut(files, tail.file, tail.offset);
    const mended = andThen(log, (open) => {
      const skip = encodeFrame(encodeRecord({ kind: "skip", to: revision + mostRevisionsIn(tail.bytes) }));
      const done = torn ? open.sync() : open.appendSafely(skip);
      open.close();
      return done;
    });
    return map(mended, () => value);
  });
}

/** Copies the damaged files, then writes a snapshot of the readable records: afterwards the old files are obsolete. */
function rewrite(files: StoreFiles, folder: string, { state, damages, tail }: Recovered): Result<readonly KeptDamage[], StorageError> {
  if (damages.length === 0) return ok([]);
  const kept = attempt(`cannot set damaged files of ${folder} aside`, () => {
    const copies = new Map([...new Set(damages.map(({ file }) => file))].map((file) => [file, copyAside(files, file)]));
    return damages.map((damage) => ({ ...damage, keptIn: copies.get(damage.file) ?? "" }));
  });
  if (!kept.ok) return kept;
  const lost = [...damages, ...(tail === undefined ? [] : [tail])].reduce((sum, { bytes }) => sum + mostRevisionsIn(bytes), 1);
  state.skipTo(state.revision + lost);
  return andThen(SnapshotWriter.begin(files, folder, state), (writer) => {
    const finished = writer.step(Number.POSITIVE_INFINITY);
    if (!finished.ok) writer.abandon();
    return map(finished, () => kept.value);
  });
}

function mostRevisionsIn(bytes: number): number {
  return Math.ceil(bytes / SMALLEST_RECORD);
}

function keepBytes(files: StoreFiles, { file, offset, bytes }: Damage): string {
  const path = freePath(files, dirname(file), `cut-${basename(file)}-at-${offset}`);
  const cut = withFile(files, file, "r", (fd) => {
    const content = Buffer.alloc(bytes);
    for (let done = 0; done < bytes;) done += files.readSync(fd, content, done, bytes - done, offset + done);
    return content;
  });
  withFile(files, path, "wx", (fd) => {
    writeAll(files, fd, cut, 0);
    files.fsyncSync(fd);
  });
  return path;
}

function copyAside(files: StoreFiles, file: string): string {
  const path = freePath(files, dirname(file), `damaged-${basename(file)}`);
  files.copyFileSync(file, path);
  withFile(files, path, "r+", (fd) => files.fsyncSync(fd));
  return path;
}
