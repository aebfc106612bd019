/**
 * The mission in one story, with real processes, TLS and gRPC: a bootstrap cluster makes a management cluster, which makes workload clusters, one of which
 * makes a leaf; all own themselves. Then the parent's data is deleted, the others manage themselves, another parent adopts them, and services talk only
 * where both sides agree. Everything runs where only loopback exists: an attempt to reach another address fails the test.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { airGapMissing, runInAirGap } from "../builders/air-gap.ts";

const missing = airGapMissing();
const POINTS = [
  "the management cluster was made by a bootstrap cluster, and owns itself",
  "workload clusters own themselves, and their parent has none of their objects",
  "a leaf that a workload cluster made owns itself",
  "the parent is gone, with its data",
  "a cell and a leaf have scaled, upgraded and replaced a worker and a control-plane machine",
  "another parent has adopted the cell and the leaf",
  "the agreements of the shop and of a mesh on the pivoted leaf are as declared",
];

test.skipIf(missing !== undefined)(
  `clusters own themselves, and live on without their parent (skipped where ${missing ?? "nothing"})`,
  { timeout: 900_000 },
  async () => {
    const run = await runInAirGap([process.execPath, join(import.meta.dirname, "pivot-e2e/run.ts")], 890_000);
    const points = run.output.split("\n").flatMap((line) => /^[0-9]+ s {2}(.*)$/.exec(line)?.[1] ?? []);
    expect(points, run.output).toEqual(POINTS);
    expect(run, run.output).toMatchObject({ code: 0, attempts: 0 });
  },
);
