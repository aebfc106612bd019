/** Hostile requests in large numbers: the story of test/stories/api-server-fuzz.test.ts with new seeds, and a check of the memory that stays in use. */
import { expect, test } from "vitest";
import { shrink } from "../builders/api-server/fuzz-shrink.ts";
import { fuzz, HANG_MS, type FuzzReport } from "../builders/api-server/fuzz.ts";
import { rounds, seed } from "./settings.ts";

/** A round is a thousand requests: by default a million in all. */
const requests = Math.max(2, rounds) * 1_000;
/** The number of findings that are reduced to few requests; all findings are printed as they occur. */
const SHRUNK = 3;
const MB = 2 ** 20;
/** Limit of the heap after a forced collection in a restored world: a new world uses about 55. */
const MAX_HEAP_MB = 160;

test(`${requests} hostile requests all get a response, and leave no memory in use`, { timeout: requests * 20 }, async () => {
  const report = await fuzz({ seed, requests, onChapter: show });
  for (const finding of report.findings.slice(0, SHRUNK)) console.log(JSON.stringify({ finding, story: await shrink(finding) }));
  expect(report.findings, `LATTICE_SEED=${seed}`).toEqual([]);
  expect(report.requests).toBe(requests);
  const early = report.heaps[Math.floor(report.heaps.length / 10)] ?? 0;
  expect((report.heaps.at(-1) ?? 0) / early, "memory at the end, beside that after a tenth").toBeLessThan(1.5);
  expect(Math.max(...report.heaps) / MB, "memory after any chapter").toBeLessThan(MAX_HEAP_MB);
  expect(report.slowest.ms).toBeLessThan(HANG_MS);
  expect(report.acknowledged).toBeGreaterThan(requests / 1_000);
});

let shown = 0;

function show({ requests: done, byStatus, findings, slowest, heaps, known500, acknowledged }: FuzzReport): void {
  for (const finding of findings.slice(shown)) console.log(JSON.stringify({ finding }));
  shown = findings.length;
  const heapMb = Math.round((heaps.at(-1) ?? 0) / MB);
  console.log(
    JSON.stringify({
      done,
      heapMb,
      acknowledged,
      findings: findings.length,
      slowestMs: Math.round(slowest.ms),
      byStatus: sorted(byStatus),
      known500: sorted(known500),
    }),
  );
}

function sorted(counts: ReadonlyMap<string | number, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].map(([name, count]) => [String(name), count] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
