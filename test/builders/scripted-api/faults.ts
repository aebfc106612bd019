/**
 * What goes wrong, and when: by script (a test says which request) or as a storm (rates, drawn from a seeded random).
 *
 * The script comes first. A storm with the same seed and the same order of requests is the same storm.
 */
import type { ParsedRequest } from "./request.ts";

export type RequestFault =
  /** The server says no, and did nothing. */
  | { readonly kind: "answer"; readonly code: 403 | 404 | 409 | 410 | 413 | 422 | 429 | 500 | 503; readonly retryAfterSeconds?: number }
  /** The connection breaks before the server has seen the request. */
  | { readonly kind: "unreachable" }
  /** The request takes effect; its answer is lost on the way. */
  | { readonly kind: "lost-answer" }
  | { readonly kind: "delay"; readonly ms: number };

export type StreamFault =
  /** The server ends the watch, as it may at any time. */
  | "end"
  /** The connection breaks in the middle of a line. */
  | "break"
  /** An ERROR event with 410: start over. */
  | "gone"
  /** The watch stays open and says nothing any more. */
  | "stall"
  | "duplicate"
  /** This event comes after the next one of another object. */
  | "reorder"
  /** The object's previous version comes again after this one: time runs backwards, which Kubernetes promises not to do. */
  | "rewind"
  /** The line arrives in two pieces. */
  | "split";

export type FaultRates = {
  readonly requests?: {
    readonly unreachable?: number;
    readonly tooManyRequests?: number;
    readonly serverError?: number;
    /** Of writes to objects that exist. */
    readonly conflict?: number;
    /** Of writes. */
    readonly lostAnswer?: number;
    /** Of pages after the first. */
    readonly goneOnContinue?: number;
    readonly delay?: number;
    readonly delayMs?: number;
  };
  /** Per event and watch. */
  readonly events?: Readonly<Partial<Record<StreamFault, number>>>;
};

type Scripted = { readonly fault: RequestFault; readonly fits: (request: ParsedRequest) => boolean; left: number };

export class Faults {
  readonly #random: () => number;
  readonly #scripted: Scripted[] = [];
  readonly #seen = new Map<string, number>();
  #rates: FaultRates = {};

  constructor(random: () => number) {
    this.#random = random;
  }

  /** How often each fault happened: a test that means to live through faults can show that it did. */
  get seen(): ReadonlyMap<string, number> {
    return this.#seen;
  }

  /** The next `times` requests that fit meet this fault. */
  script(fault: RequestFault, fits: (request: ParsedRequest) => boolean = () => true, times = 1): void {
    this.#scripted.push({ fault, fits, left: times });
  }

  storm(rates: FaultRates): void {
    this.#rates = rates;
  }

  /** Nothing goes wrong from here on. */
  calm(): void {
    this.#rates = {};
    this.#scripted.length = 0;
  }

  forRequest(request: ParsedRequest): RequestFault | undefined {
    const fault = this.#drawRequestFault(request);
    if (fault !== undefined) this.#count(fault.kind === "answer" ? `answer ${fault.code}` : fault.kind);
    return fault;
  }

  #drawRequestFault(request: ParsedRequest): RequestFault | undefined {
    const scripted = this.#scripted.find(({ fits, left }) => left > 0 && fits(request));
    if (scripted !== undefined) {
      scripted.left -= 1;
      return scripted.fault;
    }
    const rates = this.#rates.requests ?? {};
    const write = request.method !== "GET";
    if (this.#draws(rates.unreachable)) return { kind: "unreachable" };
    if (this.#draws(rates.tooManyRequests)) return { kind: "answer", code: 429, retryAfterSeconds: 1 };
    if (this.#draws(rates.serverError)) return { kind: "answer", code: this.#random() < 0.5 ? 500 : 503 };
    if ((request.method === "PUT" || request.method === "PATCH") && this.#draws(rates.conflict)) return { kind: "answer", code: 409 };
    if (write && this.#draws(rates.lostAnswer)) return { kind: "lost-answer" };
    if (request.query.has("continue") && this.#draws(rates.goneOnContinue)) return { kind: "answer", code: 410 };
    if (this.#draws(rates.delay)) return { kind: "delay", ms: Math.ceil(this.#random() * (rates.delayMs ?? 100)) };
    return undefined;
  }

  forEvent(): StreamFault | undefined {
    const drawn = Object.entries(this.#rates.events ?? {}).find(([, rate]) => this.#draws(rate))?.[0];
    if (drawn !== undefined) this.#count(drawn);
    return drawn as StreamFault | undefined;
  }

  #count(fault: string): void {
    this.#seen.set(fault, (this.#seen.get(fault) ?? 0) + 1);
  }

  #draws(rate: number | undefined): boolean {
    return rate !== undefined && rate > 0 && this.#random() < rate;
  }
}
