/** A value that changes, and whose next state others wait for. */
export class Watched<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    this.#value = value;
    for (const listener of this.#listeners) listener(); // those that end meanwhile are skipped
  }

  /** Calls back after every change; the returned function ends that. */
  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** The first result of `pick` that is not undefined, now or after a change; undefined when the signal fires first. */
  until<U>(pick: (value: T) => U | undefined, signal: AbortSignal): Promise<U | undefined> {
    return new Promise((resolve) => {
      const look = () => {
        const picked = signal.aborted ? undefined : pick(this.#value);
        if (picked === undefined && !signal.aborted) return;
        this.#listeners.delete(look);
        signal.removeEventListener("abort", look);
        resolve(picked);
      };
      this.#listeners.add(look);
      signal.addEventListener("abort", look, { once: true });
      look();
    });
  }
}
