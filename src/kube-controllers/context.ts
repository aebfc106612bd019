/**
 * What a controller of this folder is, and what it gets. Everything comes in through the context: no controller creates a client, a
 * timer or an informer of its own, so `idle` knows of all work and `close` ends all of it.
 *
 * These are not the controllers of controller-runtime's `defineController`: Kubernetes' own kinds have no Ready condition, no
 * finalizer of ours and no applied objects. What is shared is below that: informers, queues, events.
 */
import type { Clock, Logger, Metrics } from "#base";
import type { EventNote, WorkQueue } from "#controller-runtime";
import type { KubeClient } from "#kube-client";
import type { EveryKind } from "./every-kind.ts";
import type { SharedInformers } from "./shared-informers.ts";
import type { WorkOptions } from "./work.ts";

export type KubeController = {
  /** As kube-controller-manager calls it: "garbage-collector-controller". */
  readonly name: string;
  /** The reporting controller of its events; absent: its name. */
  readonly reportsAs?: string;
  /** Takes informers, subscribes, opens queues. Called once, before anything runs; must not wait for anything. */
  readonly start: (context: KubeControllerContext) => void;
};

export type KubeControllerContext = {
  readonly client: KubeClient;
  /** One informer per kind for all controllers. Objects in it are shared: never change one. */
  readonly informers: SharedInformers;
  /** Every object of every kind, as metadata. Begins to watch them all when first asked for. */
  readonly everyKind: () => EveryKind;
  readonly clock: Clock;
  readonly random: () => number;
  /** So many Pods the workload controllers let the cluster have (`workloads/pods/pod-limit.ts`). */
  readonly podLimit: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Fires when everything is to end. */
  readonly signal: AbortSignal;
  /** Opens a queue with workers on it. They begin once every informer that was taken in `start` has its first list. */
  readonly work: (options: WorkOptions) => WorkQueue;
  /** Tells people what happened, as Kubernetes events from this controller. Never waits, never fails. */
  readonly record: (note: EventNote) => void;
};
