/**
 * A Store that survives `kill -9`: opens a folder, reads it back, and keeps it up to date.
 *
 * A write returns when the operating system has received it, so killing the process loses nothing. A power failure can lose the last seconds,
 * unless `fsync` is "always", which makes each write wait for the disk.
 */
import { andThen, map, mapErr, nodeProcesses, ok, type Clock, type Logger, type ProcessLock, type ProcessTable, type Result } from "#base";
import { createFolder } from "#pki";
import { logPath, readFolder } from "./disk/data-folder.ts";
import { DiskJournal } from "./disk/disk-journal.ts";
import { acquireLock } from "./disk/lock-file.ts";
import { LogFile } from "./disk/log-file.ts";
import { mend, type KeptDamage } from "./disk/mend.ts";
import type { StoreOpenError } from "./disk/open-error.ts";
import { recover, type Recovered } from "./disk/recover.ts";
import { attempt, FILE_MODE, FOLDER_MODE, nodeFiles, type StoreFiles } from "./disk/store-files.ts";
import type { HistoryLimit } from "./history.ts";
import { LiveStore } from "./live-store.ts";
import type { StorageError, Store } from "./port.ts";

export type PersistentStoreOptions = {
  /** Created if missing; readable only by this user, because it contains Secrets. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly historyLimit?: Partial<HistoryLimit> | undefined;
  /** "never" (the default) survives kill -9; "always" also survives a power failure, but waits for the disk. */
  readonly fsync?: "always" | "never" | undefined;
  /** Continue with the intact records when files are damaged in the middle. The damaged files are kept under other names. */
  readonly repair?: boolean | undefined;
  /** The size of the logs at which a snapshot replaces them; default 16 MiB. */
  readonly snapshotAfterBytes?: number | undefined;
  readonly files?: StoreFiles | undefined;
  readonly processes?: ProcessTable | undefined;
};

export type RecoveryReport = {
  readonly revision: number;
  readonly objects: number;
  /** The snapshot that was read; undefined: none. */
  readonly snapshotRevision: number | undefined;
  /** Changes that were read from logs. */
  readonly replayed: number;
  /** Bytes that are not a record: the torn end of a log, or bytes that a repair omitted. Copies are in `keptIn`. */
  readonly cut: readonly KeptDamage[];
  /** Logs without their head: their content is lost. */
  readonly emptied: readonly string[];
  /** A server has used the folder before, and no objects are left. */
  readonly lost: boolean;
  /** The terminated process whose lock was taken over. */
  readonly takenOverFrom: number | undefined;
  readonly tookMs: number;
};

export type OpenedStore = { readonly store: Store; readonly recovered: RecoveryReport };

/** The options with defaults. */
type Settings = {
  readonly [name in Exclude<keyof PersistentStoreOptions, "historyLimit">]-?: Exclude<PersistentStoreOptions[name], undefined>;
} & {
  readonly historyLimit: Partial<HistoryLimit>;
};
type Mended = { readonly recovered: Recovered; readonly cut: readonly KeptDamage[] };

const SNAPSHOT_AFTER_BYTES = 16 * 1024 * 1024;

export function openPersistentStore(options: PersistentStoreOptions): Result<OpenedStore, StoreOpenError> {
  const settings: Settings = {
    ...options,
    historyLimit: options.historyLimit ?? {},
    fsync: options.fsync ?? "never",
    repair: options.repair ?? false,
    snapshotAfterBytes: options.snapshotAfterBytes ?? SNAPSHOT_AFTER_BYTES,
    files: options.files ?? nodeFiles,
    processes: options.processes ?? nodeProcesses,
  };
  const { files, dataDir, clock, processes } = settings;
  const made = mapErr(createFolder(dataDir, FOLDER_MODE, files), (message) => ({ kind: "storage" as const, message }));
  return andThen(made, () =>
    andThen(acquireLock({ files, folder: dataDir, clock, processes }), (lock) => {
      const opened = openLocked(settings, lock);
      if (!opened.ok) lock.release();
      return opened;
    }),
  );
}

function openLocked(settings: Settings, lock: ProcessLock): Result<OpenedStore, StoreOpenError> {
  const { clock, logger, dataDir, files } = settings;
  const began = clock.monotonic();
  return andThen(readAndMend(settings), ({ recovered, cut }) => {
    keepPrivate(settings);
    // before the new log is created, because an unused log of the same name may exist. A failed removal is retried at the next start
    for (const path of recovered.obsolete) attempt("", () => files.rmSync(path));
    return map(liveLog(settings, recovered), (log) => {
      const report = { ...countsOf(recovered), cut, takenOverFrom: lock.takenOverFrom, tookMs: clock.monotonic() - began };
      tell(logger.with({ folder: dataDir }), report);
      return { store: new LiveStore(recovered.state, journalOf(settings, { recovered, log, lock })), recovered: report };
    });
  });
}

/** Copied files may have lost their mode. Files of another user are not changed. */
function keepPrivate({ files, dataDir }: Settings): void {
  const content = attempt("", () => readFolder(files, dataDir));
  for (const { path } of content.ok ? [...content.value.logs, ...content.value.snapshots] : []) {
    attempt("", () => files.chmodSync(path, FILE_MODE));
  }
}

/** Repaired files are read again, so that the state in memory always equals the files. */
function readAndMend(settings: Settings): Result<Mended, StoreOpenError> {
  return andThen(read(settings), (first) =>
    andThen(mend(settings.files, settings.dataDir, first), (cut) => {
      if (cut.length === 0) return ok({ recovered: first, cut });
      return map(read(settings), (recovered) => ({ recovered, cut }));
    }),
  );
}

function read({ files, dataDir, repair, historyLimit }: Settings): Result<Recovered, StoreOpenError> {
  const answer = attempt(`cannot read ${dataDir}`, () => recover({ files, folder: dataDir, repair, historyLimit }));
  return andThen(answer, (recovered) => recovered);
}

function liveLog({ files, dataDir }: Settings, { logs, state }: Recovered): Result<LogFile, StorageError> {
  const last = logs.at(-1);
  if (last !== undefined) return LogFile.resume(files, last.path);
  return LogFile.create(files, logPath(dataDir, state.revision), state.revision);
}

function journalOf(settings: Settings, { recovered, log, lock }: { recovered: Recovered; log: LogFile; lock: ProcessLock }): DiskJournal {
  const { files, logger, fsync, snapshotAfterBytes } = settings;
  const olderLogBytes = recovered.logs.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0);
  const sizes = { olderLogBytes, snapshotBytes: recovered.snapshot?.bytes ?? 0, snapshotAfterBytes };
  return new DiskJournal({ files, logger, fsync, state: recovered.state, log, ...sizes, onClose: lock.release });
}

function countsOf({
  state,
  snapshot,
  replayed,
  emptied,
  lost,
}: Recovered): Pick<RecoveryReport, "revision" | "objects" | "snapshotRevision" | "replayed" | "emptied" | "lost"> {
  const objects = state.collections().reduce((sum, name) => sum + state.count(name), 0);
  return { revision: state.revision, objects, snapshotRevision: snapshot?.revision, replayed, emptied, lost };
}

function tell(logger: Logger, { cut, emptied, lost, takenOverFrom, ...counts }: RecoveryReport): void {
  if (takenOverFrom !== undefined) logger.warn("took over the folder of a process that is gone", { pid: takenOverFrom });
  for (const { file, offset, bytes, problem, keptIn } of cut) {
    logger.warn("cut off what was no whole record", { file, offset, bytes, problem, keptIn });
  }
  for (const file of emptied) logger.warn("a log is empty; the changes that it held are lost", { file });
  if (lost) logger.error("the data folder was in use before, but its log is empty or missing: the server starts without objects");
  logger.info("opened the store", counts);
}
