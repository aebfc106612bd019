/**
 * How many connections a cell accepts before it has authenticated them: in all, per address, and per second. Pure but for the clock.
 *
 * A little more than the limit of connections is accepted: those agents get the reason as a status instead of a reset.
 */
import type { Clock } from "#base";
import type { ConnectionLimits } from "./cell-types.ts";

const REASON_MARGIN = 64;
const MOST_ADDRESSES = 10_000;

type Address = { handshakes: number; tokens: number; at: number };
/** Every accepted connection calls both, once each. */
export type GatePass = { readonly handshakeEnded: () => void; readonly closed: () => void };

export class ConnectionGate {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #addresses = new Map<string, Address>();
  #connections = 0;
  #handshakes = 0;

  constructor(limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Of a connection that was accepted: whether it is above the limit. */
  get isFull(): boolean {
    return this.#connections > this.#limits.connections;
  }

  /** Undefined: refused. */
  enter(remote: string): GatePass | undefined {
    const { connections, handshakes, handshakesPerAddress } = this.#limits;
    if (this.#connections >= connections + REASON_MARGIN || this.#handshakes >= handshakes) return undefined;
    const address = this.#refilled(remote);
    if (address.handshakes >= handshakesPerAddress || address.tokens < 1) return undefined;
    address.tokens -= 1;
    address.handshakes += 1;
    this.#handshakes += 1;
    this.#connections += 1;
    const handshakeEnded = onlyOnce(() => {
      address.handshakes -= 1;
      this.#handshakes -= 1;
    });
    const closed = onlyOnce(() => {
      handshakeEnded();
      this.#connections -= 1;
    });
    return { handshakeEnded, closed };
  }

  #refilled(remote: string): Address {
    const { burstPerAddress, ratePerAddress } = this.#limits;
    const now = this.#clock.monotonic();
    const known = this.#addresses.get(remote) ?? { handshakes: 0, tokens: burstPerAddress, at: now };
    known.tokens = Math.min(burstPerAddress, known.tokens + ((now - known.at) / 1_000) * ratePerAddress);
    known.at = now;
    this.#addresses.delete(remote); // the map is in order of use
    this.#addresses.set(remote, known);
    if (this.#addresses.size > MOST_ADDRESSES) this.#forgetOne();
    return known;
  }

  #forgetOne(): void {
    for (const [remote, { handshakes }] of this.#addresses) {
      if (handshakes === 0) return void this.#addresses.delete(remote);
    }
  }
}

function onlyOnce(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
