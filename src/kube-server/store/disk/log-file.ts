/**
 * A log that is being written: records are added at the end, each with one write.
 *
 * Writes have an explicit position instead of appending. After a failed write the file is truncated to the last complete record; if that or a
 * sync fails, the state on disk is unknown, and the log rejects all writes until it is reopened.
 */
import { andThen, err, ok, type Result } from "#base";
import type { StorageError } from "../port.ts";
import { encodeRecord } from "./disk-records.ts";
import { encodeFrame } from "./frames.ts";
import { attempt, FILE_MODE, syncFolderOf, writeAll, type StoreFiles } from "./store-files.ts";

export class LogFile {
  readonly #files: StoreFiles;
  readonly #fd: number;
  readonly path: string;
  #bytes: number;
  #broken: StorageError | undefined;

  private constructor(files: StoreFiles, file: { fd: number; path: string; bytes: number }) {
    this.#files = files;
    this.#fd = file.fd;
    this.path = file.path;
    this.#bytes = file.bytes;
  }

  /** Replaces a file of this name, which must not contain records. */
  static create(files: StoreFiles, path: string, base: number): Result<LogFile, StorageError> {
    const opened = attempt(`cannot create ${path}`, () => files.openSync(path, "w", FILE_MODE));
    return andThen(opened, (fd) => {
      const log = new LogFile(files, { fd, path, bytes: 0 });
      const begun = andThen(log.append(encodeFrame(encodeRecord({ kind: "log", base }))), () => log.sync());
      const safe = andThen(begun, () => attempt(`cannot create ${path}`, () => syncFolderOf(files, path)));
      if (safe.ok) return ok(log);
      log.close();
      attempt("", () => files.rmSync(path)); // a log without records is harmless
      return safe;
    });
  }

  static resume(files: StoreFiles, path: string): Result<LogFile, StorageError> {
    return attempt(`cannot open ${path}`, () => {
      const fd = files.openSync(path, "r+");
      return new LogFile(files, { fd, path, bytes: files.fstatSync(fd).size });
    });
  }

  /** Removes everything from `offset` on. */
  static cut(files: StoreFiles, path: string, offset: number): Result<LogFile, StorageError> {
    return andThen(LogFile.resume(files, path), (log) => {
      const cut = attempt(`cannot cut ${path}`, () => files.ftruncateSync(log.#fd, offset));
      log.#bytes = offset;
      if (!cut.ok) log.close();
      return cut.ok ? ok(log) : cut;
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  append(frame: Buffer): Result<void, StorageError> {
    if (this.#broken !== undefined) return err(this.#broken);
    const written = attempt(`cannot write ${this.path}`, () => writeAll(this.#files, this.#fd, frame, this.#bytes));
    if (written.ok) this.#bytes += frame.length;
    else this.#cutBack(written.error);
    return written;
  }

  /** Removes the last record if it cannot be synced: it is not acknowledged, so it must not appear after a restart. */
  appendSafely(frame: Buffer): Result<void, StorageError> {
    const before = this.#bytes;
    return andThen(this.append(frame), () => {
      const synced = this.sync();
      if (!synced.ok) {
        this.#bytes = before;
        this.#cutBack(synced.error);
      }
      return synced;
    });
  }

  sync(): Result<void, StorageError> {
    if (this.#broken !== undefined) return err(this.#broken);
    const synced = attempt(`cannot sync ${this.path}`, () => this.#files.fsyncSync(this.#fd));
    if (!synced.ok) this.#broken = synced.error; // after a failed sync the operating system may have dropped unwritten data
    return synced;
  }

  close(): void {
    attempt("", () => this.#files.closeSync(this.#fd)); // all acknowledged records are written; there is no caller to report to
  }

  #cutBack(why: StorageError): void {
    const cut = attempt(why.message, () => this.#files.ftruncateSync(this.#fd, this.#bytes));
    if (!cut.ok) this.#broken = cut.error;
  }
}
