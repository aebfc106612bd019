/** Hostile requests without end: the story of test/stories/api-server-fuzz with seeds nobody has looked at, and a look at the memory it leaves. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { fuzz } from "../builders/api-server/fuzz.ts";
import { rounds, seed as first } from "./settings.ts";

/** A round is a hundred requests; each server gets three thousand of them. */
const REQUESTS = 3_000;
const servers = Math.max(2, Math.ceil((rounds * 100) / REQUESTS));

test(`${servers * REQUESTS} hostile requests are all answered, and leave no memory behind`, { timeout: servers * 60_000 }, async () => {
  const statuses = new Map<number, number>();
  await fuzz({ seed: first, requests: REQUESTS }); // whatever is made once is made now
  const before = heapAfterCollection();
  for (let seed = first; seed < first + servers; seed += 1) {
    const report = await fuzz({ seed, requests: REQUESTS });
    expect(report.wrong, `seed ${seed}`).toEqual([]);
    for (const [status, count] of report.byStatus) statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const grown = heapAfterCollection() - before;
  console.log(JSON.stringify({ statuses: Object.fromEntries(statuses), grownMb: Math.round(grown / 2 ** 20) }));
  expect(grown).toBeLessThan(64 * 2 ** 20);
});

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
