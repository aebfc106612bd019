/** Tracing as a port. `noTracing` costs one function call; the OTLP exporter in operator/ is used when it is configured. */
export type SpanFields = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  set(fields: SpanFields): void;
  fail(message: string): void;
}

export interface Tracer {
  /** Runs `work` inside a span; spans opened by `work` become its children. */
  span<T>(name: string, fields: SpanFields, work: (span: Span) => Promise<T>): Promise<T>;
}

const noSpan: Span = { set() {}, fail() {} };

export const noTracing: Tracer = { span: (_name, _fields, work) => work(noSpan) };
