/** Metrics of a work queue; its name is a label. Names follow Kubernetes' own workqueue metrics. */
import { LATENCY_BUCKETS, type Counter, type Gauge, type Histogram, type MetricLabels, type Metrics } from "#base";

export class QueueMetrics {
  readonly #labels: MetricLabels;
  readonly #depth: Gauge;
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #waited: Histogram;
  readonly #worked: Histogram;

  constructor(metrics: Metrics, name: string) {
    this.#labels = { name };
    this.#depth = metrics.gauge("lattice_workqueue_depth", "Keys that are due and not in work");
    this.#adds = metrics.counter("lattice_workqueue_adds_total", "Keys that became due");
    this.#retries = metrics.counter("lattice_workqueue_retries_total", "Keys put off after a failure");
    this.#waited = metrics.histogram("lattice_workqueue_queue_duration_seconds", "From being due to being in work", LATENCY_BUCKETS);
    this.#worked = metrics.histogram("lattice_workqueue_work_duration_seconds", "From being in work to being done", LATENCY_BUCKETS);
  }

  added(depth: number): void {
    this.#adds.add(1, this.#labels);
    this.#depth.set(depth, this.#labels);
  }

  taken(depth: number, waitedMs: number): void {
    this.#depth.set(depth, this.#labels);
    this.#waited.observe(waitedMs / 1_000, this.#labels);
  }

  done(workedMs: number): void {
    this.#worked.observe(workedMs / 1_000, this.#labels);
  }

  retried(): void {
    this.#retries.add(1, this.#labels);
  }

  emptied(): void {
    this.#depth.set(0, this.#labels);
  }
}
