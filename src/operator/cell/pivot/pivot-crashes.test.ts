/**
 * A pivot and its way back with the cell's process ended after every step, or killed at a write: the next one finishes it by what both sides have. An
 * observer checks after every write, on either side, that there is one owner and that nothing is lost.
 */
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "#base";
import type { PivotView } from "#controllers";
import type { EmbeddedCluster } from "#embedded-cluster";
import { MortalProcess } from "../../../../test/builders/mortal-process.ts";
import { isUnpaused, observeInvariants } from "../../../../test/builders/move-world.ts";
import { roundsOf } from "../../../../test/builders/rounds.ts";
import type { PivotRunner } from "./pivot-runner.ts";
import { CAPI, isDone, PivotWorld, untilView } from "./pivot-world.test-support.ts";

/** Attempts follow at once, and a killed process blocks the next one for a short time. */
const QUICK = { retry: { initialMs: 0, maxMs: 0, factor: 1 }, leaseMs: 700 };

type Observed = { readonly world: PivotWorld; readonly expected: readonly string[]; readonly wrong: string[] };

async function open(): Promise<Observed> {
  const world = await PivotWorld.open();
  onTestFinished(() => world.close());
  const expected = await world.objects(world.parent);
  const sides = { source: world.parent, target: world.child };
  return { world, expected, ...observeInvariants(sides, expected, { name: "prod", namespace: CAPI }) };
}

type Direction = PivotView["direction"];

async function ask(world: PivotWorld, runner: PivotRunner, direction: Direction): Promise<void> {
  if (direction === "to-parent") await world.writeKubeconfig(world.parent, "of the parent");
  const cluster = await world.cluster();
  if (direction === "to-child") runner.start(cluster);
  else runner.unpivot(cluster);
}

/** As the cluster controller does: it asks again whenever an attempt has ended. */
async function finish(world: PivotWorld, direction: Direction): Promise<void> {
  const runner = world.runner(QUICK);
  const again = runner.subscribe(() => void (runner.view("prod")?.state === "waiting" && ask(world, runner, direction)));
  await ask(world, runner, direction);
  await untilView(runner, isDone);
  again();
  await runner.close();
}

async function check({ world, expected, wrong }: Observed, direction: Direction, what: string): Promise<void> {
  const [owner, other] = direction === "to-child" ? [world.child, world.parent] : [world.parent, world.child];
  const left = async (cluster: EmbeddedCluster) => world.objects(cluster);
  expect({ what, wrong, owner: await left(owner), other: await left(other), resumed: isUnpaused(owner, "prod", CAPI) }).toEqual({
    what,
    wrong: [],
    owner: expected,
    other: [],
    resumed: true,
  });
  const sides = direction === "to-child" ? (["child", "parent"] as const) : (["parent", "child"] as const);
  expect([what, ...sides.map((side) => world.ownership(side).state)]).toEqual([what, "owner", "never-moved"]);
}

const DIRECTIONS = ["to-child", "to-parent"] as const;

/** Steps of the runner, in their order. */
const STEPS = ["prepare", "copy-cluster", "write-intent", "register", "pause", "transfer", "verify"] as const;
const LATER_STEPS = ["announce-commit", "commit", "note-commit", "resume-target", "delete-source", "finish"] as const;

test("a process that ends after any step is continued by the next, forth and back", { timeout: 300_000 }, async () => {
  const observed = await open();
  const { world } = observed;
  for (const step of [...STEPS, ...LATER_STEPS]) {
    for (const direction of DIRECTIONS) {
      const runner = world.runner({ leaseMs: 3_000 });
      const stopped = untilView(runner, (view) => view.step === step || view.state === "waiting" || isDone(view));
      await ask(world, runner, direction);
      const { state } = await stopped;
      await runner.close();
      if (state !== "done") await finish(world, direction);
      await check(observed, direction, `${direction} ${step}`);
    }
  }
});

test("a process that is killed at a write, before or after its effect, is continued by the next", { timeout: 1_800_000 }, async () => {
  const observed = await open();
  const { world } = observed;
  const random = seededRandom(roundsOf({ sample: 5, long: 6 }));
  const rounds = roundsOf({ sample: 4, long: 120 });
  for (let round = 0; round < rounds; round += 1) {
    for (const direction of DIRECTIONS) {
      const kill = { write: 1 + Math.floor(random() * 140), when: random() < 0.5 ? ("before" as const) : ("after" as const) };
      const process = new MortalProcess(kill);
      const child = () => process.client(world.childClient());
      const runner = world.runner({ leaseMs: 700, client: process.client(world.parent.client), childClient: child });
      await ask(world, runner, direction);
      const { state } = await untilView(runner, (view) => process.dead || view.state === "waiting" || isDone(view));
      await runner.close();
      if (state !== "done" || process.dead) await finish(world, direction);
      await check(observed, direction, `${direction} write ${kill.write} ${kill.when}`);
    }
  }
});

test("a child whose connection breaks at any time is continued when it returns", { timeout: 300_000 }, async () => {
  const observed = await open();
  const { world } = observed;
  for (const step of ["transfer", "commit", "delete-source"]) {
    for (const direction of DIRECTIONS) {
      const runner = world.runner({ ...QUICK, leaseMs: 30_000 });
      const broken = untilView(runner, (view) => view.step === step || isDone(view));
      await ask(world, runner, direction);
      await broken;
      world.setConnected(false);
      world.setConnected(true);
      const again = runner.subscribe(() => void (runner.view("prod")?.state === "waiting" && ask(world, runner, direction)));
      if (runner.view("prod")?.state === "waiting") await ask(world, runner, direction);
      await untilView(runner, isDone);
      again();
      await runner.close();
      await check(observed, direction, `${direction} ${step}`);
    }
  }
});
