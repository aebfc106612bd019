/** `lattice operator`: runs the operator against a cluster until Ctrl-C or SIGTERM. */
import { resolve } from "node:path";
import {
  createLogger,
  mapErr,
  MetricsRegistry,
  nodeProcesses,
  noTracing,
  ok,
  sensitive,
  sha256Hex,
  type Logger,
  type Metrics,
  type Result,
} from "#base";
import { loadBundle } from "#bundle";
import type { FromOperator } from "#fleet";
import {
  createLogSink,
  createOtlpTracer,
  openIdentityFile,
  startOperator,
  WEBHOOK_IN_POD,
  type KeptIdentity,
  type OperatorConfig,
  type OtlpTracer,
} from "#operator";
import { connect, type Connection } from "./cluster.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { operatorSettings, type OperatorFlags } from "./operator-settings.ts";
import { tunnelTarget } from "./tunnel-target.ts";

export async function operate(io: CliIo, flags: OperatorFlags): Promise<ExitCode> {
  const settings = operatorSettings(flags);
  if (!settings.ok) return reportFailure(io, settings.error);
  const logger = createLogger(
    createLogSink({ level: flags.logLevel, format: flags.logFormat, write: io.stderr, now: () => io.clock.now() }),
  );
  const bundle =
    flags.bundle === undefined ? ok(undefined) : mapErr(loadBundle(resolve(io.cwd, flags.bundle)), ({ message }) => `--bundle: ${message}`);
  if (!bundle.ok) return reportFailure(io, bundle.error);
  const connection = await connect(io, flags, { logger });
  if (!connection.ok) return reportFailure(io, connection.error);
  const kept = identityFor(io, flags);
  try {
    if (!kept.ok) return reportFailure(io, kept.error);
    const pod = podIn(io.env);
    // in a Pod, Service lattice-webhook reaches it
    const webhook = settings.value.webhook ?? (pod === undefined ? undefined : WEBHOOK_IN_POD);
    const config = { ...settings.value, identity: kept.value.identity, pod, webhook, bundle: bundle.value };
    return await runOperator(io, { config, logger, connection: connection.value });
  } finally {
    await connection.value.client.close();
    if (kept.ok) kept.value.release();
  }
}

/** The Pod of this process, by the variables that its Deployment sets. */
function podIn({ POD_NAMESPACE: namespace = "", POD_NAME: name = "" }: CliIo["env"]): OperatorConfig["pod"] {
  return namespace === "" || name === "" ? undefined : { namespace, name };
}

/** New for every process, unless a file keeps it. */
function identityFor(io: CliIo, { identityFile }: OperatorFlags): Result<KeptIdentity, string> {
  const { clock, hostname } = io;
  const fresh = `${hostname}-${sha256Hex(`${clock.now()} ${io.random()}`).slice(0, 8)}`;
  if (identityFile === undefined) return ok({ identity: fresh, release: () => {} });
  const path = resolve(io.cwd, identityFile);
  return mapErr(openIdentityFile({ path, fresh, clock, processes: nodeProcesses }), (problem) => `--identity-file: ${problem}`);
}

type Prepared = { readonly config: OperatorConfig; readonly logger: Logger; readonly connection: Connection };

async function runOperator(io: CliIo, { config, logger, connection }: Prepared): Promise<ExitCode> {
  const metrics = new MetricsRegistry();
  const tracer = createTracer(io, logger, metrics);
  const { clock, random } = io;
  const started = await startOperator(
    config,
    {
      client: connection.client,
      clock,
      random,
      logger,
      metrics,
      tracer: tracer ?? noTracing,
      apiServer: await tunnelTarget(connection.config, io.signal),
    },
    io.signal,
  );
  // a signal cancels the calls that are under way
  if (!started.ok) return io.signal.aborted ? 0 : reportFailure(io, started.error);
  const { healthUrl } = started.value;
  io.stdout(`operator ${config.identity} on ${connection.config.server}; health and metrics at ${healthUrl}; Ctrl-C stops it\n`);
  io.supervisor?.send({ kind: "listening", health: healthUrl } satisfies FromOperator);
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
