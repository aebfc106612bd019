/**
 * The crash matrix of pivot and unpivot: processes killed before and after every write of the cell and of the agent, API servers killed at every write, the
 * connection cut at every message, a pivot that is deleted or aborted at every write, and a child that is released at every write of the way back. A seeded part of it here, all of it in `npm run test:long`;
 * LATTICE_CRASH_POINT="to-child: connection cut at 7" runs one point.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { expectOk } from "#base";
import { configMaps } from "#kube";
import { chosenPoints } from "../../../../test/builders/crash-points.ts";
import {
  describePoint,
  endedPivots,
  pointsOf,
  releases,
  serverPoints,
  type PivotCounts,
  type PivotPoint,
} from "./matrix-points.test-support.ts";
import { PivotMatrix } from "./pivot-matrix.test-support.ts";
import { CAPI } from "./pivot-world.test-support.ts";

const SEED = 16;
/** Both clusters remember every request that was made. */
const POINTS_PER_WORLD = 120;
/** Of a hundred points in `npm test`: a server takes a while to start. */
const SERVER_SAMPLE = 2;
const ENDED_SAMPLE = 4;
const WHOLE = { timeout: 7_200_000 };

/** Objects move forth, then back, so that both directions take turns. */
function inTurns(forth: readonly PivotPoint[], back: readonly PivotPoint[]): readonly PivotPoint[] {
  return Array.from({ length: Math.max(forth.length, back.length) }, (_, at) =>
    [forth[at], back[at]].filter((point) => point !== undefined),
  ).flat();
}

async function open(withData: boolean): Promise<PivotMatrix> {
  if (!withData) return PivotMatrix.open();
  const folder = await mkdtemp(join(tmpdir(), "lattice-pivot-matrix-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return PivotMatrix.open({ folder });
}

type Counts = { readonly forth: PivotCounts; readonly back: PivotCounts };

async function visit(choose: (counts: Counts) => readonly PivotPoint[], withData = false): Promise<void> {
  let matrix = await open(withData);
  try {
    const counts = { forth: await matrix.count("to-child"), back: await matrix.count("to-parent") };
    const points = choose(counts);
    let reached = 0;
    for (const [at, point] of points.entries()) {
      if (at % POINTS_PER_WORLD === POINTS_PER_WORLD - 1) {
        await matrix.close();
        matrix = await open(withData);
      }
      if (await matrix.disturb(point)) reached += 1;
      expect(matrix.wrong, `replay with LATTICE_CRASH_POINT="${describePoint(point)}"`).toEqual([]);
    }
    // the number of writes and messages differs a little from run to run
    if (points.length > 1) expect(points.length - reached).toBeLessThanOrEqual(Math.max(1, points.length / 10));
  } finally {
    await matrix.close();
  }
}

test("one owner and all objects, whatever process dies or message is lost at any point of a pivot and of its way back", WHOLE, () =>
  visit(({ forth, back }) =>
    inTurns(
      chosenPoints(pointsOf("to-child", forth), describePoint, SEED),
      chosenPoints(pointsOf("to-parent", back), describePoint, SEED + 1),
    ),
  ),
);

test("one owner and all objects, whichever API server dies at any write of a pivot and of its way back", WHOLE, () =>
  visit(
    ({ forth, back }) =>
      inTurns(
        chosenPoints(serverPoints("to-child", forth), describePoint, SEED + 2, SERVER_SAMPLE),
        chosenPoints(serverPoints("to-parent", back), describePoint, SEED + 3, SERVER_SAMPLE),
      ),
    true,
  ),
);

test("one owner and all objects, when a pivot is deleted or aborted at any write", WHOLE, () =>
  visit(({ forth }) => chosenPoints(endedPivots(forth), describePoint, SEED + 4, ENDED_SAMPLE)),
);

test("the child owns its objects, when it is released at any write of their way back", WHOLE, () =>
  visit(({ back }) => chosenPoints(releases(back), describePoint, SEED + 5, ENDED_SAMPLE)),
);

test("every write on either server is checked, and every message of the link is a point", { timeout: 120_000 }, async () => {
  const matrix = await PivotMatrix.open();
  onTestFinished(() => matrix.close());
  const revisions = async () => {
    const lists = await Promise.all(
      [matrix.world.parent, matrix.world.child].map(({ client }) => client.list(configMaps, { namespace: CAPI })),
    );
    return lists.reduce((sum, list) => sum + Number(expectOk(list).metadata.resourceVersion), 0);
  };
  const [before, checked] = [await revisions(), matrix.checks];
  await matrix.count("to-child");
  await matrix.count("to-parent");
  expect(matrix.wrong).toEqual([]);
  expect(matrix.checks - checked).toBeGreaterThanOrEqual((await revisions()) - before);
  const ofCell = ["bootstrap", "pivot", "kubernetesRequest", "welcome", "tunnel data", "tunnel end", "tunnel requestHead"];
  const ofAgent = ["bootstrapComplete", "clusterHealth", "commandAck", "heartbeat", "pivotComplete", "ready"];
  const frames = ["tunnel data", "tunnel end", "tunnel open", "tunnel responseHead"];
  const wanted = [...ofCell.map((kind) => `cell: ${kind}`), ...[...ofAgent, ...frames].map((kind) => `agent: ${kind}`)];
  expect([...matrix.kinds.keys()].toSorted()).toEqual(wanted.toSorted());
});
