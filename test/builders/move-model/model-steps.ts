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

/** Waits until no process runs. */
const IDLE = 9_999;
/** Writes of a move and of an abort whose late arrival could do harm. */
const WRITES = [
  "patch clusters/c1 at a",
  "patch clusters/c1 at b",
  "create secrets/lattice-move-journal at a",
  "patch secrets/lattice-move-journal at a",
  "delete secrets/lattice-move-journal at a",
  "create configmaps/lattice-move-record at b",
  "update configmaps/lattice-move-record at b",
  "delete configmaps/lattice-move-record at b",
  "create secrets/lattice-move-batch",
  "patch secrets/lattice-move-batch",
  "create clusters/c1 at b",
  "create machines/m1 at b",
  "patch machines/m1 at b",
  "delete machines/m1",
] as const;

type Below = (limit: number) => number;
const trap = (below: Below, write = WRITES[below(WRITES.length)] ?? "") =>
  line(0, `trap ${below(4) === 0 ? "done" : "late"} ${5 + below(below(2) === 0 ? 60 : 300)} ${1 + below(3)} ${write}`);

const caught = (by: number, write: string) => line(0, `trap late ${by} 1 ${write}`);

/** Stories with few free numbers: a process is killed at a write, which is executed while later processes run. */
const PATTERNS = {
  "late after an abort": (below) => [
    line(0, "move a b"),
    trap(below),
    line(IDLE, "abort a b"),
    line(IDLE, "move a b"),
    line(IDLE, "move b a"),
  ],
  "late of an abort": (below) => [
    line(0, "move a b"),
    line(30 + below(60), "kill lost 1"),
    line(0, "abort a b"),
    trap(below),
    line(IDLE, below(2) === 0 ? "abort a b" : "move a b"),
    line(IDLE, "move a b"),
    line(IDLE, "move b a"),
  ],
  "late after a move back": (below) => [
    line(0, "move b a"),
    line(IDLE, "move a b"),
    line(IDLE, "move b a"),
    line(IDLE, "move a b"),
    trap(below),
    line(IDLE, "move a b"),
    line(IDLE, "move b a"),
    line(IDLE, "move a b"),
  ],
  "late pause": (below) => [line(0, "move a b"), caught(200 + below(100), "patch clusters/c1 at a"), line(IDLE, "abort a b")],
  "late intent": (below) => [
    line(0, "move a b"),
    caught(20 + below(60), "create secrets/lattice-move-journal at a"),
    line(below(30), "person pause Cluster c1"),
    line(IDLE, below(2) === 0 ? "abort a b" : "move a b"),
  ],
  "late unpause": (below) => [
    line(0, "move a b"),
    line(45 + below(40), "kill lost 1"),
    line(0, "abort a b"),
    caught(50 + below(130), "patch clusters/c1 at a"),
    line(IDLE, "abort a b"),
    line(IDLE, "move a b"),
  ],
  "late deletion of a copy": (below) => [
    line(0, "move a b"),
    line(62 + below(25), "kill lost 1"),
    line(0, "abort a b"),
    caught(40 + below(100), "delete machines/m1 at b"),
    line(IDLE, "move a b"),
  ],
  "late end of a journal": (below) => [
    line(0, "move a b"),
    caught(150 + below(170), "delete secrets/lattice-move-journal at a"),
    line(IDLE, "move a b"),
    line(IDLE, "move b a"),
    line(IDLE, "move a b"),
  ],
  "late end of a record": (below) => [
    line(0, "move a b"),
    line(IDLE, "move b a"),
    line(IDLE, "move a b"),
    caught(30 + below(150), "delete configmaps/lattice-move-record at a"),
    line(IDLE, "move a b"),
    line(IDLE, "move b a"),
  ],
  "abort at the end": (below) => [line(0, "move a b"), line(85 + below(50), "kill lost 1"), line(0, "abort a b")],
  "a move back before the end": (below) => [
    line(0, "move a b"),
    line(0, `trap done ${5 + below(60)} ${1 + below(4)} delete secrets/lattice-move-batch`),
    line(IDLE, "move b a"),
    line(IDLE, "move a b"),
  ],
  "edited by a person": (below) => [
    line(0, "move a b"),
    line(40 + below(100), `person edit ${below(2) === 0 ? "Machine m1" : "Machine m2"}`),
    line(below(10), `person edit ${below(2) === 0 ? "Machine m1" : "Secret c1-ca"}`),
  ],
  "unpaused by a person": (below) => [line(0, "move a b"), line(70 + below(30), "person unpause Cluster c1")],
  "late commit": (below) => [
    line(0, "move a b"),
    trap(below, "update configmaps/lattice-move-record at b"),
    line(IDLE, `person edit ${below(2) === 0 ? "Machine m1" : "Secret c1-ca"}`),
    line(0, below(4) === 0 ? "abort a b" : "move a b"),
    line(10 + below(50), `kill ${below(2) === 0 ? "lost" : "done"} 1`),
  ],
  "a slow process": (below) => [
    line(0, "move a b"),
    line(5 + below(90), `slow ${1_000 + below(4_000)}`),
    line(below(3), below(2) === 0 ? "abort a b" : "move a b"),
    line(10 + below(60), "person edit Machine m1"),
    line(below(40), "abort a b"),
  ],
} as const satisfies Record<string, (below: Below) => readonly ModelStep[]>;

export type PatternName = keyof typeof PATTERNS;

function line(after: number, what: string): ModelStep {
  return { after, what };
}

/** `pattern`: only of this one. */
export function makeSteps(seed: number, pattern?: PatternName): readonly ModelStep[] {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const names = Object.keys(PATTERNS) as readonly PatternName[];
  if (pattern !== undefined) return PATTERNS[pattern](below);
  const chosen = below(2) === 0 ? names[below(names.length)] : undefined;
  return chosen === undefined ? anySteps(random) : PATTERNS[chosen](below);
}

function anySteps(random: () => number): readonly ModelStep[] {
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
