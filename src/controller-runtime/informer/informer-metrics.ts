/** Metrics of informers. Registered once per process; labels are the resource, and the namespace if there is one informer per namespace. */
import type { Counter, Gauge, MetricLabels, Metrics } from "#base";

type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

export class InformerMetrics {
  readonly #labels: MetricLabels;
  readonly #eventLabels: Readonly<Record<EventType, MetricLabels>>;
  readonly #events: Counter;
  readonly #restarts: Counter;
  readonly #objects: Gauge;
  readonly #healthy: Gauge;

  constructor(metrics: Metrics, labels: MetricLabels) {
    this.#labels = labels;
    const ofType = (type: EventType): MetricLabels => ({ ...labels, type });
    this.#eventLabels = { ADDED: ofType("ADDED"), MODIFIED: ofType("MODIFIED"), DELETED: ofType("DELETED"), BOOKMARK: ofType("BOOKMARK") };
    this.#events = metrics.counter("lattice_informer_events_total", "Watch events received");
    this.#restarts = metrics.counter("lattice_informer_restarts_total", "Lists and watches begun again, by cause");
    this.#objects = metrics.gauge("lattice_informer_objects", "Objects in the cache");
    this.#healthy = metrics.gauge("lattice_informer_healthy", "1 when synced and not failing again and again");
  }

  event(type: EventType): void {
    this.#events.add(1, this.#eventLabels[type]);
  }

  restart(cause: string): void {
    this.#restarts.add(1, { ...this.#labels, cause });
  }

  objects(count: number): void {
    this.#objects.set(count, this.#labels);
  }

  healthy(healthy: boolean): void {
    this.#healthy.set(healthy ? 1 : 0, this.#labels);
  }

  /** The kind is no longer followed. Counters stay: a counter that restarts looks like a new process. */
  remove(): void {
    this.#objects.remove(this.#labels);
    this.#healthy.remove(this.#labels);
  }
}
