/** Export, import and confirmation, killed at a write: at a seeded part of them here, at every one in `npm run test:long`. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom } from "#base";
import { contentsOf, observeInvariants, startMoveWorld } from "../../../test/builders/move-world.ts";
import { roundsOf } from "../../../test/builders/rounds.ts";
import { handOver } from "./folder-world.test-support.ts";
import { MemoryFolder } from "./memory-folder.test-support.ts";
import { compareMoved } from "./move-crashes.test-support.ts";
import { MortalProcess, type Kill } from "../../../test/builders/mortal-process.ts";

const PERCENT = roundsOf({ sample: 4, long: 100 });

test(
  "an export, import or confirmation that is killed at any write is finished by the next runs, with one owner at all times",
  { timeout: 1_800_000 },
  async () => {
    const world = await startMoveWorld(1);
    onTestFinished(() => world.close());
    const expected = new Map([...(await contentsOf(world.source.client, "c1"))].filter(([name]) => name !== "Secret c1/unrelated"));
    const observer = observeInvariants(world, []);
    const random = seededRandom(7);
    let [from, to] = [world.source, world.target];
    const whole = new MortalProcess(undefined);
    expectOk(await handOver({ from, to, directory: new MemoryFolder() }, { process: whole }));
    const all = Array.from({ length: whole.writes }, (_, at) =>
      (["before", "after"] as const).map((when): Kill => ({ write: at + 1, when })),
    );
    const kills = all.flat().filter(() => random() * 100 < PERCENT);
    for (const [at, kill] of kills.entries()) {
      [from, to] = [to, from];
      const directory = new MemoryFolder();
      const process = new MortalProcess(kill);
      const killed = await handOver({ from, to, directory }, { process, seed: at });
      expect({ kill, ok: killed.ok && process.dead }).toEqual({ kill, ok: false });
      const again = await finish({ from, to, directory }, at + 1_000);
      expect({ kill, again }).toEqual({ kill, again: "done" });
      expect({ kill, wrong: [...observer.wrong, ...(await compareMoved(from, to, expected))] }).toEqual({ kill, wrong: [] });
    }
    expect(kills.length).toBeGreaterThan(5);
  },
);

/** The commands of a person who does not know how far the killed one came. */
async function finish(handover: Parameters<typeof handOver>[0], seed: number): Promise<string> {
  const result = await handOver(handover, { seed });
  if (result.ok) return "done";
  // everything but the answer to the person had happened, or the export has finished what the receipt had begun
  const isOver = ["the directory is not empty", "there is no export of this namespace"].some((text) => result.error.message.includes(text));
  return isOver ? "done" : result.error.message;
}
