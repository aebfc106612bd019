/**
 * Reads the state from files: the newest snapshot, then the logs after it. It only reads; necessary repairs are reported.
 *
 * A killed writer leaves the newest log torn at its end: the torn record can be removed. Any other damage (before complete records, in an older
 * file, or a missing file) has lost acknowledged writes, and only a person may decide to continue. `repair` is that decision.
 */
import { err, ok, type Result } from "#base";
import type { HistoryLimit } from "../history.ts";
import { FIRST_REVISION, StoreState } from "../store-state.ts";
import { readFolder, type NumberedFile } from "./data-folder.ts";
import { encodeRecord, type KnownRecord } from "./disk-records.ts";
import { FileWindow } from "./file-window.ts";
import { encodeFrame } from "./frames.ts";
import type { StoreOpenError } from "./open-error.ts";
import { readRecords, type Damage, type Trouble } from "./read-records.ts";
import { withFile, type StoreFiles } from "./store-files.ts";

export type RecoverRequest = {
  readonly files: StoreFiles;
  readonly folder: string;
  readonly repair: boolean;
  readonly historyLimit: Partial<HistoryLimit> | undefined;
};

export type Recovered = {
  readonly state: StoreState;
  readonly snapshot: { readonly revision: number; readonly bytes: number } | undefined;
  /** Oldest first; new changes are appended to the last one. */
  readonly logs: readonly { readonly path: string; readonly bytes: number }[];
  readonly replayed: number;
  /** The end of the last log, if it is not a record. */
  readonly tail: (Damage & { readonly torn: boolean }) | undefined;
  /** With `repair` only: all other bytes that are not a record. */
  readonly damages: readonly Damage[];
  /** Files that a snapshot has replaced or that were never finished. */
  readonly obsolete: readonly string[];
  /** Logs that end inside their head: truncated from outside, or the process was killed during their creation. */
  readonly emptied: readonly string[];
  /** A server has used the folder, and no change is left. */
  readonly lost: boolean;
};

/** Returns the error of a record at this position, or undefined. */
type Take = (record: KnownRecord, offset: number) => string | undefined;

/** Throws as node:fs does. */
export function recover(request: RecoverRequest): Result<Recovered, StoreOpenError> {
  return new Recovery(request).run();
}

class Recovery {
  readonly #request: RecoverRequest;
  readonly #damages: Damage[] = [];
  #tail: Recovered["tail"];
  #replayed = 0;

  constructor(request: RecoverRequest) {
    this.#request = request;
  }

  run(): Result<Recovered, StoreOpenError> {
    const { files, folder } = this.#request;
    const content = readFolder(files, folder);
    const newest = content.snapshots.at(-1);
    const start = newest?.revision ?? FIRST_REVISION;
    const state = new StoreState({ revision: start, historyLimit: this.#request.historyLimit });
    const loaded = newest === undefined ? ok(undefined) : this.#loadSnapshot(newest, state);
    if (!loaded.ok) return loaded;
    const sized = content.logs.map((log) => ({ ...log, bytes: sizeOf(files, log.path) }));
    const logs = sized.filter(({ revision, bytes }) => revision >= start && !isBare(revision, bytes));
    for (const log of logs) {
      const read = this.#readLog(log, { state, last: log === logs.at(-1) });
      if (!read.ok) return read;
    }
    const gone = [...content.snapshots.slice(0, -1), ...sized.filter((log) => !logs.includes(log))].map(({ path }) => path);
    const snapshot = newest === undefined ? undefined : { revision: start, bytes: sizeOf(files, newest.path) };
    const found = { tail: this.#tail, damages: this.#damages, replayed: this.#replayed };
    const emptied = sized.filter(({ revision, bytes }) => revision >= start && bytes < headBytes(revision)).map(({ path }) => path);
    // a single log with only its head: the first start was interrupted
    const marked = emptied.length > 0 || content.marked;
    const lost = marked && newest === undefined && state.revision === FIRST_REVISION;
    return ok({ state, snapshot, logs, ...found, obsolete: [...gone, ...content.parts], emptied, lost });
  }

  #loadSnapshot(file: NumberedFile, state: StoreState): Result<void, StoreOpenError> {
    let objects = 0;
    let begun = false;
    let ended = false;
    const take: Take = (record) => {
      if (!begun && record.kind === "snapshot" && record.revision === file.revision) begun = true;
      else if (begun && !ended && record.kind === "end" && record.objects === objects) ended = true;
      else if (((begun && !ended) || this.#request.repair) && record.kind === "change" && record.change.object !== undefined) {
        objects += 1;
        const { collection, key, object, revision } = record.change;
        state.load(collection, { key, object, revision });
      } else return `not what a snapshot of revision ${file.revision} has here`;
      return undefined;
    };
    const read = this.#read(file, take, () => false);
    if (!read.ok || ended) return read;
    const bytes = sizeOf(this.#request.files, file.path);
    return this.#trouble(file, { offset: bytes, bytes: 0, problem: "the end of the snapshot is missing" });
  }

  #readLog(file: NumberedFile, { state, last }: { state: StoreState; last: boolean }): Result<void, StoreOpenError> {
    if (file.revision !== state.revision) {
      const problem = `it begins after revision ${file.revision}, but what comes before it ends at ${state.revision}`;
      const known = this.#trouble(file, { offset: 0, bytes: 0, problem });
      if (!known.ok) return known;
    }
    let begun = false;
    const take: Take = (record, offset) => {
      const isHead = record.kind === "log" && record.base === file.revision && !begun;
      if (record.kind === "log" ? !isHead : !begun && !this.#request.repair) return `not the head of a log after revision ${file.revision}`;
      begun ||= isHead;
      return isHead ? undefined : this.#replay(record, { state, file, offset });
    };
    return this.#read(file, take, (trouble) => {
      if (!last || trouble.resumesAt !== undefined) return false;
      this.#tail = { file: file.path, offset: trouble.offset, bytes: trouble.bytes, problem: trouble.problem, torn: trouble.torn };
      return true;
    });
  }

  #replay(record: KnownRecord, { state, file, offset }: { state: StoreState; file: NumberedFile; offset: number }): string | undefined {
    if (record.kind === "skip" && record.to > state.revision) state.skipTo(record.to);
    else if (record.kind !== "change") return "not a change";
    else {
      const { revision } = record.change;
      const problem = `revision ${revision} after revision ${state.revision}`;
      if (revision <= state.revision) return problem;
      // missing revisions are reported once, by the damage that caused them if there is one
      if (revision > state.revision + 1 && this.#damages.length === 0 && !this.#trouble(file, { offset, bytes: 0, problem }).ok)
        return problem;
      state.apply(record.change);
      this.#replayed += 1;
    }
    return undefined;
  }

  /** `isTail`: damage at the end of the file is accepted; all other damage needs `repair`. */
  #read(file: NumberedFile, take: Take, isTail: (trouble: Trouble) => boolean): Result<void, StoreOpenError> {
    return withFile(this.#request.files, file.path, "r", (fd) => {
      const window = new FileWindow(this.#request.files, fd);
      for (let from: number | undefined = 0; from !== undefined;) {
        let newer: number | undefined;
        const trouble: Trouble | undefined = readRecords(window, from, (record, offset) => {
          if (record.kind !== "newer") return take(record, offset);
          newer = record.format;
          return "newer";
        });
        if (newer !== undefined) return err(writtenByNewer(file.path, newer));
        if (trouble === undefined || isTail(trouble)) return ok(undefined);
        const known = this.#trouble(file, trouble);
        if (!known.ok) return known;
        from = trouble.resumesAt;
      }
      return ok(undefined);
    });
  }

  #trouble({ path }: NumberedFile, { offset, bytes, problem }: Omit<Damage, "file">): Result<void, StoreOpenError> {
    if (!this.#request.repair) return err({ kind: "corrupt", file: path, offset, problem });
    this.#damages.push({ file: path, offset, bytes, problem });
    return ok(undefined);
  }
}

/** Only a head, or a part of it: created and never used, so it can be ignored. */
function isBare(base: number, bytes: number): boolean {
  return bytes <= headBytes(base);
}

function headBytes(base: number): number {
  return encodeFrame(encodeRecord({ kind: "log", base })).length;
}

function writtenByNewer(file: string, format: number): StoreOpenError {
  return { kind: "storage", message: `${file} has format ${format}: a newer version wrote it and must read it. Nothing was changed` };
}

function sizeOf(files: StoreFiles, path: string): number {
  return withFile(files, path, "r", (fd) => files.fstatSync(fd).size);
}
