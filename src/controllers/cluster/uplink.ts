/** Where the operator puts the state of its agent: the connection of this cluster to its parent. */
import type { Uplink } from "./observed.ts";

export type ParentUplink = Uplink & {
  readonly parent: string;
  /** This cluster. */
  readonly cluster: string;
};

export class UplinkSlot {
  #current: ParentUplink | undefined;
  #awaySince: number | undefined;
  readonly #listeners = new Set<() => void>();

  get current(): ParentUplink | undefined {
    return this.#current;
  }

  /**
   * Since when the agent of this process has had no connection, in milliseconds; undefined: it has one, or has not been started. What happened before this
   * process is not known: the connection may have been there.
   */
  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /** The agent is being started, or started again after a failure. */
  starting(now: number): void {
    this.#awaySince ??= now;
  }

  /** Undefined: the agent has ended. */
  set(uplink: ParentUplink | undefined, now: number): void {
    this.#current = uplink;
    this.#awaySince = uplink?.connected === false ? (this.#awaySince ?? now) : undefined;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
