/** kill -9 under load: every acknowledged write is there after restart. test/long has the same story with many more rounds. */
import { expect, test } from "vitest";
import { killRounds } from "../builders/store/kill-rounds.ts";

test(
  "a store whose process is killed ten times has every acknowledged write, whole, and no revision twice",
  { timeout: 60_000 },
  async () => {
    const report = await killRounds({ seed: 4, rounds: 10 });
    expect(report).toMatchObject({ rounds: 10, wrong: [] });
    expect(report.acknowledged).toBeGreaterThan(50);
  },
);
