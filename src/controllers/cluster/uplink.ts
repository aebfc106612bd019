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
   * Since when the agent of this process has had no connection, on the monotonic clock: a machine that corrects its time must not delete its cluster.
   * Undefined: it has one, or has not been started. What happened before this process is not known: the connection may have been there.
   */
  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /** The agent is being started, or started again after a failure. */
  starting(monotonic: number): void {
    this.#awaySince ??= monotonic;
  }

  /** Undefined: the agent has ended. */
  set(uplink: ParentUplink | undefined, monotonic: number): void {
    this.#current = uplink;
    this.#awaySince = uplink?.connected === false ? (this.#awaySince ?? monotonic) : undefined;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
