/** An import and an abort of the export at the same time: whichever comes first, at most one of the two clusters owns the clusters. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, type Result } from "#base";
import { configMaps } from "#kube";
import { contentsOf, isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { CLAIM_FILE } from "../files/file-names.ts";
import { abortExport } from "./export-abort.ts";
import { runExport } from "./export.ts";
import { exportContext, importAll, receiveContext } from "./folder-world.test-support.ts";
import type { MoveFailure } from "./failure.ts";
import { releaseFolder } from "./import-folder.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import type { ReceiveStep } from "../ownership/receive-steps.ts";
import type { ApiSide } from "./api-side.ts";
import { abortReceive } from "./receive-abort.ts";
import { runReceive, type ReceiveContext } from "./receive.ts";

const ABORTED = "the export was aborted, so its source owns the clusters; export again";
const BEGUN = "a cluster has begun to import this directory; abort that import first";

let world: MoveWorld;
let directory: MemoryFolder;

beforeEach(async () => {
  world = await startMoveWorld(0);
  onTestFinished(() => world.close());
  directory = new MemoryFolder();
  expectOk(await runExport(exportContext(world.source, directory)));
});

const abortSource = () => abortExport({ ...exportContext(world.source, directory), notImported: true });
const opened = (): ReceiveContext => expectOk(receiveContext(world.target, directory));
const abortImport = () => abortReceive(opened(), () => releaseFolder(directory.folder()));
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure => (result.ok ? expect.fail("not refused") : result.error);
const owners = () => [isUnpaused(world.source, "c1"), isUnpaused(world.target, "c1")];

/** The context, with work that is done once: before the first or after the last write of the claim. */
function withWork(context: ReceiveContext, when: "before" | "after", work: () => Promise<void>): ReceiveContext {
  let isDone = false;
  const once = async (at: "before" | "after") => {
    if (at !== when || isDone) return;
    isDone = true;
    await work();
  };
  const write: ReceiveContext["claim"]["write"] = async (target, ended) => {
    await once("before");
    const written = await context.claim.write(target, ended);
    await once("after");
    return written;
  };
  return { ...context, claim: { ...context.claim, write } };
}

test("an export that is aborted after the import has read it, and before it has claimed it: the import is refused", async () => {
  const context = opened();
  expectOk(await abortSource());
  expect(failureOf(await runReceive(context)).message).toBe(ABORTED);
  expect(await contentsOf(world.target.client, "c1")).toEqual(new Map());
  expect(world.target.peek(configMaps, { namespace: "c1", name: "lattice-move-record" })).toBeUndefined();
  expect([owners(), directory.files.has(CLAIM_FILE)]).toEqual([[true, false], false]);
});

test("an export that is aborted while the import is about to claim it: the import is refused, and can be undone", async () => {
  const context = withWork(opened(), "before", async () => void expectOk(await abortSource()));
  expect(failureOf(await runReceive(context)).message).toBe(ABORTED);
  expect(await contentsOf(world.target.client, "c1")).toEqual(new Map());
  expect([owners(), directory.files.has(CLAIM_FILE)]).toEqual([[true, false], true]);
  expect(expectOk(await abortImport())).toBe(false);
  expect(directory.files.has(CLAIM_FILE)).toBe(false);
});

test("an export whose abort comes after the claim stays paused, and the import is finished", async () => {
  const context = withWork(opened(), "after", async () => {
    expect(failureOf(await abortSource()).message).toContain(BEGUN);
  });
  expectOk(await runReceive(context));
  expect(owners()).toEqual([false, true]);
});

/** The abort has found no claim; before it revokes the directory, an import begins, which is killed when it reports this step. */
async function revokeDuringImport(killedAt: ReceiveStep | "never"): Promise<void> {
  const context = exportContext(world.source, directory);
  let begun = false;
  const importOnce = async () => {
    if (begun) return;
    begun = true;
    const process = new MortalProcess(undefined);
    const report = ({ step }: { readonly step: string }) => void (process.dead ||= step === killedAt);
    expect((await importAll(world.target, directory, { process, report })).ok).toBe(killedAt === "never");
  };
  const source: ApiSide = {
    ...context.source,
    get: async (resource, key) => {
      if (resource.kind === "Cluster") await importOnce();
      return context.source.get(resource, key);
    },
  };
  expect(failureOf(await abortExport({ ...context, source, notImported: true })).message).toContain(BEGUN);
  expect(begun).toBe(true);
}

test.for(["resume-target", "finish", "never"] as const)(
  "an import that was committed before the directory was revoked, and killed at '%s', is finished, and confirmed",
  async (killedAt) => {
    await revokeDuringImport(killedAt);
    const receipt = expectOk(await importAll(world.target, directory));
    expect(owners()).toEqual([false, true]);
    expectOk(await runExport({ ...exportContext(world.source, directory), receipt }));
    expect([...(await contentsOf(world.source.client, "c1")).keys()]).toEqual(["Secret c1/unrelated"]);
  },
);

test.for(["register", "transfer", "commit"] as const)(
  "an import that was killed at '%s' before the directory was revoked is refused, and undone by both aborts",
  async (killedAt) => {
    await revokeDuringImport(killedAt);
    const failure = failureOf(await importAll(world.target, directory));
    expect(failure.message).toContain(killedAt === "register" ? ABORTED : "the export is being aborted");
    expect(owners()).toEqual([false, false]);
    expectOk(await abortImport());
    expectOk(await abortSource());
    expect([owners(), await contentsOf(world.target.client, "c1")]).toEqual([[true, false], new Map()]);
  },
);
