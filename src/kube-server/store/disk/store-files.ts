/**
 * The part of node:fs that a store on disk uses, as a port: tests simulate full and failing disks, and kill the process at every call.
 *
 * Functions throw as node:fs does; `attempt` turns that into a Result.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { describeThrown, fromThrowing, type Result } from "#base";
import type { StorageError } from "../port.ts";

export type StoreFiles = Pick<
  typeof fs,
  | "chmodSync"
  | "closeSync"
  | "copyFileSync"
  | "fstatSync"
  | "fsyncSync"
  | "ftruncateSync"
  | "linkSync"
  | "mkdirSync"
  | "openSync"
  | "readdirSync"
  | "readFileSync"
  | "readSync"
  | "renameSync"
  | "rmSync"
  | "statSync"
  | "writeFileSync"
  | "writeSync"
>;

export const nodeFiles: StoreFiles = fs;

/** The folder contains Secrets in plain text: only the owner may read it. */
export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;

export function attempt<T>(what: string, run: () => T): Result<T, StorageError> {
  return fromThrowing(run, (thrown) => ({ kind: "storage", message: `${what}: ${describeThrown(thrown)}` }));
}

/** Opens, uses and always closes. */
export function withFile<T>(files: StoreFiles, path: string, flags: "r" | "r+" | "wx", use: (fd: number) => T): T {
  const fd = files.openSync(path, flags, FILE_MODE);
  try {
    return use(fd);
  } finally {
    files.closeSync(fd);
  }
}

/** The operating system may write only a part; the rest is written again. */
export function writeAll(files: StoreFiles, fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) done += files.writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** New and removed names survive a power failure only after a sync of the folder. */
export function syncFolderOf(files: StoreFiles, path: string): void {
  withFile(files, dirname(path), "r", (fd) => files.fsyncSync(fd));
}
