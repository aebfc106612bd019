export { base64OfBytes, base64OfText, bytesOfBase64, bytesOfBase64Url } from "./base64.ts";
export { backoffDelay, withJitter, type BackoffPolicy } from "./backoff.ts";
export type { Brand } from "./brand.ts";
export { millisecondsOf, sleep, systemClock, timestamp, timestampOf, type Clock } from "./clock.ts";
export { equalInConstantTime, hmacSha256Hex, sha256Hex } from "./digests.ts";
export { isFipsActive } from "./fips.ts";
export { DURATION_PATTERN, milliseconds, parseDuration, seconds, type Duration } from "./duration.ts";
export { FakeClock } from "./fake-clock.ts";
export { whenOk, whenThere, type Later } from "./later.ts";
export { createLogger, silentLogger, type LogFields, type Logger, type LogLevel, type LogSink } from "./log.ts";
export type { Json, JsonObject, JsonPrimitive } from "./json.ts";
export { boundedMap, memoize, memoizeByObject, once, type BoundedMap, type MemoLimits } from "./memo.ts";
export { LATENCY_BUCKETS, MetricsRegistry, type Counter, type Gauge, type Histogram, type MetricLabels, type Metrics } from "./metrics.ts";
export { acquireProcessLock, folderLockPath, type LockError, type LockFiles, type LockRequest, type ProcessLock } from "./process-lock.ts";
export { nodeProcesses, UNKNOWN_PROCESS, type ProcessControl, type ProcessTable } from "./process-table.ts";
export { seededRandom } from "./random.ts";
export { repeats } from "./repeats.ts";
export {
  andThen,
  collect,
  describeThrown,
  err,
  expectOk,
  fromPromise,
  fromThrowing,
  map,
  mapErr,
  ok,
  type Err,
  type Ok,
  type Result,
} from "./result.ts";
export { isSecretName, redact, reveal, Sensitive, sensitive } from "./sensitive.ts";
export { PROGRAM_VERSION } from "./version.ts";
export { noTracing, type Span, type SpanFields, type Tracer } from "./trace.ts";
export { textOfBytes, textOfFile } from "./utf8.ts";
