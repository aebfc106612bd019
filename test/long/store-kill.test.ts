/** The story of test/stories/store-kill.test.ts, at least 200 times: a round starts a process and takes longer than most, so a fifth of the rounds is enough. */
import { expect, test } from "vitest";
import { killRounds } from "../builders/store/kill-rounds.ts";
import { rounds, seed } from "./settings.ts";

const kills = Math.max(200, Math.floor(rounds / 5));

test(
  `a store whose process is killed ${kills} times keeps every acknowledged write, and uses no revision twice`,
  { timeout: kills * 5_000 },
  async () => {
    const report = await killRounds({ seed, rounds: kills });
    console.log(JSON.stringify(report));
    expect(report, `seed ${seed}`).toMatchObject({ rounds: kills, wrong: [] });
    expect(report.snapshots).toBeGreaterThan(0);
    expect(report.forgotten).toBeGreaterThan(0);
  },
);
