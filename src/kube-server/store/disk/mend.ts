/**
 * Repairs a folder after `recover` has reported what is wrong with it; it is then read again. Bytes that are no record are
 * copied aside before anything is cut: whatever a person may want to look at later is still there.
 *
 * Revisions are never given out twice. A torn record was never acknowledged, so its revision is free; but a record that was
 * whole once and is damaged now had a revision that a client may know. Those are skipped, and a client that sends one of them
 * gets 410 and must list again.
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

/** What was no record, and where a copy of it is. */
export type KeptDamage = Damage & { readonly keptIn: string };

/** No change is written in fewer bytes: a damaged stretch held at most one revision per so many. */
const SMALLEST_RECORD = 32;

/** What was cut off, or set aside by a repair. Empty: there was nothing to mend. */
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

/** Copies of the damaged files, then a fresh snapshot of what could be read: the old files are obsolete from then on. */
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
