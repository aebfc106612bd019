/** `lattice pivot export`: writes the objects of a namespace to a directory, accepts the receipt of the import, or undoes the export. */
import { resolve } from "node:path";
import { err, ok, type Result } from "#base";
import type { ClusterConfig, KubeClient } from "#kube-client";
import { abortNamespaceExport, exportNamespace, parseReceipt, type ExportReport, type ImportReceipt } from "#pivot";
import { parseDurationFlag } from "../duration-flag.ts";
import { continueMove } from "../move/continue-move.ts";
import { reportMoveFailure } from "../move/failure-text.ts";
import { showProgress } from "../move/progress.ts";
import { scopeOf } from "../namespace-scope.ts";
import { MAX_SMALL_FILE, readRegularText } from "../regular-file.ts";
import type { CommandIo, ExitCode } from "../io.ts";
import { shortPath } from "../short-path.ts";
import type { PivotFlags } from "./actions.ts";
import { exportDirectory, NO_DIRECTORY } from "./directory.ts";

const DEFAULT_WAIT_MS = 300_000;
const WAIT = {
  name: "--wait",
  least: { text: "1s", why: "objects are read once a second" },
  most: { text: "24h", why: "the source stays paused meanwhile" },
};

export type DirectoryExport = { readonly client: KubeClient; readonly config: ClusterConfig; readonly flags: PivotFlags };

export async function exportToDirectory(io: CommandIo, { client, config, flags }: DirectoryExport): Promise<Result<ExitCode, string>> {
  const waitMs = parseDurationFlag(WAIT, flags.wait);
  if (!waitMs.ok) return waitMs;
  const scope = scopeOf(flags, config);
  if (!scope.ok) return scope;
  const receipt = flags.confirm === undefined ? ok(undefined) : readReceipt(io, flags.confirm);
  if (!receipt.ok) return receipt;
  const namespace = scope.value ?? "default";
  const progress = showProgress(io, { quiet: flags.output === "json" });
  const options = {
    source: client,
    namespace,
    folder: flags.directory === undefined ? NO_DIRECTORY : exportDirectory(resolve(io.cwd, flags.directory)),
    receipt: receipt.value,
    ...moverOptions(io, progress),
    waitMs: waitMs.value ?? DEFAULT_WAIT_MS,
  };
  if (flags.abort === true) {
    const notImported = flags.notImported === true;
    const aborted = await continueMove(io, progress, (identity) => abortNamespaceExport({ ...options, identity, notImported }));
    progress.end();
    if (!aborted.ok) return ok(reportMoveFailure(io, flags, aborted.error));
    const text = aborted.value ? "the export was undone: the source owns its clusters" : "there is no unfinished export";
    io.stdout(flags.output === "json" ? `${JSON.stringify({ namespace, aborted: aborted.value })}\n` : `${text}\n`);
    return ok(0);
  }
  const exported = await continueMove(io, progress, (identity) => exportNamespace({ ...options, identity }));
  progress.end();
  if (!exported.ok) return ok(reportMoveFailure(io, flags, exported.error));
  io.stdout(
    flags.output === "json"
      ? `${JSON.stringify({ namespace, ...exported.value }, null, 2)}\n`
      : reportText(io, flags, { namespace, ...exported.value }),
  );
  return ok(0);
}

/** What every command of the mover has. */
export function moverOptions(io: CommandIo, progress: ReturnType<typeof showProgress>) {
  return {
    identity: `${io.hostname}-${Math.floor(io.random() * 2 ** 32).toString(16)}`,
    clock: io.clock,
    random: io.random,
    signal: io.signal,
    leaseMs: 15_000,
    onWait: (holder: string) => progress.note(`${holder} has a lease on the namespace; waiting until it is renewed or runs out`),
    report: progress.report,
  };
}

function readReceipt(io: CommandIo, file: string): Result<ImportReceipt, string> {
  const text = readRegularText(resolve(io.cwd, file), { bytes: MAX_SMALL_FILE, pipes: true });
  const parsed = text.ok ? parseReceipt(text.value) : text;
  return parsed.ok ? parsed : err(`--confirm: ${file} ${parsed.error}`);
}

function reportText(
  io: CommandIo,
  flags: PivotFlags,
  { namespace, id, objects, digest, epoch, confirmed }: ExportReport & { readonly namespace: string },
): string {
  if (id === undefined) return `nothing to export in namespace ${namespace}\n`;
  if (confirmed) return `the import of ${objects} objects is confirmed: namespace ${namespace} has none of them any more\n`;
  const directory = shortPath(io.cwd, resolve(io.cwd, flags.directory ?? ""));
  return [
    `exported ${objects} objects of namespace ${namespace} to ${directory}: export ${id}, epoch ${epoch}, sha256 ${digest.slice(0, 16)}\n`,
    `the source stays paused; the files contain keys. Next:\n`,
    `  lattice pivot import --kubeconfig TARGET --directory ${directory}\n`,
    `  lattice pivot export -n ${namespace} --confirm ${directory}/lattice-receipt.yaml\n`,
  ].join("");
}
