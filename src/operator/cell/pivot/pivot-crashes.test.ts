/**
 * A pivot and its way back with the cell's process ended after every step: the next one finishes it by what both sides have. An observer checks after every
 * write, on either side, that there is one owner and that nothing is lost. Processes that are killed, and broken connections, are in pivot-matrix.test.ts.
 */
import { expect, onTestFinished, test } from "vitest";
import type { PivotView } from "#controllers";
import type { EmbeddedCluster } from "#embedded-cluster";
import { leases } from "#kube";
import { JumpClock } from "../../../../test/builders/jump-clock.ts";
import { isUnpaused, observeInvariants } from "../../../../test/builders/move-world.ts";
import type { PivotRunner } from "./pivot-runner.ts";
import { CAPI, isDone, PivotWorld, untilView } from "./pivot-world.test-support.ts";

/** Attempts follow at once. */
const RETRY = { initialMs: 0, maxMs: 0, factor: 1 };
const LEASE_MS = 15_000;

type Observed = { readonly clock: JumpClock; readonly world: PivotWorld; readonly expected: readonly string[]; readonly wrong: string[] };

async function open(): Promise<Observed> {
  const world = await PivotWorld.open({ workers: "fewest" });
  onTestFinished(() => world.close());
  const clock = new JumpClock();
  // the lease of a process that has ended is read until it has run out
  for (const cluster of [world.parent, world.child])
    cluster.intercept({ verb: "get", resource: leases, times: Number.POSITIVE_INFINITY }, (_action, next) => {
      clock.jump(1_000);
      return next();
    });
  const expected = await world.objects(world.parent);
  const sides = { source: world.parent, target: world.child };
  return { clock, world, expected, ...observeInvariants(sides, expected, { name: "prod", namespace: CAPI }) };
}

type Direction = PivotView["direction"];

async function ask(world: PivotWorld, runner: PivotRunner, direction: Direction): Promise<void> {
  if (direction === "to-parent") await world.writeKubeconfig(world.parent, "of the parent");
  const cluster = await world.cluster();
  if (direction === "to-child") runner.start(cluster);
  else runner.unpivot(cluster);
}

/** As the cluster controller does: it asks again whenever an attempt has ended. */
async function finish({ world, clock }: Observed, direction: Direction): Promise<void> {
  const runner = world.runner({ retry: RETRY, leaseMs: LEASE_MS, clock });
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

test("a process that ends after any step is continued by the next, forth and back", { timeout: 120_000 }, async () => {
  const observed = await open();
  const { world, clock } = observed;
  for (const step of [...STEPS, ...LATER_STEPS]) {
    for (const direction of DIRECTIONS) {
      const runner = world.runner({ leaseMs: LEASE_MS, clock });
      const stopped = untilView(runner, (view) => view.step === step || view.state === "waiting" || isDone(view));
      await ask(world, runner, direction);
      const { state } = await stopped;
      await runner.close();
      if (state !== "done") await finish(observed, direction);
      await check(observed, direction, `${direction} ${step}`);
    }
  }
});
