/**
 * The interface of the controllers in this folder. All dependencies are in the context: no controller creates a client, a
 * timer or an informer of its own, so `idle` covers all work and `close` ends all of it.
 *
 * These are not the controllers of controller-runtime's `defineController`: Kubernetes' own kinds have no Ready condition, no
 * finalizer of ours and no applied objects. Both use the same informers, queues and events.
 */
import type { Clock, Logger, Metrics } from "#base";
import type { EventNote, WorkQueue } from "#controller-runtime";
import type { KubeClient } from "#kube-client";
import type { EveryKind } from "./every-kind.ts";
import type { SharedInformers } from "./shared-informers.ts";
import type { WorkOptions } from "./work.ts";

export type KubeController = {
  /** The name in kube-controller-manager: "garbage-collector-controller". */
  readonly name: string;
  /** The reporting controller of its events; absent: its name. */
  readonly reportsAs?: string;
  /** Requests informers, subscribes, opens queues. Called once, before anything runs; must not wait for anything. */
  readonly start: (context: KubeControllerContext) => void;
};

export type KubeControllerContext = {
  readonly client: KubeClient;
  /** One informer per kind for all controllers; `optional` for a kind that may not be installed. Objects are shared: never change one. */
  readonly informers: SharedInformers;
  /** Every object of every kind, as metadata. The first use starts the watches. */
  readonly everyKind: () => EveryKind;
  readonly clock: Clock;
  readonly random: () => number;
  /** The maximum number of Pods that the workload controllers create (`workloads/pods/pod-limit.ts`). */
  readonly podLimit: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Fires on shutdown. */
  readonly signal: AbortSignal;
  /** Opens a queue with workers. They begin once every informer that this controller requested in `start` has its first list. */
  readonly work: (options: WorkOptions) => WorkQueue;
  /** Records Kubernetes events of this controller. Never waits, never fails. */
  readonly record: (note: EventNote) => void;
};
