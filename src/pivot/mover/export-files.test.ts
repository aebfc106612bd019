/** The files of an export: they are those of the manifest, and writing them neither loses the lease nor ignores a stop. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { capiMachines, fieldAt, type KubeObject } from "#kube";
import { isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import type { ExportFolder } from "./export-folder.ts";
import { exportNamespace, type ExportOptions } from "./export-namespace.ts";
import { runExport } from "./export.ts";
import { exportContext, importAll } from "./folder-world.test-support.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";

const MACHINE = { namespace: "c1", name: "c1-cp-1" };

async function startWorld(machines: number): Promise<MoveWorld> {
  const world = await startMoveWorld(machines);
  onTestFinished(() => world.close());
  return world;
}

/** `onWrite`: called before each write. */
function watchedFolder(directory: MemoryFolder, onWrite: (name: string) => void): ExportFolder {
  const folder = directory.folder();
  return {
    ...folder,
    write: (name, text) => {
      onWrite(name);
      return folder.write(name, text);
    },
  };
}

function exportOptions({ source }: MoveWorld, folder: ExportFolder, more: Partial<ExportOptions> = {}): ExportOptions {
  return {
    source: source.client,
    folder,
    namespace: "c1",
    identity: "test-1",
    leaseMs: 600_000,
    waitMs: 1_000,
    clock: systemClock,
    random: seededRandom(1),
    signal: new AbortController().signal,
    onWait: () => {},
    report: () => {},
    ...more,
  };
}

test("a status that changes while the files are written is no change of the files, and the export is imported", async () => {
  const { source, target } = await startWorld(0);
  const directory = new MemoryFolder();
  let writes = 0;
  let isPatched = false;
  source.intercept({ verb: "list", resource: capiMachines, times: Number.POSITIVE_INFINITY }, async (_action, next) => {
    if (writes > 5 && !isPatched) {
      isPatched = true;
      const options = { fieldManager: "manager", subresource: "status" as const };
      expectOk(await source.client.patch(capiMachines, MACHINE, { type: "merge", patch: { status: { phase: "Failed" } } }, options));
    }
    return next();
  });
  expectOk(await runExport({ ...exportContext(source, directory), folder: watchedFolder(directory, () => (writes += 1)) }));
  expect(isPatched).toBe(true);
  const receipt = expectOk(await importAll(target, directory));
  expect(fieldAt(target.peek<KubeObject>(capiMachines, MACHINE), "status", "phase")).toBe("Running");
  expectOk(await runExport({ ...exportContext(source, directory), receipt }));
});

test("an export that writes files for longer than its lease renews it meanwhile, and writes each file once", async () => {
  const world = await startWorld(12);
  const written: string[] = [];
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const folder = watchedFolder(new MemoryFolder(), (name) => {
    written.push(name);
    // as a slow disk, the process does nothing else meanwhile
    Atomics.wait(pause, 0, 0, 40);
  });
  expectOk(await exportNamespace(exportOptions(world, folder, { leaseMs: 2_000 })));
  const objects = written.filter((name) => !name.startsWith("lattice-"));
  expect(objects.length * 40).toBeGreaterThan(2_000);
  expect(objects).toHaveLength(new Set(objects).size);
});

test("an export that is stopped while it writes files has stopped, is not rolled back, and is continued", async () => {
  const world = await startWorld(12);
  const stop = new AbortController();
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const directory = new MemoryFolder();
  let writes = 0;
  const folder = watchedFolder(directory, () => {
    writes += 1;
    if (writes === 10) systemClock.after(0, () => stop.abort());
    Atomics.wait(pause, 0, 0, 10);
  });
  const stopped = await exportNamespace(exportOptions(world, folder, { signal: stop.signal }));
  expect(stopped.ok ? "" : stopped.error.kind).toBe("stopped");
  expect([writes < 40, isUnpaused(world.source, "c1")]).toEqual([true, false]);
  expectOk(await exportNamespace(exportOptions(world, directory.folder())));
});
