/**
 * How long a node has had no heartbeat, by this process's own monotonic clock: from when a renewed Lease or a new status was first observed.
 *
 * The timestamps in the Lease and the Node are not compared with the clock. Otherwise every node would seem dead after the controllers
 * themselves were down, or after a change of the wall clock.
 */
import type { Clock } from "#base";
import type { Node } from "#kube";
import { timeOf } from "../../workloads/pods/pod-state.ts";

type Observed = { readonly heartbeat: string; readonly at: number };

export class Heartbeats {
  readonly #clock: Clock;
  /** By node name. */
  readonly #observed = new Map<string, Observed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `renewTime`: of the node's Lease. A node that never posted a status counts from its creation. */
  silentMs(node: Node, renewTime: string | undefined): number {
    const { name, creationTimestamp } = node.metadata;
    const posted = node.status?.conditions?.find(({ type }) => type === "Ready")?.lastHeartbeatTime;
    const heartbeat = `${renewTime ?? ""} ${posted ?? ""}`;
    const now = this.#clock.monotonic();
    const known = this.#observed.get(name);
    if (known?.heartbeat === heartbeat) return now - known.at;
    const isNew = known === undefined && renewTime === undefined && posted === undefined;
    const at = isNew ? now - Math.max(0, this.#clock.now() - timeOf(creationTimestamp)) : now;
    this.#observed.set(name, { heartbeat, at });
    return now - at;
  }

  forget(name: string): void {
    this.#observed.delete(name);
  }
}
