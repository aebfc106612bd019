/** The tunnels of all agents: those that an agent was asked for, until it opens them or a deadline passes, and the number of open ones. */
import { err, ok, type Clock, type Result } from "#base";
import { LINK_LIMITS, LINK_TIMES } from "../protocol/link-limits.ts";
import type { TunnelFrames, TunnelOpenError } from "../tunnel/tunnel-types.ts";

type Opened = Result<TunnelFrames, TunnelOpenError>;
type Awaited = { readonly cluster: string; readonly settle: (opened: Opened) => void };

export class PendingTunnels {
  readonly #clock: Clock;
  readonly #awaited = new Map<string, Awaited>();
  /** By cluster: awaited and open. */
  readonly #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `ask` sends the request to the agent; false if it is not connected. */
  open(cluster: string, id: string, signal: AbortSignal, ask: () => boolean): Promise<Opened> {
    if (signal.aborted) return refused("the request was aborted");
    if ((this.#counts.get(cluster) ?? 0) >= LINK_LIMITS.tunnels) return refused(`${cluster} has ${LINK_LIMITS.tunnels} tunnels, the limit`);
    return new Promise((resolve) => {
      const settle = (opened: Opened) => {
        this.#awaited.delete(id);
        cancel();
        signal.removeEventListener("abort", aborted);
        if (!opened.ok) this.#count(cluster, -1);
        resolve(opened);
      };
      const aborted = () => settle(err({ kind: "refused", message: "the request was aborted" }));
      const seconds = LINK_TIMES.tunnelOpenMs / 1_000;
      const late = { kind: "timeout", message: `the agent of ${cluster} opened no tunnel within ${seconds} seconds` } as const;
      const cancel = this.#clock.after(LINK_TIMES.tunnelOpenMs, () => settle(err(late)));
      signal.addEventListener("abort", aborted, { once: true });
      this.#count(cluster, 1);
      this.#awaited.set(id, { cluster, settle });
      if (!ask()) settle(err({ kind: "not-connected", message: `${cluster} is not connected` }));
    });
  }

  /** False: no tunnel with this id is awaited from this cluster. An id that another cluster was asked for is not revealed. */
  opened(cluster: string, id: string, frames: TunnelFrames): boolean {
    const awaited = this.#awaited.get(id);
    if (awaited?.cluster !== cluster) return false;
    awaited.settle(ok(frames));
    return true;
  }

  /** The agent refuses. */
  refused(cluster: string, id: string, message: string): void {
    const awaited = this.#awaited.get(id);
    if (awaited?.cluster === cluster) awaited.settle(err({ kind: "refused", message }));
  }

  /** A tunnel that was opened has ended. */
  closed(cluster: string): void {
    this.#count(cluster, -1);
  }

  /** All that are awaited; of one cluster if it is given. */
  cancel(message: string, cluster?: string): void {
    for (const awaited of this.#awaited.values()) {
      if (cluster === undefined || awaited.cluster === cluster) awaited.settle(err({ kind: "not-connected", message }));
    }
  }

  #count(cluster: string, change: number): void {
    const count = (this.#counts.get(cluster) ?? 0) + change;
    if (count > 0) this.#counts.set(cluster, count);
    else this.#counts.delete(cluster);
  }
}

function refused(message: string): Promise<Opened> {
  return Promise.resolve(err({ kind: "refused", message }));
}
