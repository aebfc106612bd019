/**
 * Persists a store: every change is appended to a log, and from time to time a snapshot replaces earlier logs.
 *
 * The order makes it safe. First a new log is started, so that it has all changes after the snapshot's revision. The snapshot is extended with
 * each write and gets its final name when it is complete. Then the old files are removed. Whenever the process is killed, there is a complete
 * snapshot (or none yet) and every later log.
 */
import { dirname } from "node:path";
import { andThen, map, type Logger, type Result } from "#base";
import type { Journal } from "../live-store.ts";
import type { StorageError } from "../port.ts";
import type { ChangeRecord, StoreState } from "../store-state.ts";
import { logPath, readFolder } from "./data-folder.ts";
import { encodeRecord } from "./disk-records.ts";
import { encodeFrame } from "./frames.ts";
import { LogFile } from "./log-file.ts";
import { SnapshotWriter } from "./snapshot-writer.ts";
import { attempt, type StoreFiles } from "./store-files.ts";

export type DiskJournalOptions = {
  readonly files: StoreFiles;
  readonly logger: Logger;
  readonly state: StoreState;
  readonly log: LogFile;
  readonly fsync: "always" | "never";
  /** A snapshot is due when the logs are this long and as long as the last snapshot: so the work is proportional to the changes. */
  readonly snapshotAfterBytes: number;
  /** The size of earlier logs, and of the last snapshot. */
  readonly olderLogBytes: number;
  readonly snapshotBytes: number;
  readonly onClose: () => void;
};

/** A snapshot is extended by this multiple of a write's log record, so that it is complete long before the next one is due. */
const SNAPSHOT_PACE = 8;

export class DiskJournal implements Journal {
  readonly #options: DiskJournalOptions;
  #log: LogFile;
  #olderLogBytes: number;
  #snapshotDueAt: number;
  #snapshot: SnapshotWriter | undefined;
  #lastRecordBytes = 0;

  constructor(options: DiskJournalOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#olderLogBytes = options.olderLogBytes;
    this.#snapshotDueAt = Math.max(options.snapshotAfterBytes, options.snapshotBytes);
  }

  append(record: ChangeRecord): Result<void, StorageError> {
    const frame = encodeFrame(encodeRecord({ kind: "change", change: record }));
    this.#lastRecordBytes = frame.length;
    return this.#options.fsync === "always" ? this.#log.appendSafely(frame) : this.#log.append(frame);
  }

  settled(): void {
    const due = this.#olderLogBytes + this.#log.bytes >= this.#snapshotDueAt;
    if (this.#snapshot === undefined && due) this.#report(this.#begin());
    else if (this.#snapshot !== undefined) this.#report(this.#continue(this.#snapshot));
  }

  close(): void {
    this.#dropSnapshot();
    this.#report(this.#log.sync());
    this.#log.close();
    this.#options.onClose();
  }

  #begin(): Result<void, StorageError> {
    const { files, state } = this.#options;
    const folder = dirname(this.#log.path);
    const old = this.#log;
    // the old log first: after a power failure, a record of the new log must not exist without those of the old one
    const next = andThen(old.sync(), () => LogFile.create(files, logPath(folder, state.revision), state.revision));
    return andThen(next, (log) => {
      this.#olderLogBytes += old.bytes;
      this.#log = log;
      old.close();
      return map(SnapshotWriter.begin(files, folder, state), (writer) => {
        this.#snapshot = writer;
        state.history.pin(writer.revision);
      });
    });
  }

  #continue(writer: SnapshotWriter): Result<void, StorageError> {
    return andThen(writer.step(SNAPSHOT_PACE * this.#lastRecordBytes), (finished) => {
      if (!finished) return { ok: true, value: undefined };
      const { files, state, logger, snapshotAfterBytes } = this.#options;
      this.#snapshot = undefined;
      state.history.pin(undefined);
      this.#olderLogBytes = 0;
      this.#snapshotDueAt = Math.max(snapshotAfterBytes, writer.bytes);
      logger.info("wrote a snapshot of the store", { revision: writer.revision, bytes: writer.bytes });
      return attempt("cannot remove old files of the store", () => removeBefore(files, dirname(this.#log.path), writer.revision));
    });
  }

  /** A failed snapshot (disk full) fails no write, because all changes are in the logs. It is retried when they have grown. */
  #report(done: Result<unknown, StorageError>): void {
    if (done.ok) return;
    this.#options.logger.warn("housekeeping of the store failed", { problem: done.error.message });
    this.#dropSnapshot();
    this.#snapshotDueAt = this.#olderLogBytes + this.#log.bytes + this.#options.snapshotAfterBytes;
  }

  #dropSnapshot(): void {
    this.#snapshot?.abandon();
    this.#snapshot = undefined;
    this.#options.state.history.pin(undefined);
  }
}

function removeBefore(files: StoreFiles, folder: string, revision: number): void {
  const { logs, snapshots } = readFolder(files, folder);
  for (const file of [...snapshots, ...logs]) if (file.revision < revision) files.rmSync(file.path);
}
