/** The story of test/stories/fleet-interrupts.test.ts, at least 50 times. */
import { expect, test } from "vitest";
import { interruptRounds } from "../builders/fleet/interrupt-rounds.ts";
import { rounds, seed } from "./settings.ts";

const interrupts = Math.max(50, Math.floor(rounds / 20));

test(`${interrupts} times SIGINT at random times leave no process, lock or record behind`, { timeout: interrupts * 20_000 }, async () => {
  expect(await interruptRounds({ seed, rounds: interrupts }), `seed ${seed}`).toEqual([]);
});
