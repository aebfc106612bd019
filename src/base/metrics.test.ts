import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "./metrics.ts";

describe("MetricsRegistry", () => {
  it("renders Prometheus' text format, families sorted by name", () => {
    const metrics = new MetricsRegistry();
    metrics.gauge("queue_depth", "Keys that wait").set(3, { queue: "a" });
    const reconciles = metrics.counter("reconciles_total", "Reconciles\nby result");
    reconciles.add(1, { result: "settled", controller: "cluster" });
    reconciles.add(2, { controller: "cluster", result: "settled" });
    metrics.counter("plain_total", "No labels").add(1);
    expect(metrics.render()).toBe(
      [
        "# HELP plain_total No labels",
        "# TYPE plain_total counter",
        "plain_total 1",
        "# HELP queue_depth Keys that wait",
        "# TYPE queue_depth gauge",
        'queue_depth{queue="a"} 3',
        "# HELP reconciles_total Reconciles\\nby result",
        "# TYPE reconciles_total counter",
        'reconciles_total{controller="cluster",result="settled"} 3',
        "",
      ].join("\n"),
    );
  });

  it("counts histogram buckets cumulatively, and the rest in +Inf", () => {
    const metrics = new MetricsRegistry();
    const latency = metrics.histogram("latency_seconds", "How long", [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 5]) latency.observe(value, { c: "x" });
    metrics.histogram("latency_seconds", "How long", [0.1, 1]).observe(2);
    const text = metrics.render();
    expect(text).toContain(
      'latency_seconds_bucket{c="x",le="0.1"} 2\nlatency_seconds_bucket{c="x",le="1"} 3\nlatency_seconds_bucket{c="x",le="+Inf"} 4',
    );
    expect(text).toContain('latency_seconds_sum{c="x"} 5.65\nlatency_seconds_count{c="x"} 4');
    expect(text).toContain('latency_seconds_bucket{le="+Inf"} 1\nlatency_seconds_sum 2\nlatency_seconds_count 1');
  });

  it("escapes label values", () => {
    const metrics = new MetricsRegistry();
    metrics.counter("a_total", "a").add(1, { x: 'quote " slash \\ line \n' });
    expect(metrics.render()).toContain('a_total{x="quote \\" slash \\\\ line \\n"} 1');
  });

  it("returns the same metric for the same name, and rejects another type", () => {
    const metrics = new MetricsRegistry();
    expect(metrics.counter("a", "a")).toBe(metrics.counter("a", "a"));
    expect(() => metrics.gauge("a", "a")).toThrow("metric a is a counter, not a gauge");
  });

  it("renders an empty text without metrics", () => {
    expect(new MetricsRegistry().render()).toBe("");
  });
});
