/**
 * Yields to other requests between the CEL expressions of a request, and limits the evaluation time of a request.
 *
 * An expression cannot be interrupted and resumed. Evaluations of all requests together use at most a slice of each turn of the event
 * loop, plus the one that exceeds it; the rest waits in a queue. Without a queue, many requests that arrive at once would each use
 * their slice in the same turn.
 */
import type { Clock, Later } from "#base";
import { nextTurn } from "./turns.ts";

/** The part of one turn of the event loop for the evaluations of all requests. */
const SLICE_MS = 20;
/** Less than this, even of several turns, is not worth the end of a turn to be watched for. */
const UNWATCHED_MS = 1;
/** Number of values in a large object. */
const LARGE = 4_000;
/** Limit for the expressions of one request, in each admission plugin and in validation: about two seconds of processor time. */
const REQUEST_WORK_LIMIT = 200_000_000;
/** From the first expression to the last, including the turns of other requests. */
const REQUEST_TIME_LIMIT_MS = 10_000;

const TOO_MUCH_WORK = `the expressions of this request need more work than one request may do (${REQUEST_WORK_LIMIT} steps)`;
const TOO_SLOW = `the expressions of this request took longer than ${REQUEST_TIME_LIMIT_MS} ms`;

/** Global, because a process has one event loop. */
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

  /** Why the request may evaluate nothing more; undefined: it may continue. */
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
  if (turn.watched || turn.usedMs < UNWATCHED_MS) return;
  turn.watched = true;
  void beginTurn();
}

async function beginTurn(): Promise<void> {
  await nextTurn();
  turn.usedMs = 0;
  turn.watched = false;
}

/**
 * Runs synchronously within the slice of this turn. Steps for a large object start in a new turn, because decoding and validating it has
 * already used much of this one.
 */
export function runPaced<T>(steps: Paced<T>, clock: EvaluationClock, ...objects: readonly unknown[]): Later<T> {
  return objects.some(isLarge) ? ownTurn().then(async () => run(steps, clock)) : run(steps, clock);
}

/** When the slice is used, the caller's continuation also runs in a new turn. */
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

/** One waiting request continues in each turn. */
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
