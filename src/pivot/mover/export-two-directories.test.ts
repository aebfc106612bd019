/** An export that is begun in one directory and continued in another one is complete in at most one of them. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { MANIFEST_FILE } from "../files/file-names.ts";
import { parseManifest } from "../files/manifest.ts";
import { startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { abortExport } from "./export-abort.ts";
import { runExport } from "./export.ts";
import { exportContext, importAll } from "./folder-world.test-support.ts";
import { folderClaim } from "./import-folder.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";

let world: MoveWorld;
beforeEach(async () => {
  world = await startMoveWorld(1);
  onTestFinished(() => world.close());
});

const stateOf = (directory: MemoryFolder) => {
  const text = directory.files.get(MANIFEST_FILE);
  return text === undefined ? "none" : expectOk(parseManifest(text)).state;
};
const run = (directory: MemoryFolder, process?: MortalProcess) =>
  runExport(exportContext(world.source, directory, process === undefined ? {} : { process }));

test("killed at any write and continued in another directory, and then in the first one again", { timeout: 120_000 }, async () => {
  const whole = new MortalProcess(undefined);
  const only = new MemoryFolder();
  expectOk(await run(only, whole));
  expectOk(await abortExport({ ...exportContext(world.source, only), notImported: true }));
  const refusals = new Set<string>();
  for (let write = 1; write <= whole.writes; write += 1) {
    const [first, second] = [new MemoryFolder(), new MemoryFolder()];
    await run(first, new MortalProcess({ write, when: "after" }));
    const continued = [await run(second), await run(first)];
    for (const one of continued) if (!one.ok) refusals.add(one.error.message.replace(/id [0-9a-f]+/, "id …"));
    expect([write, [first, second].filter((one) => stateOf(one) === "complete").length]).toEqual([write, 1]);
    expect([write, continued.filter(({ ok }) => ok).length]).toEqual([write, 1]);
    const complete = stateOf(first) === "complete" ? first : second;
    expectOk(await abortExport({ ...exportContext(world.source, complete), notImported: true }));
  }
  expect([...refusals].toSorted()).toEqual([
    "an export of this namespace was written to another directory; name that one, or, if nothing was imported from it, undo it with --abort --not-imported",
    "the export was begun in another directory, whose manifest has the id …; name that one, or undo the export with --abort and begin again",
  ]);
});

test("two clusters that find a directory unclaimed at the same time: one of them has it", async () => {
  const directory = new MemoryFolder();
  const { id = "" } = expectOk(await run(directory));
  const claim = folderClaim(directory.folder(), id);
  expect([expectOk(await claim.read("one")), expectOk(await claim.read("two"))]).toEqual(["none", "none"]);
  expectOk(await claim.write("one", false));
  expectOk(await claim.write("two", false));
  expect([expectOk(await claim.read("one")), expectOk(await claim.read("two"))]).toEqual(["ours", "other"]);
  const refused = await importAll(world.target, directory);
  expect(refused).toMatchObject({ error: { message: expect.stringContaining("another cluster has taken these files") as string } });
});
