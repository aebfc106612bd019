/** How soon a failed daemon is replaced: after 1 second, then 2, 4 … 15 minutes, per node and generation. */
import type { Clock } from "#base";
import type { DaemonSet } from "#kube";

const [INITIAL_MS, MAX_MS] = [1_000, 900_000];

type Record = { readonly set: string; readonly delayMs: number; readonly since: number };

export class FailedPodBackoff {
  readonly #clock: Clock;
  readonly #records = new Map<string, Record>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether it may be replaced now; if so, the next one on this node has to wait twice as long. */
  mayReplace(set: DaemonSet, node: string): boolean {
    const { uid = "" } = set.metadata;
    const key = `${uid}/${set.status?.observedGeneration ?? 0}/${node}`;
    const now = this.#clock.monotonic();
    this.#sweep(now);
    const known = this.#records.get(key);
    if (known !== undefined && now - known.since < known.delayMs) return false;
    this.#records.set(key, { set: uid, since: now, delayMs: known === undefined ? INITIAL_MS : Math.min(known.delayMs * 2, MAX_MS) });
    return true;
  }

  /** Until the next node of this set is out of its wait. */
  waitMs({ metadata: { uid = "" } }: DaemonSet): number | undefined {
    const now = this.#clock.monotonic();
    const waits = [...this.#records.values()].flatMap(({ set, since, delayMs }) =>
      set === uid && since + delayMs > now ? [since + delayMs - now] : [],
    );
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** What has been quiet for twice the longest wait begins anew. */
  #sweep(now: number): void {
    for (const [key, { since }] of this.#records) if (now - since > 2 * MAX_MS) this.#records.delete(key);
  }
}
