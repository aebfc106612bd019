/**
 * What one run of an expression uses up, and the limits that end it. Every charge is made before the work that it is for.
 *
 * `pay` charges Kubernetes' cost, which an author can calculate and a real server enforces too. It knows nothing of work that
 * Kubernetes prices at one unit however large the values are: the equality of nested lists, `replace` with a long text, an index into
 * a long string. Such work is charged with `work`, in units of about ten nanoseconds, to an effort that an expression shares with the
 * variables that it reads. The clock is the last resort, for work that was estimated wrongly.
 */
import type { Clock } from "#base";
import { characters } from "./characters.ts";
import { CelFailure } from "./values.ts";

/** What one evaluation, with the variables that it is the first to read, may do: about 0.15 seconds. */
const WORK_LIMIT = 14_000_000;
const TIME_LIMIT_MS = 200;
/** Levels of expressions inside each other, and of values that are compared or printed. */
const MAX_DEPTH = 800;
const WORK_PER_MS = 100_000;
/** What regular expressions take of the worst case, mostly. */
const TYPICAL_SHARE = 8;
const WORK_PER_COST = 8;
const WORK_PER_CHECK = 200_000;
const COST_PER_CHECK = 25_000;

export const SPENT = new CelFailure("operation cancelled: actual cost limit exceeded", true);
const TOO_MUCH_WORK = new CelFailure(
  `operation interrupted: the expression needs more work than one evaluation may do (${WORK_LIMIT} steps); limit the sizes of the values that it reads`,
  true,
);
const TOO_SLOW = new CelFailure(`operation interrupted: the evaluation took longer than ${TIME_LIMIT_MS} ms`, true);
const TOO_DEEP = new CelFailure("operation interrupted: the values or variables of the expression are nested too deeply", true);

/** The clock of an effort: processor time where there is one, so that a busy machine does not end evaluations. */
export type EffortClock = Pick<Clock, "monotonic" | "processorTime">;

/** The work of an expression and of the variables that are evaluated for it. */
export class Effort {
  #used = 0;
  #depth = 0;
  #started: number | undefined;
  readonly #clock: EffortClock | undefined;

  constructor(clock?: EffortClock) {
    this.#clock = clock;
  }

  get used(): number {
    return this.#used;
  }

  /** False, and not entered: it would be too deep for the stack. */
  enter(levels: number): boolean {
    if (this.#depth + levels > MAX_DEPTH) return false;
    this.#depth += levels;
    return true;
  }

  leave(levels: number): void {
    this.#depth -= levels;
  }

  fits(units: number): boolean {
    return this.#used + units <= WORK_LIMIT;
  }

  /** Milliseconds; undefined without a clock. */
  now(): number | undefined {
    return this.#clock?.processorTime?.() ?? this.#clock?.monotonic();
  }

  use(units: number): CelFailure | undefined {
    this.#used += units;
    return this.#used > WORK_LIMIT ? TOO_MUCH_WORK : undefined;
  }

  /** The time counts from the first check: most evaluations are over before that. */
  checkTime(): CelFailure | undefined {
    const now = this.now();
    if (now === undefined) return undefined;
    this.#started ??= now;
    return now - this.#started > TIME_LIMIT_MS ? TOO_SLOW : undefined;
  }
}

export class Meter {
  #cost = 0;
  #work = 0;
  /** The cost that is already part of the effort. */
  #counted = 0;
  #check: number;
  readonly #limit: number;
  readonly #effort: Effort;
  #sizes: Map<string, number> | undefined;

  constructor(limit: number, effort: Effort = new Effort()) {
    this.#limit = limit;
    this.#check = Math.min(limit, COST_PER_CHECK);
    this.#effort = effort;
  }

  get cost(): number {
    return this.#cost;
  }

  pay(cost: number): CelFailure | undefined {
    this.#cost += cost;
    return this.#cost > this.#check ? this.#checkCost() : undefined;
  }

  #checkCost(): CelFailure | undefined {
    if (this.#cost > this.#limit) return SPENT;
    if (this.#check >= 0) this.#check = Math.min(this.#limit, this.#cost + COST_PER_CHECK);
    return this.#checkAll();
  }

  work(units: number): CelFailure | undefined {
    this.#work += units;
    return this.#work > WORK_PER_CHECK ? this.#checkAll() : undefined;
  }

  #checkAll(): CelFailure | undefined {
    const failed = this.settle() ?? this.#effort.checkTime();
    if (failed !== undefined) this.#check = -1;
    return failed;
  }

  /** Adds what was used since the last time to the effort. */
  settle(): CelFailure | undefined {
    const units = this.#work + (Math.min(this.#cost, this.#limit) - this.#counted) * WORK_PER_COST;
    this.#work = 0;
    this.#counted = Math.min(this.#cost, this.#limit);
    const failed = this.#effort.use(units);
    // every further charge fails too, so no caller has to look at each of them
    if (failed !== undefined) this.#check = -1;
    return failed;
  }

  /** Runs what calls itself for the parts of a value or of an expression. */
  nested<T>(levels: number, run: () => T): T | CelFailure {
    if (!this.#effort.enter(levels)) return TOO_DEEP;
    const value = run();
    this.#effort.leave(levels);
    return value;
  }

  /**
   * Runs what cannot be stopped, if there is room for the most work that it can be. It is charged for the time that it really took:
   * for a regular expression that is a small part of the worst case.
   */
  timed<T>(worst: number, run: () => T): T | CelFailure {
    if (worst < WORK_PER_CHECK / 10) return this.work(worst / TYPICAL_SHARE) ?? run();
    const spent = this.#checkAll();
    if (spent !== undefined) return spent;
    if (!this.#effort.fits(worst)) return TOO_MUCH_WORK;
    const start = this.#effort.now();
    const value = run();
    const end = this.#effort.now();
    return this.work(start === undefined || end === undefined ? worst / TYPICAL_SHARE : (end - start) * WORK_PER_MS) ?? value;
  }

  /** The length of a text in code points. That of a long one is counted once per run. */
  characters(text: string): number {
    if (text.length < 256) return characters(text);
    const known = this.#sizes?.get(text);
    if (known !== undefined) return known;
    const size = characters(text);
    this.#work += size === text.length ? size / 32 : size;
    (this.#sizes ??= new Map()).set(text, size);
    return size;
  }
}
