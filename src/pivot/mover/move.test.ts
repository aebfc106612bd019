/** A whole move between two embedded API servers. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { failWith } from "#embedded-cluster";
import { contentsOf, danglingOwners, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { moveNamespace, planNamespaceMove, type MoveOptions } from "./move-namespace.ts";

async function world(machines = 2): Promise<MoveWorld> {
  const made = await startMoveWorld(machines);
  onTestFinished(() => made.close());
  return made;
}

function options({ source, target }: MoveWorld, more: Partial<MoveOptions> = {}): MoveOptions {
  return {
    source: source.client,
    target: target.client,
    namespace: "c1",
    identity: "test-1",
    clock: systemClock,
    random: seededRandom(1),
    signal: new AbortController().signal,
    waitMs: 1_000,
    leaseMs: 600_000,
    onWait: () => {},
    report: () => {},
    ...more,
  };
}

test("a moved cluster has everything that it had: spec, status, owners, finalizers, field managers", async () => {
  const made = await world();
  const before = await contentsOf(made.source.client, "c1");
  const plan = expectOk(await planNamespaceMove(options(made)));
  expect(plan.problems).toEqual([]);
  const report = expectOk(await moveNamespace(options(made)));
  const [source, target] = [await contentsOf(made.source.client, "c1"), await contentsOf(made.target.client, "c1")];
  expect([...source.keys()]).toEqual(["Secret c1/unrelated"]);
  const expected = new Map([...before].filter(([name]) => name !== "Secret c1/unrelated"));
  expect([...target.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
  for (const [name, object] of expected) expect(target.get(name), name).toEqual(object);
  expect(await danglingOwners(made.target.client, "c1")).toEqual([]);
  expect(report).toMatchObject({ objects: expected.size, epoch: 1, stillPaused: [] });
});

test("a copy that changes before its status is written gets the status all the same", async () => {
  const made = await world(1);
  const before = await contentsOf(made.source.client, "c1");
  const refused: string[] = [];
  made.target.intercept({ verb: "update", resource: "machines.cluster.x-k8s.io/status" }, (action, next, context) => {
    refused.push(action.name ?? "");
    return failWith("conflict")(action, next, context);
  });
  expectOk(await moveNamespace(options(made)));
  expect(refused).toHaveLength(2);
  const target = await contentsOf(made.target.client, "c1");
  for (const name of refused) expect(target.get(`Machine c1/${name}`)).toEqual(before.get(`Machine c1/${name}`));
});
