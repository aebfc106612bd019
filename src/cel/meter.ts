/**
 * The resources that one evaluation uses, and its limits. Every charge is made before its work.
 *
 * `pay` charges Kubernetes' cost, which an author can calculate and a real server enforces too. It does not cover work that has a cost of one in
 * Kubernetes for values of any size: the equality of nested lists, `replace` with a long text, an index into a long string. Such work is charged
 * with `work`, in units of about ten nanoseconds, to an effort that an expression shares with the variables that it reads. The clock is the last
 * resort, for work with a wrong estimate.
 */
import type { Clock } from "#base";
import { characters } from "./characters.ts";
import { CelFailure } from "./values.ts";

/** The work limit of one evaluation with the variables that it is the first to read: about 0.15 seconds. */
const WORK_LIMIT = 14_000_000;
const TIME_LIMIT_MS = 200;
/** The limit for nested expressions, and for nested values that are compared or printed. */
const MAX_DEPTH = 800;
const WORK_PER_MS = 100_000;
/** The usual share of the worst case that regular expressions take. */
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

  /** False, without entering: it would be too deep for the stack. */
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

  /** The time counts from the first check: most evaluations end before that. */
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
  /** The cost that the effort already includes. */
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

  /** Adds the usage since the last call to the effort. */
  settle(): CelFailure | undefined {
    const units = this.#work + (Math.min(this.#cost, this.#limit) - this.#counted) * WORK_PER_COST;
    this.#work = 0;
    this.#counted = Math.min(this.#cost, this.#limit);
    const failed = this.#effort.use(units);
    // every further charge fails too, so callers need not check each of them
    if (failed !== undefined) this.#check = -1;
    return failed;
  }

  /** Runs a function that recurses into the parts of a value or of an expression. */
  nested<T>(levels: number, run: () => T): T | CelFailure {
    if (!this.#effort.enter(levels)) return TOO_DEEP;
    const value = run();
    this.#effort.leave(levels);
    return value;
  }

  /**
   * Runs a function that cannot be interrupted, if the remaining effort covers its worst case. It is charged for the actual time, which for a
   * regular expression is a small part of the worst case.
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

  /** The length of a text in code points. For a long text it is counted once per run. */
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
