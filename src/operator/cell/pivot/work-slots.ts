/** A bounded number of works at a time; the others wait in their order. */
export class WorkSlots {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  readonly #working = new Set<Promise<void>>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Not begun when the signal is aborted before a slot is free. Never throws: the work must not. */
  async run(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    if (this.#taken >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taken += 1;
    const working = signal.aborted ? Promise.resolve() : work();
    this.#working.add(working);
    await working;
    this.#working.delete(working);
    // the slot passes to the next one
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }

  /** Resolves when all that has begun has ended. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }
}
