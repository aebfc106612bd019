import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createLogger, FakeClock, MetricsRegistry, sensitive } from "#base";
import { createOtlpTracer } from "./tracing.ts";

type Received = {
  url: string;
  authorization: string | undefined;
  spans: {
    name: string;
    spanId: string;
    parentSpanId?: string;
    traceId: string;
    attributes: unknown;
    status: { code: number; message?: string };
  }[];
};
let collector: Server | undefined;
afterEach(() => new Promise((resolve) => (collector === undefined ? resolve(undefined) : collector.close(resolve).closeAllConnections())));

async function startCollector(answer = 200) {
  const received: Received[] = [];
  collector = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const parsed = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Received["spans"] }[] }[] };
      received.push({
        url: request.url ?? "",
        authorization: request.headers.authorization,
        spans: parsed.resourceSpans[0]?.scopeSpans[0]?.spans ?? [],
      });
      response.writeHead(answer).end("{}");
    });
  });
  await new Promise<void>((resolve) => collector?.listen(0, "127.0.0.1", resolve));
  return { received, endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` };
}

function tracerTo(endpoint: string) {
  const clock = new FakeClock();
  const metrics = new MetricsRegistry();
  const logs: string[] = [];
  const logger = createLogger((_level, message, fields) => logs.push(message + JSON.stringify(fields)));
  const headers = sensitive({ authorization: "Bearer canary" });
  return { clock, metrics, logs, tracer: createOtlpTracer({ endpoint, headers, serviceName: "lattice", clock, logger, metrics }) };
}

describe("the OTLP tracer", () => {
  it("sends spans with their parents, attributes and failures, and the collector's headers", async () => {
    const { received, endpoint } = await startCollector();
    const { tracer } = tracerTo(`${endpoint}/`);
    await tracer.span("reconcile", { controller: "cluster", n: 1, ratio: 0.5, ok: true, token: "canary" }, async (outer) => {
      await tracer.span("apply", {}, (inner) => Promise.resolve(inner.fail("conflict")));
      outer.set({ more: "yes" });
    });
    await tracer.close();
    const [apply, reconcile] = received[0]?.spans ?? [];
    expect(received[0]).toMatchObject({ url: "/v1/traces", authorization: "Bearer canary" });
    expect(apply).toMatchObject({
      name: "apply",
      parentSpanId: reconcile?.spanId,
      traceId: reconcile?.traceId,
      status: { code: 2, message: "conflict" },
    });
    expect(reconcile).toMatchObject({ name: "reconcile", status: { code: 1 } });
    expect(reconcile?.attributes).toEqual([
      { key: "controller", value: { stringValue: "cluster" } },
      { key: "n", value: { intValue: "1" } },
      { key: "ratio", value: { doubleValue: 0.5 } },
      { key: "ok", value: { boolValue: true } },
      { key: "token", value: { stringValue: "[redacted]" } },
      { key: "more", value: { stringValue: "yes" } },
    ]);
  });

  it("rethrows what the traced work throws, and records the span as failed", async () => {
    const { received, endpoint } = await startCollector();
    const { tracer } = tracerTo(endpoint);
    await expect(tracer.span("boom", {}, () => Promise.reject(new RangeError("secret detail")))).rejects.toThrow("secret detail");
    await tracer.close();
    expect(received[0]?.spans[0]).toMatchObject({ status: { code: 2, message: "RangeError" } });
  });

  it("sends buffered spans every few seconds, and leaves no timer behind", async () => {
    const { received, endpoint } = await startCollector();
    const { tracer, clock } = tracerTo(endpoint);
    await tracer.span("a", {}, () => Promise.resolve());
    await clock.advance(5_000);
    await tracer.close();
    expect(received).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("sends a full batch at once, and drops rejected spans, counted and without the headers in the log", async () => {
    const { endpoint } = await startCollector(503);
    const { tracer, metrics, logs } = tracerTo(endpoint);
    for (let n = 0; n < 512; n += 1) await tracer.span("a", {}, () => Promise.resolve());
    await tracer.close();
    await tracer.span("after close", {}, () => Promise.resolve());
    expect(metrics.render()).toContain("lattice_trace_spans_dropped_total 513");
    expect(logs.join()).toContain("the collector answered 503");
    expect(logs.join()).not.toContain("canary");
  });
});
