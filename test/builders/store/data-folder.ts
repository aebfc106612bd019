/** A folder for a store that is gone when the test ends, and stores in it that take each other for dead processes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { FakeClock, silentLogger, type Result } from "#base";
import { openPersistentStore, type OpenedStore, type PersistentStoreOptions, type StoreOpenError } from "#kube-server";
import { FaultyFiles } from "./faulty-files.ts";

export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lattice-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let nextPid = 1;

/** Each call is a process of its own; all others are dead. */
export function openStore(dataDir: string, options: Partial<PersistentStoreOptions> = {}): Result<OpenedStore, StoreOpenError> {
  const pid = nextPid;
  nextPid += 1;
  const processes = { pid, identify: (other: number) => (other === pid ? "alive" : undefined) };
  const { files } = new FaultyFiles();
  return openPersistentStore({ dataDir, clock: new FakeClock(), logger: silentLogger, processes, files, ...options });
}
