/** kill -9 under load: every acknowledged write is stored after a restart. test/long runs the same with many more rounds. */
import { expect, test } from "vitest";
import { killRounds } from "../builders/store/kill-rounds.ts";

test(
  "a store whose process is killed six times keeps every acknowledged write, and uses no revision twice",
  // a round starts a process: two seconds on an idle machine, much more on a busy one
  { timeout: 300_000 },
  async () => {
    const report = await killRounds({ seed: 4, rounds: 6 });
    expect(report).toMatchObject({ rounds: 6, wrong: [] });
    expect(report.acknowledged).toBeGreaterThan(50);
    expect(report.forgotten).toBeGreaterThan(0);
  },
);
