/** `lattice api-server`: runs the embedded API server as a process, until Ctrl-C or SIGTERM. One line says where, when it is ready. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { createLogger, describeThrown, err, fromPromise, ok, reveal, type Result } from "#base";
import { startServer, type RunningServer } from "#kube-server";
import { complain, untilAskedToStop, type CliIo, type ExitCode } from "./io.ts";
import { writeKubeconfig } from "./kubeconfig-file.ts";

export type ApiServerFlags = {
  readonly port: string;
  readonly tokenFile?: string;
  readonly dataDir?: string;
  readonly kubeconfigOut?: string;
  readonly http?: boolean;
  readonly controllers: boolean;
};

export async function serveApi(io: CliIo, flags: ApiServerFlags): Promise<ExitCode> {
  const port = parsePort(flags.port);
  if (!port.ok) return complain(io, port.error);
  const tokens = flags.tokenFile === undefined ? ok(undefined) : await readTokens(pathOf(io, flags.tokenFile));
  if (!tokens.ok) return complain(io, tokens.error);
  const logger = createLogger((level, message, fields) => {
    if (level === "warn" || level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  const started = await startServer({
    port: port.value,
    plain: flags.http === true,
    tokens: tokens.value,
    dataDir: flags.dataDir === undefined ? undefined : pathOf(io, flags.dataDir),
    clock: io.clock,
    random: io.random,
    logger,
  });
  if (!started.ok) return complain(io, started.error);
  return runUntilStopped(io, flags, { server: started.value, tokens: tokens.value });
}

type Started = { readonly server: RunningServer; readonly tokens: string | undefined };

async function runUntilStopped(io: CliIo, flags: ApiServerFlags, { server, tokens }: Started): Promise<ExitCode> {
  try {
    const written = await offerKubeconfig(io, flags, server, tokens);
    if (!written.ok) return complain(io, written.error);
    if (flags.controllers) io.stderr("lattice: API server only: there are no controllers in this version\n");
    io.stdout(`${server.url}\n`);
    await untilAskedToStop(io.signal);
    return 0;
  } finally {
    await server.close();
  }
}

function pathOf(io: CliIo, path: string): string {
  return isAbsolute(path) ? path : join(io.cwd, path);
}

function parsePort(text: string): Result<number, string> {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? ok(port) : err(`--port: "${text}" is not a port; write a number up to 65535, or 0 for any`);
}

async function readTokens(path: string): Promise<Result<string, string>> {
  return fromPromise(readFile(path, "utf8"), (thrown) => `--token-file: ${describeThrown(thrown)}`);
}

/** With a token file, the kubeconfig speaks as its first user: somebody must be it. */
async function offerKubeconfig(
  io: CliIo,
  flags: ApiServerFlags,
  server: RunningServer,
  tokens: string | undefined,
): Promise<Result<void, string>> {
  if (flags.kubeconfigOut === undefined) {
    if (server.adminToken !== undefined)
      io.stderr("lattice: no --token-file and no --kubeconfig-out: nobody knows the token of this server\n");
    return ok(undefined);
  }
  if (flags.http === true) io.stderr("lattice: kubectl sends no token over plain HTTP; leave out --http to use the kubeconfig with it\n");
  const token = server.adminToken === undefined ? firstToken(tokens ?? "") : reveal(server.adminToken);
  return writeKubeconfig(pathOf(io, flags.kubeconfigOut), server, token);
}

function firstToken(tokens: string): string {
  const line = tokens.split(/\r?\n/).find((one) => one.trim() !== "" && !one.trimStart().startsWith("#")) ?? "";
  return (line.split(",")[0] ?? "").trim().replace(/^"|"$/g, "");
}
