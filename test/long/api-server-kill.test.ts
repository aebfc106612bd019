/** The story of test/stories/api-server-kill.test.ts, at least 200 times: a round starts a process, so a fifth of the rounds is enough. */
import { expect, test } from "vitest";
import { killServerRounds } from "../builders/api-server/kill-rounds.ts";
import { rounds, seed } from "./settings.ts";

const kills = Math.max(200, Math.floor(rounds / 5));

test(
  `an API server that is killed ${kills} times keeps every acknowledged write, and the versions that its watchers see only increase`,
  { timeout: kills * 15_000 },
  async () => {
    const report = await killServerRounds({ seed, rounds: kills });
    console.log(JSON.stringify({ ...report, wrong: report.wrong.slice(0, 20) }));
    expect(report.wrong.slice(0, 20), `seed ${seed}`).toEqual([]);
    expect(report.watchEvents).toBeGreaterThan(kills);
    expect(report.relists).toBeGreaterThan(kills / 8);
  },
);
