/**
 * A run of the model as a list of steps, one line each: after how many requests (or as soon as no process runs), and what. A list is made from a
 * seed, printed when something is wrong, and can be played again.
 */
import { seededRandom } from "#base";
import { NAMES } from "./model-objects.ts";

export type ModelStep = { readonly after: number; readonly what: string };

export function printSteps(steps: readonly ModelStep[]): string {
  return steps.map(({ after, what }) => `${after} ${what}`).join("\n");
}

export function parseSteps(text: string): readonly ModelStep[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [after = "0", ...what] = line.trim().split(" ");
    return { after: Number(after), what: what.join(" ") };
  });
}

const LONGEST = 12;

export function makeSteps(seed: number): readonly ModelStep[] {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  let [from, to] = ["a", "b"];
  const disturbances: readonly (() => string)[] = [
    () => `kill ${pick(["lost", "done", "late", "late"])} ${1 + below(120)}`,
    () => `kill ${pick(["lost", "done", "late"])} ${1 + below(20)}`,
    () => "stop",
    () => "drop",
    () => "lose",
    () => `repeat ${1 + below(80)}`,
    () => `slow ${pick([5, 50, 700, 2_500, 9_000])}`,
    () => `cut ${pick(["a", "b"])} ${1 + below(30)}`,
    () => `restart ${pick(["a", "b"])} ${pick(["before", "after"])}`,
    () => `person edit ${pick(NAMES)}`,
    () => `person edit ${pick(NAMES)}`,
    () => `person ${pick(["pause", "unpause", "unpause"])} Cluster c1`,
    () => `person plant ${pick(["Secret c1-ca", "Machine m1", "Machine m2"])}`,
    () => `person delete ${pick(["Machine m2", "Machine m3"])}`,
    () => `controllers ${pick(["a", "b"])}`,
    () => `collect ${pick(["a", "b"])}`,
    () => `jump ${pick([-86_400_000, -3_000, 1_500, 60_000, 31_536_000_000])}`,
  ];
  const start = () => {
    if (below(4) === 0) [from, to] = [to, from];
    return `${below(5) === 0 ? "abort" : "move"} ${from} ${to}`;
  };
  const steps: ModelStep[] = [];
  const count = 2 + below(LONGEST);
  for (let at = 0; at < count; at += 1) {
    const starts = at === 0 || below(3) === 0;
    // most requests of a move come after those that claim the lease
    steps.push({ after: below(4) === 0 ? below(140) : below(45), what: starts ? start() : pick(disturbances)() });
  }
  return steps;
}
