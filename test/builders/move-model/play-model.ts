/** Plays a list of steps on a new world with the real mover, then lets everything end undisturbed, and judges. */
import { seededRandom } from "#base";
import type { abortNamespaceMove, moveNamespace } from "#pivot";
import { ModelProcess, type Fate, type Side } from "./model-network.ts";
import { makeSteps, printSteps, type ModelStep, type PatternName } from "./model-steps.ts";
import { ModelWorld, NAMESPACE, other } from "./model-world.ts";

/** The mover under test: the real one, or a changed copy of it. */
export type Mover = { readonly moveNamespace: typeof moveNamespace; readonly abortNamespaceMove: typeof abortNamespaceMove };
export type Verdict = {
  readonly wrong: string | undefined;
  readonly requests: number;
  readonly commits: number;
  readonly log: readonly string[];
};

const LEASE_MS = 1_000;
const WAIT_MS = 2_000;
/** Events of one list. A list that needs more does not end. */
const MOST_EVENTS = 30_000;
const MOST_PROCESSES = 2;

export async function playSteps(steps: readonly ModelStep[], mover: Mover): Promise<Verdict> {
  const player = new Player(mover);
  const wrong = await player.play(steps);
  const { network, commits } = player.world;
  return { wrong, requests: network.arrived, commits, log: player.log };
}

class Player {
  readonly world = new ModelWorld();
  readonly log: string[] = [];
  readonly #mover: Mover;
  #events = 0;
  #started = 0;

  constructor(mover: Mover) {
    this.#mover = mover;
  }

  async play(steps: readonly ModelStep[]): Promise<string | undefined> {
    for (const { after, what } of steps) {
      const begun = this.world.network.arrived;
      await this.#until(() => this.world.network.arrived - begun >= after);
      this.#perform(what.split(" "));
      if (this.world.violation !== undefined) return this.world.violation;
    }
    return (await this.#settle()) ?? this.world.violation;
  }

  get #alive(): readonly ModelProcess[] {
    return this.world.processes.filter(({ isAlive }) => isAlive);
  }

  async #until(isDue: () => boolean): Promise<void> {
    while (!isDue() && this.#alive.length > 0 && this.world.violation === undefined) {
      const hasAdvanced = await this.world.time.advance();
      if (((this.#events += 1) > MOST_EVENTS || !hasAdvanced) && this.#alive.length > 0) {
        this.world.violation ??= `a process does not end: ${this.world.recentWrites.slice(-3).join("; ")}`;
      }
    }
  }

  #perform([verb = "", first = "", second = "", third = "", ...rest]: readonly string[]): void {
    const { network } = this.world;
    const newest = this.#alive.at(-1);
    if (verb === "move" || verb === "abort") return void (this.#alive.length < MOST_PROCESSES && this.#start(verb, first as Side));
    if (verb === "kill") return newest && network.kill(newest, first as Fate, Number(second));
    if (verb === "trap")
      return void (network.trap = newest && {
        process: newest,
        fate: first as Fate,
        by: Number(second),
        left: Number(third),
        text: rest.join(" "),
      });
    if (verb === "stop") return newest?.stop.abort();
    if (verb === "drop" || verb === "lose") return void network.faults.push({ kind: verb });
    if (verb === "repeat" || verb === "slow") return void network.faults.push({ kind: verb, by: Number(first) });
    if (verb === "cut") return void network.unreachable.set(first as Side, Number(second));
    if (verb === "restart") return network.restart(first as Side, second === "after");
    if (verb === "person") return this.world.person(first, `${second} ${third}`);
    if (verb === "controllers") return this.world.controllers(first as Side);
    if (verb === "collect") return this.world.collectGarbage(first as Side);
    if (verb === "jump" && newest !== undefined) newest.clock.jumpedMs += Number(first);
  }

  #start(what: "move" | "abort", from: Side): ModelProcess {
    const { world } = this;
    this.#started += 1;
    const process = new ModelProcess(`${what} ${this.#started} ${from}>${other(from)}`, world.time);
    world.processes.push(process);
    const options = {
      source: world.network.client(from, process),
      target: world.network.client(other(from), process),
      namespace: NAMESPACE,
      identity: `process-${this.#started}`,
      leaseMs: LEASE_MS,
      waitMs: WAIT_MS,
      clock: process.clock,
      random: seededRandom(this.#started),
      signal: process.stop.signal,
      onWait: () => {},
      report: () => {},
    };
    const running = what === "move" ? this.#mover.moveNamespace(options) : this.#mover.abortNamespaceMove(options);
    const note = (result: Awaited<typeof running>) => {
      process.result = result.ok ? "ok" : `${result.error.kind}: ${result.error.message}`;
      this.log.push(`${process.label}: ${process.result}`);
    };
    void running.then(note);
    return process;
  }

  async #run(what: "move" | "abort", from: Side): Promise<string> {
    const process = this.#start(what, from);
    await this.#until(() => false);
    return process.result ?? "";
  }

  /** No more faults: what was begun ends, and one more move shows that nothing stands in its way. */
  async #settle(): Promise<string | undefined> {
    const { world } = this;
    world.network.faults.length = 0;
    world.network.unreachable.clear();
    await this.#until(() => false);
    world.network.deliverLate();
    world.removePlanted();
    for (let round = 0; round < 6 && world.violation === undefined; round += 1) {
      this.#background();
      const side = (["a", "b"] as const).find((one) => world.phaseAt(one) !== undefined);
      if (side === undefined) break;
      if ((await this.#run("move", side)).startsWith("refused")) await this.#run("abort", side);
    }
    this.#background();
    const before = world.owner;
    const moved = world.violation === undefined ? await this.#run("move", before) : "";
    world.network.deliverLate();
    this.#background();
    if (world.violation !== undefined) return world.violation;
    if (world.owner === before) return `an undisturbed move at the end has not moved: ${moved}`;
    return world.finalProblems()[0];
  }

  /** What controllers and garbage collectors do in any cluster, given time. */
  #background(): void {
    for (const side of ["a", "b"] as const) {
      this.world.controllers(side, true);
      this.world.collectGarbage(side);
    }
  }
}

export type Failure = { readonly seed: number; readonly steps: readonly ModelStep[]; readonly wrong: string; readonly text: string };
export type Exploration = {
  readonly requests: number;
  readonly commits: number;
  readonly lists: number;
  readonly failure: Failure | undefined;
};

export type ExploreOptions = { readonly seed: number; readonly requests: number; readonly pattern?: PatternName | undefined };

/** Plays lists from consecutive seeds until enough requests were executed, or something is wrong: then the shortest list that shows it. */
export async function explore(mover: Mover, { seed, requests, pattern }: ExploreOptions): Promise<Exploration> {
  let [done, commits, lists] = [0, 0, 0];
  for (let at = seed; done < requests; at += 1) {
    const steps = makeSteps(at, pattern);
    const verdict = await playSteps(steps, mover);
    [done, commits, lists] = [done + verdict.requests, commits + verdict.commits, lists + 1];
    if (verdict.wrong !== undefined) return { requests: done, commits, lists, failure: await shortened(at, steps, mover) };
  }
  return { requests: done, commits, lists, failure: undefined };
}

/** Removes steps as long as something is wrong. */
async function shortened(seed: number, steps: readonly ModelStep[], mover: Mover): Promise<Failure> {
  let shortest = steps;
  for (let isShorter = true; isShorter;) {
    isShorter = false;
    for (let at = shortest.length - 1; at >= 0; at -= 1) {
      const fewer = shortest.toSpliced(at, 1);
      if ((await playSteps(fewer, mover)).wrong === undefined) continue;
      shortest = fewer;
      isShorter = true;
    }
  }
  const { wrong = "", log } = await playSteps(shortest, mover);
  const text = `seed ${seed}: ${wrong}\n${printSteps(shortest)}\n\nprocesses:\n${log.join("\n")}`;
  return { seed, steps: shortest, wrong, text };
}
