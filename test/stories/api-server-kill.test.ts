/** kill -9 under load, over HTTP: every acknowledged write is stored after a restart. test/long runs the same with many more rounds. */
import { expect, test } from "vitest";
import { killServerRounds } from "../builders/api-server/kill-rounds.ts";

test(
  "an API server that is killed repeatedly keeps every acknowledged write, and the versions that its watchers see only increase",
  { timeout: 300_000 },
  async () => {
    const report = await killServerRounds({ seed: 4, rounds: 5 });
    expect(report).toMatchObject({ rounds: 5, wrong: [] });
    expect(report.acknowledged).toBeGreaterThan(20);
    expect(report.resumed).toBeGreaterThan(0);
    // the events that paused watchers missed had expired
    expect(report.relists).toBeGreaterThan(0);
  },
);
