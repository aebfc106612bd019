/** Where the operator puts the state of its agent: the connection of this cluster to its parent. */
import type { Uplink } from "./observed.ts";

export type ParentUplink = Uplink & {
  readonly parent: string;
  /** This cluster. */
  readonly cluster: string;
};

export class UplinkSlot {
  #current: ParentUplink | undefined;
  readonly #listeners = new Set<() => void>();

  get current(): ParentUplink | undefined {
    return this.#current;
  }

  set(uplink: ParentUplink | undefined): void {
    this.#current = uplink;
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}
