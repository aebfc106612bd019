/** An export that is refused before its directory is complete leaves the source as it was, also when an earlier run of it was killed. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock, type Result } from "#base";
import { capiMachines, secrets, type KubeObject } from "#kube";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { abortExport } from "./export-abort.ts";
import { exportNamespace, type ExportOptions } from "./export-namespace.ts";
import { runExport } from "./export.ts";
import type { MoveFailure } from "./failure.ts";
import { exportContext, importAll } from "./folder-world.test-support.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { runMove } from "./move.ts";

let world: MoveWorld;
let directory: MemoryFolder;

beforeEach(async () => {
  world = await startMoveWorld(1);
  onTestFinished(() => world.close());
  directory = new MemoryFolder();
});

const options = (more: Partial<ExportOptions> = {}): ExportOptions => ({
  source: world.source.client,
  folder: directory.folder(),
  namespace: "c1",
  identity: "test-1",
  leaseMs: 600_000,
  waitMs: 50,
  clock: systemClock,
  random: seededRandom(2),
  signal: new AbortController().signal,
  onWait: () => {},
  report: () => {},
  ...more,
});
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure => (result.ok ? expect.fail("not refused") : result.error);
const deleteMachine = async () => expectOk(await world.source.client.delete(capiMachines, { namespace: "c1", name: "c1-md-1-1" }));
const journals = async () => {
  const { items } = expectOk(await world.source.client.list<KubeObject>(secrets, { namespace: "c1" }));
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("lattice-move"));
};

/** The first run is killed when it reports this step. */
async function killAt(step: string): Promise<void> {
  const process = new MortalProcess(undefined);
  const report = (progress: { readonly step: string }) => void (process.dead ||= progress.step === step);
  expect((await runExport(exportContext(world.source, directory, { process, report }))).ok).toBe(false);
}

test.for(["pause", "write-files", "announce-commit"])(
  "a Machine is being deleted when an export that was killed at '%s' continues: it is rolled back",
  async (step) => {
    await killAt(step);
    await deleteMachine();
    const failure = failureOf(await exportNamespace(options()));
    expect([failure.kind, failure.message]).toEqual([
      "refused",
      "Machine c1/c1-md-1-1 is being deleted; it is finished at the source, not copied; the export was rolled back",
    ]);
    expect([isUnpaused(world.source, "c1"), await journals()]).toEqual([true, []]);
    expect(failureOf(await importAll(world.target, directory)).message).toContain("the export was aborted");
  },
);

test("a way back that was killed is finished by the next run, and the export can begin again", async () => {
  await killAt("write-files");
  const process = new MortalProcess({ write: 2, when: "before" });
  expect((await abortExport({ ...exportContext(world.source, directory, { process }), notImported: false })).ok).toBe(false);
  expect(failureOf(await exportNamespace(options())).message).toMatch(/^this export is being aborted; .*; the export was rolled back$/);
  expect([isUnpaused(world.source, "c1"), await journals()]).toEqual([true, []]);
  expectOk(await exportNamespace(options({ folder: new MemoryFolder().folder() })));
});

test("an export whose directory may be complete is not rolled back", async () => {
  await killAt("complete-folder");
  await deleteMachine();
  expect(failureOf(await exportNamespace(options())).message).toBe(
    "Machine c1/c1-md-1-1 is being deleted; it is finished at the source, not copied; the source stays paused: run the command again, or undo the export with --abort",
  );
  expect(isUnpaused(world.source, "c1")).toBe(false);
});

test("another directory, a receipt that comes too early, and a move to a cluster are no reason to undo anything", async () => {
  await killAt("write-files");
  const other = new MemoryFolder();
  other.files.set("notes.txt", "mine");
  expect(failureOf(await exportNamespace(options({ folder: other.folder() }))).message).toMatch(/^the directory is not empty; [^;]+$/);
  const receipt = { id: "", digest: "d", target: "t", epoch: 1, objects: 1, committedAt: "" };
  expect(failureOf(await exportNamespace(options({ receipt }))).message).toContain("the receipt is of another export");
  expect(isUnpaused(world.source, "c1")).toBe(false);
  expectOk(await exportNamespace(options()));
});

test("a move to a cluster that is under way is not undone by an export", async () => {
  const process = new MortalProcess(undefined);
  const report = ({ step }: { readonly step: string }) => void (process.dead ||= step === "transfer");
  expect((await runMove({ ...contextFor(world.source, world.target, process, 1), report })).ok).toBe(false);
  const { message } = failureOf(await exportNamespace(options()));
  expect(message).toBe("an unfinished move of this namespace goes to a cluster; finish or abort it with lattice move");
  expect(isUnpaused(world.source, "c1")).toBe(false);
});
