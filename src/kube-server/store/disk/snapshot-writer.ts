/**
 * Writes the whole state at one revision, a few objects at a time, while the store continues.
 *
 * 100,000 objects take a second to write; requests must not wait for that. Each step lists the next page at the snapshot's revision, which is
 * pinned in the history. Under its final name the file is always complete.
 */
import { andThen, mapErr, ok, type Result } from "#base";
import type { CollectionName, StorageError, Stored, StoreKey } from "../port.ts";
import type { StoreState } from "../store-state.ts";
import { partPath, snapshotPath } from "./data-folder.ts";
import { encodeRecord } from "./disk-records.ts";
import { encodeFrame } from "./frames.ts";
import { attempt, FILE_MODE, syncFolderOf, writeAll, type StoreFiles } from "./store-files.ts";

const PAGE = 64;

export class SnapshotWriter {
  readonly #files: StoreFiles;
  readonly #state: StoreState;
  readonly #fd: number;
  readonly #path: string;
  readonly revision: number;
  readonly #collections: CollectionName[];
  #after: StoreKey | undefined;
  #bytes = 0;
  #objects = 0;

  private constructor(files: StoreFiles, state: StoreState, file: { fd: number; path: string }) {
    this.#files = files;
    this.#state = state;
    this.#fd = file.fd;
    this.#path = file.path;
    this.revision = state.revision;
    this.#collections = [...state.collections()];
  }

  static begin(files: StoreFiles, folder: string, state: StoreState): Result<SnapshotWriter, StorageError> {
    const path = snapshotPath(folder, state.revision);
    const opened = attempt(`cannot create ${path}`, () => files.openSync(partPath(path), "w", FILE_MODE));
    return andThen(opened, (fd) => {
      const writer = new SnapshotWriter(files, state, { fd, path });
      const begun = writer.#write([encodeFrame(encodeRecord({ kind: "snapshot", revision: writer.revision }))]);
      if (!begun.ok) writer.abandon();
      return begun.ok ? ok(writer) : begun;
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Writes a page, and more pages up to so many bytes; true when the snapshot is finished. */
  step(bytes: number): Result<boolean, StorageError> {
    const enough = this.#bytes + bytes;
    do {
      const [collection] = this.#collections;
      if (collection === undefined) return this.#finish();
      const written = this.#writePage(collection);
      if (!written.ok) return written;
    } while (this.#bytes < enough);
    return ok(false);
  }

  abandon(): void {
    attempt("", () => this.#files.closeSync(this.#fd)); // a remaining part is removed at the next start
    attempt("", () => this.#files.rmSync(partPath(this.#path)));
  }

  #writePage(collection: CollectionName): Result<void, StorageError> {
    const listed = this.#state.list(collection, { revision: this.revision, after: this.#after, limit: PAGE });
    const page = mapErr(listed, ({ kind }): StorageError => ({
      kind: "storage",
      message: `the state at revision ${this.revision} is ${kind}`,
    }));
    return andThen(page, ({ items, remaining }) => {
      this.#after = items.at(-1)?.key;
      this.#objects += items.length;
      if (remaining === 0) {
        this.#collections.shift();
        this.#after = undefined;
      }
      return this.#write(items.map((stored) => frameOf(collection, stored)));
    });
  }

  #write(frames: readonly Buffer[]): Result<void, StorageError> {
    const bytes = Buffer.concat(frames);
    const written = attempt(`cannot write ${this.#path}`, () => writeAll(this.#files, this.#fd, bytes, this.#bytes));
    this.#bytes += bytes.length;
    return written;
  }

  #finish(): Result<boolean, StorageError> {
    const ended = this.#write([encodeFrame(encodeRecord({ kind: "end", objects: this.#objects }))]);
    return andThen(ended, () =>
      attempt(`cannot finish ${this.#path}`, () => {
        this.#files.fsyncSync(this.#fd);
        this.#files.renameSync(partPath(this.#path), this.#path);
        syncFolderOf(this.#files, this.#path);
        this.#files.closeSync(this.#fd);
        return true;
      }),
    );
  }
}

function frameOf(collection: CollectionName, { key, object, revision }: Stored): Buffer {
  return encodeFrame(encodeRecord({ kind: "change", change: { revision, collection, key, object } }));
}
