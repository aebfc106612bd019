/**
 * One piece of work per cluster at a time. Equal requests that arrive meanwhile share the result; others wait in line, and too many are refused.
 *
 * Two requests of one child at once, such as a retry after a time limit, thus cause one write and one certificate.
 */
type Flight<T> = { readonly what: string; readonly result: Promise<T> };

const MAX_WAITING = 16;

export class SingleFlight<T> {
  readonly #flights = new Map<string, readonly Flight<T>[]>();

  /** `what`: equal texts are the same work. Undefined: too many wait already. */
  run(key: string, what: string, work: () => Promise<T>): Promise<T> | undefined {
    const flights = this.#flights.get(key) ?? [];
    const shared = flights.find((flight) => flight.what === what);
    if (shared !== undefined) return shared.result;
    if (flights.length > MAX_WAITING) return undefined;
    const previous = flights.at(-1)?.result ?? Promise.resolve();
    const result = previous.then(work, work).finally(() => this.#end(key, what));
    this.#flights.set(key, [...flights, { what, result }]);
    return result;
  }

  /** How many clusters have work in progress. */
  get size(): number {
    return this.#flights.size;
  }

  #end(key: string, ended: string): void {
    const rest = (this.#flights.get(key) ?? []).filter(({ what }) => what !== ended);
    if (rest.length === 0) this.#flights.delete(key);
    else this.#flights.set(key, rest);
  }
}
