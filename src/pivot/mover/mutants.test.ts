/** Every change of the mover that would break it is found by the model, and what is printed then can be played again. */
import { describe, expect, test } from "vitest";
import { loadMutant, MUTANTS } from "../../../test/builders/move-model/mutants.ts";
import { makeSteps, parseSteps, printSteps } from "../../../test/builders/move-model/model-steps.ts";
import { explore, playSteps, type Mover } from "../../../test/builders/move-model/play-model.ts";
import { abortNamespaceMove, moveNamespace } from "./move-namespace.ts";

const REQUESTS = 40_000;
const real: Mover = { moveNamespace, abortNamespaceMove };

describe("a changed mover is caught", () => {
  test.for(MUTANTS)("$name", { timeout: 300_000 }, async (mutant) => {
    const { failure } = await explore(await loadMutant(mutant), {
      seed: 1,
      requests: REQUESTS,
      pattern: mutant.pattern,
    });
    expect(failure, mutant.name).toBeDefined();
    // the printed list is enough: it breaks the changed mover again, and not the real one
    const [, ...lines] = (failure?.text ?? "").split("\n\n")[0]?.split("\n") ?? [];
    expect((await playSteps(parseSteps(lines.join("\n")), real)).wrong).toBeUndefined();
  });
});

test("a printed list of steps is played as it was", async () => {
  const [mutant] = MUTANTS;
  const mover = await loadMutant(mutant ?? expect.fail("no mutant"));
  const { failure } = await explore(mover, { seed: 1, requests: REQUESTS });
  const printed = failure?.text ?? "";
  expect(printed).toMatch(/^seed [0-9]+: .+(\n[0-9]+ .+)*\n+processes:/);
  const [head = "", ...lines] = printed.split("\n\n")[0]?.split("\n") ?? [];
  const again = await playSteps(parseSteps(lines.join("\n")), mover);
  expect(head).toBe(`seed ${failure?.seed}: ${again.wrong}`);
  expect(parseSteps(printSteps(makeSteps(7)))).toEqual(makeSteps(7));
});
