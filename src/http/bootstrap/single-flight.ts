/**
 * One piece of work per cluster at a time. Equal requests that arrive meanwhile share the result; others wait in line, and too many are refused.
 *
 * Two requests of one child at once, such as a retry after a time limit, thus cause one write and one certificate.
 */
type Flight = { readonly what: string; readonly result: Promise<unknown> };

const MAX_WAITING = 16;

export class SingleFlight {
  readonly #flights = new Map<string, Flight[]>();

  /** `what`: equal texts are the same work, and must have the same type of result. Undefined: too many wait already. */
  run<T>(key: string, what: string, work: () => Promise<T>): Promise<T> | undefined {
    const flights = this.#flights.get(key) ?? [];
    const shared = flights.find((flight) => flight.what === what);
    if (shared !== undefined) return shared.result as Promise<T>;
    if (flights.length > MAX_WAITING) return undefined;
    const previous = flights.at(-1)?.result ?? Promise.resolve();
    const result = previous.then(work, work).finally(() => this.#end(key, flight));
    const flight: Flight = { what, result };
    flights.push(flight);
    this.#flights.set(key, flights);
    return result;
  }

  /** How many clusters have work in progress. */
  get size(): number {
    return this.#flights.size;
  }

  #end(key: string, ended: Flight): void {
    const rest = (this.#flights.get(key) ?? []).filter((flight) => flight !== ended);
    if (rest.length === 0) this.#flights.delete(key);
    else this.#flights.set(key, rest);
  }
}
