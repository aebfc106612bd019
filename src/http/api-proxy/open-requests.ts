/** Counts the open requests of each cluster, watches and upgraded connections included: one cluster must not use up the proxy. */
import type { Gauge } from "#base";

export class OpenRequests {
  readonly #most: number;
  readonly #gauge: Gauge;
  readonly #open = new Map<string, number>();

  constructor(most: number, gauge: Gauge) {
    this.#most = most;
    this.#gauge = gauge;
  }

  /** False: there are too many. */
  take(cluster: string): boolean {
    const open = this.#open.get(cluster) ?? 0;
    if (open >= this.#most) return false;
    this.#set(cluster, open + 1);
    return true;
  }

  release(cluster: string): void {
    this.#set(cluster, (this.#open.get(cluster) ?? 1) - 1);
  }

  #set(cluster: string, open: number): void {
    if (open === 0) this.#open.delete(cluster);
    else this.#open.set(cluster, open);
    if (open === 0) this.#gauge.remove({ cluster });
    else this.#gauge.set(open, { cluster });
  }
}
