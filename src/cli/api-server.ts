/**
 * `lattice api-server`: runs the embedded cluster as a process, until Ctrl-C or SIGTERM, or as long as a command runs. Without a command it
 * prints its URL as one line on standard output when it is ready; with one, standard output belongs to the command.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { createLogger, describeThrown, err, fromPromise, mapErr, ok, type Result } from "#base";
import { describeMove, startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { isPublic, LOOPBACK, parseBind } from "./bind-address.ts";
import { reportFailure, untilStopped, type CliIo, type CommandExitCode } from "./io.ts";
import { writeKubeconfig } from "./kubeconfig-file.ts";
import { MAX_SMALL_FILE, readRegularText } from "./regular-file.ts";
import { runCommand } from "./run-command.ts";

export type ApiServerFlags = {
  /** Empty: run until a signal. */
  readonly command?: readonly string[];
  readonly crds?: readonly string[];
  readonly bind?: string;
  readonly allowReset?: boolean;
  readonly port: string;
  readonly tokenFile?: string;
  readonly dataDir?: string;
  readonly repair?: boolean;
  readonly kubeconfigOut?: string;
  readonly http?: boolean;
  readonly controllers: boolean;
  readonly podLimit: string;
};

export async function serveApi(io: CliIo, flags: ApiServerFlags): Promise<CommandExitCode> {
  const port = parsePort(flags.port);
  if (!port.ok) return reportFailure(io, port.error);
  const host = parseBind(flags.bind ?? LOOPBACK, { http: flags.http === true });
  if (!host.ok) return reportFailure(io, host.error);
  const podLimit = parsePodLimit(flags.podLimit);
  if (!podLimit.ok) return reportFailure(io, podLimit.error);
  const tokens = flags.tokenFile === undefined ? ok(undefined) : readTokens(pathOf(io, flags.tokenFile));
  if (!tokens.ok) return reportFailure(io, tokens.error);
  const started = await fromPromise(start(io, flags, { tokens: tokens.value, podLimit: podLimit.value }), describeThrown);
  if (!started.ok) return reportFailure(io, started.error);
  await using cluster = started.value;
  return await runUntilStopped(io, flags, { cluster, host: host.value, port: port.value, tokens: tokens.value });
}

type Parsed = { readonly tokens: string | undefined; readonly podLimit: number };

function start(io: CliIo, flags: ApiServerFlags, { tokens, podLimit }: Parsed): Promise<EmbeddedCluster> {
  const logger = createLogger((level, message, fields) => {
    if (level === "warn" || level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  const { clock, random } = io;
  return startEmbeddedCluster({
    clock,
    random,
    logger,
    controllers: flags.controllers ? { podLimit } : false,
    logActions: false,
    resettable: flags.allowReset === true,
    crds: (flags.crds ?? []).map((path) => pathOf(io, path)),
    ...(flags.dataDir === undefined ? {} : { dataDir: pathOf(io, flags.dataDir), repair: flags.repair === true }),
    ...(tokens === undefined ? {} : { tokens }),
  });
}

type Started = {
  readonly cluster: EmbeddedCluster;
  readonly host: string;
  readonly port: number;
  readonly tokens: string | undefined;
};

async function runUntilStopped(io: CliIo, flags: ApiServerFlags, { cluster, host, port, tokens }: Started): Promise<CommandExitCode> {
  const listening = await fromPromise(cluster.listen({ host, port, http: flags.http === true }), describeThrown);
  if (!listening.ok) return reportFailure(io, listening.error);
  if (isPublic(host)) io.stderr(`lattice: other machines can reach this server at port ${new URL(listening.value.url).port}\n`);
  const moved = describeMove(listening.value);
  if (moved !== undefined) io.stderr(`lattice: ${moved}\n`);
  const { command = [] } = flags;
  if (command.length > 0) return runBeside(io, flags, { cluster, tokens, command });
  const written = await offerKubeconfig(io, flags, cluster, tokens);
  if (!written.ok) return reportFailure(io, written.error);
  io.stdout(`${listening.value.url}\n`);
  await untilStopped(io.signal);
  return 0;
}

type Beside = Pick<Started, "cluster" | "tokens"> & { readonly command: readonly string[] };

/** Without --kubeconfig-out, the kubeconfig of the command is deleted when the command ends. */
async function runBeside(io: CliIo, flags: ApiServerFlags, { cluster, tokens, command }: Beside): Promise<CommandExitCode> {
  const home = await fromPromise(mkdtemp(join(tmpdir(), "lattice-api-server-")), describeThrown);
  if (!home.ok) return reportFailure(io, `the folder for the kubeconfig cannot be created: ${home.error}`);
  try {
    const kubeconfigOut = pathOf(io, flags.kubeconfigOut ?? join(home.value, "kubeconfig"));
    const written = await offerKubeconfig(io, { ...flags, kubeconfigOut }, cluster, tokens);
    if (!written.ok) return reportFailure(io, written.error);
    // envtest uses the cluster of KUBECONFIG when USE_EXISTING_CLUSTER is "true"
    return await runCommand(io, command, { KUBECONFIG: kubeconfigOut, USE_EXISTING_CLUSTER: "true" });
  } finally {
    await rm(home.value, { recursive: true, force: true });
  }
}

function pathOf(io: CliIo, path: string): string {
  return isAbsolute(path) ? path : join(io.cwd, path);
}

function parsePort(text: string): Result<number, string> {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? ok(port) : err(`--port: "${text}" is not a port; write a number up to 65535, or 0 for any`);
}

function parsePodLimit(text: string): Result<number, string> {
  const limit = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  return limit > 0 ? ok(limit) : err(`--pod-limit: "${text}" is not a number from 1 to 9999999`);
}

function readTokens(path: string): Result<string, string> {
  return mapErr(readRegularText(path, { bytes: MAX_SMALL_FILE, pipes: true }), (problem) => `--token-file ${path}: ${problem}`);
}

/** With a token file, the kubeconfig has the token of its first user. */
async function offerKubeconfig(
  io: CliIo,
  flags: ApiServerFlags,
  cluster: EmbeddedCluster,
  tokens: string | undefined,
): Promise<Result<void, string>> {
  if (flags.kubeconfigOut === undefined) {
    if (tokens === undefined) io.stderr("lattice: without --token-file and --kubeconfig-out no client can authenticate\n");
    return ok(undefined);
  }
  if (flags.http === true) io.stderr("lattice: kubectl sends no token over plain HTTP; leave out --http to use the kubeconfig with it\n");
  const path = pathOf(io, flags.kubeconfigOut);
  if (tokens === undefined) return fromPromise(cluster.writeKubeconfig(path), describeThrown);
  return writeKubeconfig(path, await cluster.listen(), firstToken(tokens));
}

function firstToken(tokens: string): string {
  const line = tokens.split(/\r?\n/).find((one) => one.trim() !== "" && !one.trimStart().startsWith("#")) ?? "";
  return (line.split(",")[0] ?? "").trim().replace(/^"|"$/g, "");
}
