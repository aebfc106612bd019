/** `lattice pivot import`: brings the objects of a directory into a cluster, which owns them from then on, and writes the receipt. */
import { join, resolve } from "node:path";
import { err, ok, timestamp, type Result } from "#base";
import type { KubeClient } from "#kube-client";
import { abortReceived, folderClaim, readExport, receiptText, receiveSaved, RECEIPT_FILE, releaseFolder, type ImportReceipt } from "#pivot";
import { writePrivateFile } from "#pki";
import { continueMove } from "../move/continue-move.ts";
import { reportMoveFailure } from "../move/failure-text.ts";
import { showProgress } from "../move/progress.ts";
import type { CommandIo, ExitCode } from "../io.ts";
import { shortPath } from "../short-path.ts";
import type { PivotFlags } from "./actions.ts";
import { exportDirectory } from "./directory.ts";
import { moverOptions } from "./export.ts";

const FOREIGN =
  "the directory has no manifest of lattice: clusterctl wrote it, and has unpaused its source. Make sure that the source does not own the clusters any more (delete or pause them there), then add --force-owner";

export type DirectoryImport = { readonly client: KubeClient; readonly flags: PivotFlags };

export async function importFromDirectory(io: CommandIo, { client, flags }: DirectoryImport): Promise<Result<ExitCode, string>> {
  const directory = resolve(io.cwd, flags.directory ?? "");
  const folder = exportDirectory(directory);
  const read = readExport(folder, timestamp(io.clock));
  if (!read.ok)
    return ok(reportMoveFailure(io, flags, { kind: "refused", message: located(io, directory, read.error[0] ?? ""), reasons: read.error }));
  const { saved, foreign } = read.value;
  if (foreign && flags.forceOwner !== true)
    return ok(reportMoveFailure(io, flags, { kind: "refused", message: FOREIGN, reasons: [FOREIGN] }));
  const progress = showProgress(io, { quiet: flags.output === "json" });
  const options = { target: client, saved, claim: folderClaim(folder, saved.id), ...moverOptions(io, progress) };
  if (flags.abort === true) {
    const aborted = await continueMove(io, progress, (identity) => abortReceived({ ...options, identity }, () => releaseFolder(folder)));
    progress.end();
    if (!aborted.ok) return ok(reportMoveFailure(io, flags, aborted.error));
    const text = aborted.value ? "the import was undone: this cluster has no copies" : "there is no unfinished import of this directory";
    io.stdout(flags.output === "json" ? `${JSON.stringify({ aborted: aborted.value })}\n` : `${text}\n`);
    return ok(0);
  }
  const received = await continueMove(io, progress, (identity) => receiveSaved({ ...options, identity }));
  progress.end();
  if (!received.ok) return ok(reportMoveFailure(io, flags, received.error));
  if (foreign) return ok(report(io, flags, { receipt: received.value, file: undefined }));
  const file = flags.receipt === undefined ? join(directory, RECEIPT_FILE) : resolve(io.cwd, flags.receipt);
  const written =
    flags.receipt === undefined
      ? folder.write(RECEIPT_FILE, receiptText(received.value))
      : writePrivateFile(file, receiptText(received.value));
  if (!written.ok) return err(`the clusters are imported, but the receipt was not written: ${written.error}; run the same command again`);
  return ok(report(io, flags, { receipt: received.value, file: shortPath(io.cwd, file) }));
}

function located(io: CommandIo, directory: string, problem: string): string {
  return `${shortPath(io.cwd, directory)}: ${problem}`;
}

function report(
  io: CommandIo,
  flags: PivotFlags,
  { receipt, file }: { readonly receipt: ImportReceipt; readonly file: string | undefined },
): ExitCode {
  if (flags.output === "json") {
    io.stdout(`${JSON.stringify({ ...receipt, ...(file === undefined ? {} : { receipt: file }) }, null, 2)}\n`);
    return 0;
  }
  io.stdout(`imported ${receipt.objects} objects: this cluster owns them, epoch ${receipt.epoch}\n`);
  io.stdout(
    file === undefined
      ? "the directory has no manifest, so there is no receipt: delete the clusters at their source yourself\n"
      : `the receipt is ${file}: give it to lattice pivot export --confirm at the source, which is paused until then\n`,
  );
  return 0;
}
