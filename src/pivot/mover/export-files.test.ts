/** The files of an export are those of its manifest. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { capiMachines, fieldAt, type KubeObject } from "#kube";
import { startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import type { ExportFolder } from "./export-folder.ts";
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
