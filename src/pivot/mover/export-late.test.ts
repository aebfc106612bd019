/** A request of an export that was killed arrives when the next run has finished. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { failWith } from "#embedded-cluster";
import { configMaps, type KubeObject } from "#kube";
import { contentsOf, startMoveWorld } from "../../../test/builders/move-world.ts";
import { exportContext, importAll } from "./folder-world.test-support.ts";
import { runExport } from "./export.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";

const ADDON = { namespace: "c1", name: "c1-addon" };

test("a late write of an earlier run does not change the journal of an export", { timeout: 60_000 }, async () => {
  const world = await startMoveWorld(1);
  onTestFinished(() => world.close());
  const { source, target } = world;
  const directory = new MemoryFolder();
  const edit = async (value: string) => {
    const patch = { data: { key: value } };
    expectOk(await source.client.patch<KubeObject>(configMaps, ADDON, { type: "merge", patch }, { fieldManager: "manager" }));
  };
  const before = [...(await contentsOf(source.client, "c1")).keys()].filter((name) => !name.endsWith("/unrelated"));
  // the first run records the objects, and is killed before it has written their files
  const first = new MortalProcess(undefined);
  const watched = exportContext(source, directory, {
    process: first,
    report: ({ step, done }) => {
      if (step === "write-files" && done !== undefined) first.dead = true;
    },
  });
  expect((await runExport(watched)).ok).toBe(false);
  // the second one finds another content; its request to the journal is on its way when it is killed
  await edit("other");
  const second = new MortalProcess(undefined);
  let late: (() => Promise<unknown>) | undefined;
  const isBatch = ({ name = "" }: { readonly name?: string | undefined }) => name.startsWith("lattice-move-batch");
  const hold = source.intercept({ verb: "patch", resource: "secrets", when: isBatch }, (action, next, context) => {
    late = next;
    second.dead = true;
    return failWith("unavailable")(action, next, context);
  });
  expect((await runExport(exportContext(source, directory, { process: second, seed: 2 }))).ok).toBe(false);
  hold[Symbol.dispose]();
  expect(late).toBeDefined();
  // the third one finds what the first one has recorded
  await edit("value");
  expectOk(await runExport(exportContext(source, directory, { seed: 3 })));
  await late?.();
  const receipt = expectOk(await importAll(target, directory, { seed: 4 }));
  expectOk(await runExport({ ...exportContext(source, directory, { seed: 5 }), receipt }));
  const moved = [...(await contentsOf(target.client, "c1")).keys()];
  expect(moved.toSorted()).toEqual(before.toSorted());
});
