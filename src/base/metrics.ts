/**
 * Metrics as a port, with the registry that implements it. `render` returns Prometheus' text format: the format is a page of
 * code, and the library for it has had no release since 2024 (ADR 0003).
 */
import { memoizeByObject } from "./memo.ts";

export type MetricLabels = Readonly<Record<string, string>>;

export interface Metrics {
  counter(name: string, help: string): Counter;
  gauge(name: string, help: string): Gauge;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
}
export interface Counter {
  add(amount: number, labels?: MetricLabels): void;
}
export interface Gauge {
  set(value: number, labels?: MetricLabels): void;
  /** Deletes the series: what it measured no longer exists. */
  remove(labels?: MetricLabels): void;
}
export interface Histogram {
  observe(value: number, labels?: MetricLabels): void;
}

type Family = {
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly lines: (name: string) => Iterable<string>;
};

export class MetricsRegistry implements Metrics {
  readonly #families = new Map<string, { family: Family; handle: Counter | Gauge | Histogram }>();

  counter(name: string, help: string): Counter {
    return this.#once(name, "counter", () => {
      const series = new Map<string, number>();
      const handle: Counter = {
        add(amount, labels = {}) {
          const key = formatLabels(labels);
          series.set(key, (series.get(key) ?? 0) + amount);
        },
      };
      return { family: { help, type: "counter", lines: (n) => plainLines(n, series) }, handle };
    }) as Counter;
  }

  gauge(name: string, help: string): Gauge {
    return this.#once(name, "gauge", () => {
      const series = new Map<string, number>();
      const handle: Gauge = {
        set: (value, labels = {}) => void series.set(formatLabels(labels), value),
        remove: (labels = {}) => void series.delete(formatLabels(labels)),
      };
      return { family: { help, type: "gauge", lines: (n) => plainLines(n, series) }, handle };
    }) as Gauge;
  }

  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return this.#once(name, "histogram", () => {
      const series = new Map<string, Distribution>();
      const handle: Histogram = {
        observe(value, labels = {}) {
          const key = formatLabels(labels);
          let distribution = series.get(key);
          if (distribution === undefined) series.set(key, (distribution = { counts: buckets.map(() => 0), sum: 0, count: 0 }));
          distribution.sum += value;
          distribution.count += 1;
          const bucket = buckets.findIndex((limit) => value <= limit);
          if (bucket >= 0) distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
        },
      };
      return { family: { help, type: "histogram", lines: (n) => histogramLines(n, series, buckets) }, handle };
    }) as Histogram;
  }

  /** The text that Prometheus scrapes. */
  render(): string {
    const lines: string[] = [];
    for (const [name, { family }] of [...this.#families].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push(
        `# HELP ${name} ${family.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
        `# TYPE ${name} ${family.type}`,
        ...family.lines(name),
      );
    }
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  }

  #once(name: string, type: Family["type"], make: () => { family: Family; handle: Counter | Gauge | Histogram }) {
    const known = this.#families.get(name);
    if (known !== undefined) {
      if (known.family.type !== type) throw new Error(`metric ${name} is a ${known.family.type}, not a ${type}`);
      return known.handle;
    }
    const made = make();
    this.#families.set(name, made);
    return made.handle;
  }
}

type Distribution = { readonly counts: number[]; sum: number; count: number };

/** Latencies from a millisecond to a minute, in seconds as is usual for Prometheus. */
export const LATENCY_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60] as const;

/** Hot paths pass the same labels object every time; its text is cached. */
const formatLabels = memoizeByObject((labels: MetricLabels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.toSorted().join(",");
});

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function* plainLines(name: string, series: ReadonlyMap<string, number>): Iterable<string> {
  for (const [labels, value] of series) yield labels === "" ? `${name} ${value}` : `${name}{${labels}} ${value}`;
}

function* histogramLines(name: string, series: ReadonlyMap<string, Distribution>, buckets: readonly number[]): Iterable<string> {
  for (const [labels, { counts, sum, count }] of series) {
    const prefix = labels === "" ? "" : `${labels},`;
    let total = 0;
    for (const [index, limit] of buckets.entries()) {
      total += counts[index] ?? 0;
      yield `${name}_bucket{${prefix}le="${limit}"} ${total}`;
    }
    yield `${name}_bucket{${prefix}le="+Inf"} ${count}`;
    const suffix = labels === "" ? "" : `{${labels}}`;
    yield `${name}_sum${suffix} ${sum}`;
    yield `${name}_count${suffix} ${count}`;
  }
}
