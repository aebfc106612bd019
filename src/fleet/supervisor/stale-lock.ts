/** The lock that an API server leaves in its data folder when it is killed, because it did not end within its grace period. */
import { existsSync } from "node:fs";
import { acquireProcessLock, folderLockPath, nodeProcesses, type Clock } from "#base";

/** The lock of a living process stays. */
export function removeStaleLock(data: string, clock: Clock): void {
  const path = folderLockPath(data);
  if (!existsSync(path)) return;
  const lock = acquireProcessLock({ path, clock, processes: nodeProcesses });
  if (lock.ok) lock.value.release();
}
