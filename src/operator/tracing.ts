/**
 * Traces by OTLP over HTTP (JSON), implemented here because the exporter is one file and the SDK is twenty packages (ADR 0003).
 *
 * Tracing must not slow down the traced work: spans are kept in a bounded buffer, sent in the background, and dropped and counted
 * when the collector does not keep up.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import {
  isSecretName,
  reveal,
  type Clock,
  type Logger,
  type Metrics,
  type Sensitive,
  type Span,
  type SpanFields,
  type Tracer,
} from "#base";

export type OtlpOptions = {
  /** The collector, as in OTEL_EXPORTER_OTLP_ENDPOINT: "/v1/traces" is added. */
  readonly endpoint: string;
  readonly headers: Sensitive<Readonly<Record<string, string>>>;
  readonly serviceName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

export type OtlpTracer = Tracer & { close(): Promise<void> };

const FLUSH_EVERY_MS = 5_000;
const SEND_TIMEOUT_MS = 10_000;
const MAX_BATCH = 512;
const MAX_WAITING = 4_096;

type FinishedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly fields: SpanFields;
  readonly error?: string;
};

type Context = { readonly traceId: string; readonly spanId: string };

export function createOtlpTracer(options: OtlpOptions): OtlpTracer {
  const { clock } = options;
  const current = new AsyncLocalStorage<Context>();
  const exporter = createExporter(options);

  async function span<T>(name: string, fields: SpanFields, work: (span: Span) => Promise<T>): Promise<T> {
    const parent = current.getStore();
    const context = { traceId: parent?.traceId ?? hexId(16), spanId: hexId(8) };
    const startMs = clock.now();
    let all = fields;
    let error: string | undefined;
    const handle: Span = { set: (more) => void (all = { ...all, ...more }), fail: (message) => void (error = message) };
    try {
      return await current.run(context, () => work(handle));
    } catch (thrown) {
      error ??= thrown instanceof Error ? thrown.name : "threw";
      throw thrown;
    } finally {
      exporter.add({
        ...context,
        ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
        name,
        startMs,
        endMs: clock.now(),
        fields: all,
        ...(error === undefined ? {} : { error }),
      });
    }
  }
  return { span, close: exporter.close };
}

function createExporter({ endpoint, headers, serviceName, clock, logger, metrics }: OtlpOptions) {
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const dropped = metrics.counter("lattice_trace_spans_dropped_total", "Spans that the collector did not take");
  const stop = new AbortController();
  let waiting: FinishedSpan[] = [];
  let sending = Promise.resolve();
  let cancelTimer: (() => void) | undefined;

  function add(span: FinishedSpan): void {
    if (stop.signal.aborted || waiting.length >= MAX_WAITING) return dropped.add(1);
    waiting.push(span);
    if (waiting.length >= MAX_BATCH) flush();
    else cancelTimer ??= clock.after(FLUSH_EVERY_MS, flush);
  }

  function flush(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    const batch = waiting;
    waiting = [];
    if (batch.length > 0) sending = sending.then(() => send(batch));
  }

  async function send(batch: readonly FinishedSpan[]): Promise<void> {
    try {
      const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
      const body = JSON.stringify(toOtlp(serviceName, batch));
      const response = await fetch(url, {
        method: "POST",
        headers: { ...reveal(headers), "content-type": "application/json" },
        body,
        signal,
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
    } catch (thrown) {
      dropped.add(batch.length);
      logger.warn("traces were not taken by the collector", {
        spans: batch.length,
        cause: thrown instanceof Error ? thrown.message : "unknown",
      });
    }
  }

  async function close(): Promise<void> {
    flush();
    stop.abort();
    await sending;
  }
  return { add, close };
}

/** OTLP's JSON form: ids in hex, times as text in nanoseconds. */
function toOtlp(serviceName: string, spans: readonly FinishedSpan[]): unknown {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": serviceName }) },
        scopeSpans: [{ scope: { name: "lattice" }, spans: spans.map(spanToOtlp) }],
      },
    ],
  };
}

function spanToOtlp(span: FinishedSpan): unknown {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: 1,
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: attributes(span.fields),
    status: span.error === undefined ? { code: 1 } : { code: 2, message: span.error },
  };
}

function attributes(fields: SpanFields): unknown[] {
  return Object.entries(fields).map(([key, value]) => ({ key, value: attributeValue(isSecretName(key) ? "[redacted]" : value) }));
}

function attributeValue(value: string | number | boolean): unknown {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "string") return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function hexId(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
