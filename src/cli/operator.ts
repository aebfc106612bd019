/** `lattice operator`: runs the operator against a cluster until Ctrl-C or SIGTERM. */
import {
  createLogger,
  MetricsRegistry,
  noTracing,
  ok,
  sensitive,
  sha256Hex,
  type Logger,
  type LogLevel,
  type Metrics,
  type Result,
} from "#base";
import { createLogSink, createOtlpTracer, startOperator, type LogFormat, type OperatorConfig, type OtlpTracer } from "#operator";
import { connect, type ClusterFlags, type Connection } from "./cluster.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { parseListenAddress } from "./listen-address.ts";
import { parseNamespaces } from "./namespaces-flag.ts";
import { settingsOf, type WorldFlags } from "./world-files.ts";

export type OperatorFlags = ClusterFlags &
  Omit<WorldFlags, "filename" | "namespace"> & {
    readonly namespace: string;
    readonly namespaces?: string;
    readonly allowUnprotected?: boolean;
    readonly healthAddress: string;
    readonly leaderElect: boolean;
    readonly logLevel: LogLevel;
    readonly logFormat: LogFormat;
  };

export async function operate(io: CliIo, flags: OperatorFlags): Promise<ExitCode> {
  const health = parseListenAddress(flags.healthAddress);
  if (!health.ok) return reportFailure(io, `--health-address: ${health.error}`);
  const services = settingsOf(flags);
  if (!services.ok) return reportFailure(io, services.error);
  const namespaces = parseNamespaces(flags.namespaces);
  if (!namespaces.ok) return reportFailure(io, namespaces.error);
  const logger = createLogger(
    createLogSink({ level: flags.logLevel, format: flags.logFormat, write: io.stderr, now: () => io.clock.now() }),
  );
  const connection = await connect(io, flags, { logger });
  if (!connection.ok) return reportFailure(io, connection.error);
  try {
    const prepared = { health: health.value, services: services.value, namespaces: namespaces.value, logger, connection: connection.value };
    return await runOperator(io, flags, prepared);
  } finally {
    await connection.value.client.close();
  }
}

type Prepared = {
  readonly namespaces: readonly string[] | undefined;
  readonly services: OperatorConfig["services"];
  readonly health: { readonly host: string; readonly port: number };
  readonly logger: Logger;
  readonly connection: Connection;
};

async function runOperator(io: CliIo, flags: OperatorFlags, prepared: Prepared): Promise<ExitCode> {
  const { health, services, namespaces, logger, connection } = prepared;
  const metrics = new MetricsRegistry();
  const tracer = createTracer(io, logger, metrics);
  const identity = `${io.hostname}-${sha256Hex(`${io.clock.now()} ${io.random()}`).slice(0, 8)}`;
  const { allowUnprotected } = flags;
  const config = {
    namespace: flags.namespace,
    namespaces,
    allowUnprotected,
    identity,
    leaderElection: flags.leaderElect,
    health,
    services,
  };
  const { clock, random } = io;
  const started = await startOperator(
    config,
    { client: connection.client, clock, random, logger, metrics, tracer: tracer ?? noTracing },
    io.signal,
  );
  if (!started.ok) return reportFailure(io, started.error);
  io.stdout(`operator ${identity} on ${connection.config.server}; health and metrics at ${started.value.healthUrl}; Ctrl-C stops it\n`);
  await started.value.run(io.signal);
  await tracer?.close();
  io.stdout("operator stopped\n");
  return 0;
}

/** Configured by OpenTelemetry's standard environment variables. */
function createTracer(io: CliIo, logger: Logger, metrics: Metrics): OtlpTracer | undefined {
  const endpoint = io.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  if (endpoint === undefined || endpoint === "") return undefined;
  const headers = parseOtlpHeaders(io.env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "");
  if (!headers.ok) logger.warn("OTEL_EXPORTER_OTLP_HEADERS is invalid and was ignored", { expected: "name=value,name=value" });
  const serviceName = io.env["OTEL_SERVICE_NAME"] ?? "lattice-operator";
  return createOtlpTracer({ endpoint, headers: sensitive(headers.ok ? headers.value : {}), serviceName, clock: io.clock, logger, metrics });
}

function parseOtlpHeaders(text: string): Result<Record<string, string>, undefined> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  const split = pairs.map((pair) => /^\s*([-!#$%&'*+.^_`|~0-9A-Za-z]+)\s*=\s*(.*?)\s*$/.exec(pair));
  if (split.includes(null)) return { ok: false, error: undefined };
  return ok(Object.fromEntries(split.map((parts) => [parts?.[1] ?? "", parts?.[2] ?? ""])));
}
