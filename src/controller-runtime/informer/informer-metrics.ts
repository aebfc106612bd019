/** What an informer counts. Registered once per process; the resource is a label. */
import type { Counter, Gauge, Metrics } from "#base";

export class InformerMetrics {
  readonly #resource: string;
  readonly #events: Counter;
  readonly #restarts: Counter;
  readonly #objects: Gauge;
  readonly #healthy: Gauge;

  constructor(metrics: Metrics, resource: string) {
    this.#resource = resource;
    this.#events = metrics.counter("lattice_informer_events_total", "Watch events received");
    this.#restarts = metrics.counter("lattice_informer_restarts_total", "Lists and watches begun again, by cause");
    this.#objects = metrics.gauge("lattice_informer_objects", "Objects in the cache");
    this.#healthy = metrics.gauge("lattice_informer_healthy", "1 when synced and not failing again and again");
  }

  event(type: string): void {
    this.#events.add(1, { resource: this.#resource, type });
  }

  restart(cause: string): void {
    this.#restarts.add(1, { resource: this.#resource, cause });
  }

  objects(count: number): void {
    this.#objects.set(count, { resource: this.#resource });
  }

  healthy(healthy: boolean): void {
    this.#healthy.set(healthy ? 1 : 0, { resource: this.#resource });
  }
}
