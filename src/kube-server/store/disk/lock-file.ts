/** One process per data folder. */
import { acquireProcessLock, err, folderLockPath, type Clock, type ProcessLock, type ProcessTable, type Result } from "#base";
import type { StoreOpenError } from "./open-error.ts";
import type { StoreFiles } from "./store-files.ts";

export type FolderLockRequest = {
  readonly files: StoreFiles;
  readonly folder: string;
  readonly clock: Clock;
  readonly processes: ProcessTable;
};

export function acquireLock({ files, folder, clock, processes }: FolderLockRequest): Result<ProcessLock, StoreOpenError> {
  const path = folderLockPath(folder);
  const lock = acquireProcessLock({ path, files, clock, processes });
  if (lock.ok) return lock;
  if (lock.error.kind === "locked") return err({ ...lock.error, file: path });
  return err({ kind: "storage", message: `cannot lock ${folder}: ${lock.error.message}` });
}
