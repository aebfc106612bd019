/**
 * Lets other requests have their turn between the expressions that are evaluated for one, and limits how long one request may evaluate.
 *
 * An expression cannot be interrupted and resumed. Evaluations of all requests together use at most a slice of each turn of the event
 * loop, plus the one that exceeds it; the rest waits in a queue. Without a queue, many requests that arrive at once would each use
 * their slice in the same turn.
 */
import type { Clock, Later } from "#base";
import { nextTurn } from "./turns.ts";

/** Of one turn of the event loop, for the evaluations of all requests. */
const SLICE_MS = 20;
/** Values that an object is made of. */
const LARGE = 4_000;
/** What the expressions of one request may do, in each part of admission and in validation: about two seconds of processor time. */
const REQUEST_WORK_LIMIT = 200_000_000;
/** From the first expression to the last, other requests' turns included. */
const REQUEST_TIME_LIMIT_MS = 10_000;

const TOO_MUCH_WORK = `the expressions of this request need more work than one request may do (${REQUEST_WORK_LIMIT} steps)`;
const TOO_SLOW = `the expressions of this request took longer than ${REQUEST_TIME_LIMIT_MS} ms`;

/** There is one event loop in a process, so there is one of these. */
const turn = { usedMs: 0, watched: false, queue: Promise.resolve() };

export type EvaluationClock = Pick<Clock, "monotonic" | "processorTime">;

/** Steps of which each may be followed by a pause. */
export type Paced<T> = Generator<undefined, T, undefined>;

export class Pace {
  readonly clock: EvaluationClock;
  readonly #started: number;
  #work = 0;

  constructor(clock: EvaluationClock) {
    this.clock = clock;
    this.#started = clock.monotonic();
  }

  /** Why nothing more may be evaluated for the request; undefined: it may. */
  get problem(): string | undefined {
    if (this.#work > REQUEST_WORK_LIMIT) return TOO_MUCH_WORK;
    return this.clock.monotonic() - this.#started > REQUEST_TIME_LIMIT_MS ? TOO_SLOW : undefined;
  }

  count(work: number): void {
    this.#work += work;
  }
}

function countInTurn(tookMs: number): void {
  turn.usedMs += tookMs;
  if (turn.watched) return;
  turn.watched = true;
  void beginTurn();
}

async function beginTurn(): Promise<void> {
  await nextTurn();
  turn.usedMs = 0;
  turn.watched = false;
}

/**
 * At once as long as the slice of this turn lasts. What is about a large object starts in a new turn: to read and check such an object
 * has taken long enough.
 */
export function runPaced<T>(steps: Paced<T>, clock: EvaluationClock, ...objects: readonly unknown[]): Later<T> {
  return objects.some(isLarge) ? ownTurn().then(async () => run(steps, clock)) : run(steps, clock);
}

/** What the caller does with the result also gets a new turn when the slice is used. */
function run<T>(steps: Paced<T>, clock: EvaluationClock): Later<T> {
  for (;;) {
    const start = clock.monotonic();
    const next = steps.next();
    countInTurn(clock.monotonic() - start);
    const isUsed = turn.usedMs >= SLICE_MS;
    if (next.done === true) return isUsed ? ownTurn().then(() => next.value) : next.value;
    if (isUsed) return ownTurn().then(async () => run(steps, clock));
  }
}

function isLarge(object: unknown): boolean {
  const ahead: unknown[] = [object];
  for (let count = 0; count < LARGE; count++) {
    const value = ahead.pop();
    if (value === undefined) return false;
    if (typeof value !== "object" || value === null) continue;
    const inner = Object.values(value);
    if (inner.length >= LARGE) return true;
    for (const one of inner) if (one !== undefined) ahead.push(one);
  }
  return true;
}

/** One of those that wait goes on in each turn. */
function ownTurn(): Promise<void> {
  turn.queue = turn.queue.then(nextTurn);
  return turn.queue;
}

/** Without pauses, for callers that cannot wait. */
export function runAtOnce<T>(steps: Paced<T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}
