/** A folder for a store that is removed when the test ends, and stores in it that regard each other as ended processes. */
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
 * Each call of the returned function counts as a new process; all others have ended. `open` is a parameter, so that tests of the store
 * do not load the whole server.
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
