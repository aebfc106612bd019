/** Ctrl-C at random times of a fleet's start and run: it ends in time and leaves nothing behind. test/long runs the same with 50 rounds. */
import { expect, test } from "vitest";
import { interruptRounds } from "../builders/fleet/interrupt-rounds.ts";

test(
  "SIGINT to the process group at any time ends a fleet within ten seconds and leaves nothing behind",
  { timeout: 180_000 },
  async () => {
    expect(await interruptRounds({ seed: 11, rounds: 6 })).toEqual([]);
  },
);
