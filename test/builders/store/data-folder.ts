/** A folder for a store that is gone when the test ends, and stores in it that take each other for dead processes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { FakeClock, silentLogger } from "#base";
import type { openPersistentStore, PersistentStoreOptions } from "#kube-server";
import { FaultyFiles } from "./faulty-files.ts";

type Open = typeof openPersistentStore;

export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lattice-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Each call of what it returns is a process of its own; all others are dead. The function comes in, so that tests of the store
 * need not load the server around it.
 */
export function storeOpener(open: Open): (dataDir: string, options?: Partial<PersistentStoreOptions>) => ReturnType<Open> {
  let lastPid = 0;
  return (dataDir, options = {}) => {
    lastPid += 1;
    const pid = lastPid;
    const processes = { pid, identify: (other: number) => (other === pid ? "alive" : undefined) };
    const { files } = new FaultyFiles();
    return open({ dataDir, clock: new FakeClock(), logger: silentLogger, processes, files, ...options });
  };
}
