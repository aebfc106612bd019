/** kill -9 under load: every acknowledged write is there after restart. test/long has the same story with many more rounds. */
import { expect, test } from "vitest";
import { killRounds } from "../builders/store/kill-rounds.ts";

test(
  "a store whose process is killed six times has every acknowledged write, whole, and no revision twice",
  // a round starts a process: two seconds on a machine of its own, much more on one that is shared
  { timeout: 300_000 },
  async () => {
    const report = await killRounds({ seed: 4, rounds: 6 });
    expect(report).toMatchObject({ rounds: 6, wrong: [] });
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report.forgotten).toBeGreaterThan(0);
  },
);
