/** The back-off of failed daemon Pods: 1 second, then 2, 4 … 15 minutes, per node and generation. */
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

  /** Whether it may be replaced now; if so, the back-off of this node is doubled. */
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

  /** Time until the next node of this set may be retried. */
  waitMs({ metadata: { uid = "" } }: DaemonSet): number | undefined {
    const now = this.#clock.monotonic();
    const waits = [...this.#records.values()].flatMap(({ set, since, delayMs }) =>
      set === uid && since + delayMs > now ? [since + delayMs - now] : [],
    );
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  /** An entry that was not used for twice the longest back-off is reset. */
  #sweep(now: number): void {
    for (const [key, { since }] of this.#records) if (now - since > 2 * MAX_MS) this.#records.delete(key);
  }
}
