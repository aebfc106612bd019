/** kill -9 under load, through HTTP: every acknowledged write is there after restart. test/long has the same story with many more rounds. */
import { expect, test } from "vitest";
import { killServerRounds } from "../builders/api-server/kill-rounds.ts";

test(
  "an API server that is killed again and again has every acknowledged write, whole, and its watchers see time go forward only",
  { timeout: 300_000 },
  async () => {
    const report = await killServerRounds({ seed: 4, rounds: 5 });
    expect(report).toMatchObject({ rounds: 5, wrong: [] });
    expect(report.acknowledged).toBeGreaterThan(20);
    expect(report.resumed).toBeGreaterThan(0);
    // those that slept were told that what they have missed is forgotten
    expect(report.relists).toBeGreaterThan(0);
  },
);
