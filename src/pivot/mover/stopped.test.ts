/** A command that is stopped while it waits has stopped: it is not refused, nothing is rolled back, and the same command continues. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock, type Result } from "#base";
import { capiMachines, type Json } from "#kube";
import { isUnpaused, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { readNamespaceBackup } from "./backup-namespace.ts";
import type { MoveProgress } from "./context.ts";
import { exportNamespace } from "./export-namespace.ts";
import type { MoveFailure } from "./failure.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { moveNamespace } from "./move-namespace.ts";

const MACHINE = { namespace: "c1", name: "c1-md-1-1" };
const BLOCK = "clusterctl.cluster.x-k8s.io/block-move";

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(1);
  onTestFinished(() => world.close());
});

function options(signal = new AbortController().signal, report: (progress: MoveProgress) => void = () => {}) {
  return {
    source: world.source.client,
    target: world.target.client,
    namespace: "c1",
    identity: "test-1",
    leaseMs: 600_000,
    waitMs: 60_000,
    clock: systemClock,
    random: seededRandom(1),
    signal,
    onWait: () => {},
    report,
  };
}

/** Stops when the run reports that it waits. */
function stopping(step: MoveProgress["step"] = "wait") {
  const stop = new AbortController();
  return options(stop.signal, (progress) => void (progress.step === step && systemClock.after(50, () => stop.abort())));
}

const kindOf = (result: Result<unknown, MoveFailure>) => (result.ok ? "ok" : result.error.kind);
const blockMachine = async (value: string | null) => {
  const patch: Json = { metadata: { annotations: { [BLOCK]: value } } };
  expectOk(await world.source.client.patch(capiMachines, MACHINE, { type: "merge", patch }));
};

test("a move that is stopped while an object blocks it is not rolled back, and is continued", async () => {
  await blockMachine("");
  expect(kindOf(await moveNamespace(stopping()))).toBe("stopped");
  expect(isUnpaused(world.source, "c1")).toBe(false);
  await blockMachine(null);
  expectOk(await moveNamespace(options()));
  expect(isUnpaused(world.target, "c1")).toBe(true);
});

test("an export that is stopped while an object blocks it is not rolled back, and is continued", async () => {
  const folder = new MemoryFolder().folder();
  await blockMachine("");
  expect(kindOf(await exportNamespace({ ...stopping(), folder }))).toBe("stopped");
  expect(isUnpaused(world.source, "c1")).toBe(false);
  await blockMachine(null);
  expectOk(await exportNamespace({ ...options(), folder }));
});

test("a move that is stopped while an object is being deleted has changed nothing", async () => {
  expectOk(await world.source.client.delete(capiMachines, MACHINE));
  expect(kindOf(await moveNamespace(stopping()))).toBe("stopped");
  expect(isUnpaused(world.source, "c1")).toBe(true);
});

test("a backup that is stopped while objects appear has stopped", async () => {
  const { client } = world.source;
  const stop = new AbortController();
  let rounds = 0;
  world.source.intercept({ verb: "list", resource: capiMachines, times: Number.POSITIVE_INFINITY }, async (_action, next) => {
    rounds += 1;
    const machine = expectOk(await client.get(capiMachines, MACHINE));
    const { name: _name, uid: _uid, resourceVersion: _version, ...metadata } = machine.metadata;
    expectOk(await client.create(capiMachines, { ...machine, metadata: { ...metadata, name: `more-${rounds}` } }));
    return next();
  });
  const report = () => void (rounds === 2 && systemClock.after(50, () => stop.abort()));
  const request = { cluster: "c1", servers: [], beside: [] };
  const result = await readNamespaceBackup({ ...options(stop.signal, report), ...request });
  expect(kindOf(result)).toBe("stopped");
});
