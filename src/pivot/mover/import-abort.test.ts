/** The way back of an import touches only what this import has begun: never the claim of another cluster, nor one that has ended. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, ok, seededRandom, systemClock, type Result } from "#base";
import { failWith, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, namespaces } from "#kube";
import { contentsOf, isUnpaused, startManagementCluster, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { CLAIM_FILE } from "../files/file-names.ts";
import { abortExport } from "./export-abort.ts";
import { abortReceived } from "./export-namespace.ts";
import { runExport } from "./export.ts";
import { exportContext, importAll, receiveContext } from "./folder-world.test-support.ts";
import type { MoveFailure } from "./failure.ts";
import { folderClaim, releaseFolder } from "./import-folder.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { runMove } from "./move.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";

const TAKEN = "another cluster has taken these files";

let world: MoveWorld;
let directory: MemoryFolder;

beforeEach(async () => {
  world = await startMoveWorld(0);
  onTestFinished(() => world.close());
  directory = new MemoryFolder();
  expectOk(await runExport(exportContext(world.source, directory)));
});

async function startThird(): Promise<EmbeddedCluster> {
  const third = await startManagementCluster(9);
  onTestFinished(() => third.close());
  return third;
}

/** As `lattice pivot import --abort`. */
function abortImport(target: EmbeddedCluster): Promise<Result<boolean, MoveFailure>> {
  const folder = directory.folder();
  const { saved } = expectOk(receiveContext(target, directory));
  const options = {
    target: target.client,
    saved,
    claim: folderClaim(folder, saved.id),
    identity: "test-1",
    leaseMs: 600_000,
    clock: systemClock,
    random: seededRandom(1),
    signal: new AbortController().signal,
    onWait: () => {},
    report: () => {},
  };
  return abortReceived(options, () => releaseFolder(folder));
}

const claim = () => directory.files.get(CLAIM_FILE);
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure => (result.ok ? expect.fail("not refused") : result.error);

test("an abort in another cluster leaves the claim of the one that has imported, and writes nothing there", async () => {
  expectOk(await importAll(world.target, directory));
  const [third, taken] = [await startThird(), claim()];
  expect(failureOf(await abortImport(third)).message).toBe(`${TAKEN}; undo the import there`);
  expect(claim()).toBe(taken);
  expect(third.peek(namespaces, { name: "c1" })).toBeUndefined();
  expect(failureOf(await importAll(third, directory)).message).toContain(TAKEN);
  expect([isUnpaused(world.target, "c1"), isUnpaused(third, "c1")]).toEqual([true, false]);
});

test("an abort in another cluster that has the namespace leaves the claim of an import that is not committed", async () => {
  world.target.intercept({ verb: "update", resource: configMaps, name: "lattice-move-record", times: 1 }, failWith("forbidden"));
  expect((await importAll(world.target, directory)).ok).toBe(false);
  const [third, taken] = [await startThird(), claim()];
  await third.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } });
  expect(failureOf(await abortImport(third)).message).toBe(`${TAKEN}; undo the import there`);
  expect(claim()).toBe(taken);
  const exported = { ...exportContext(world.source, directory), notImported: true };
  expect(failureOf(await abortExport(exported)).message).toContain("a cluster has begun to import this directory");
  expect(expectOk(await abortImport(world.target))).toBe(true);
  expect([claim(), await contentsOf(world.target.client, "c1")]).toEqual([undefined, new Map()]);
  expectOk(await importAll(third, directory));
});

test("a cluster that has imported the files, and has moved the clusters on, does not import them again after an abort", async () => {
  expectOk(await importAll(world.target, directory));
  const third = await startThird();
  expectOk(await runMove(contextFor(world.target, third, new MortalProcess(undefined), 1)));
  const ended = claim();
  expect(await abortImport(world.target)).toEqual(ok(false));
  expect(claim()).toBe(ended);
  const failure = failureOf(await importAll(world.target, directory));
  expect(failure.message).toBe("this cluster has imported these files before, and does not own the clusters any more");
});

test("an abort where nothing was imported is no error, and creates nothing", async () => {
  expect(await abortImport(world.target)).toEqual(ok(false));
  expect([claim(), world.target.peek(namespaces, { name: "c1" })]).toEqual([undefined, undefined]);
});
