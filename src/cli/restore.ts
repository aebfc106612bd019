/**
 * `lattice restore`: brings a backup into an API server without its objects, which owns the cluster from then on.
 *
 * The whole file is authenticated before the first write. Exit code 0: restored, 1: refused, 2: not finished, or the command could not run.
 */
import { resolve } from "node:path";
import { err, ok, silentLogger, textOfBytes, type Result } from "#base";
import { KUBECONFIG_ANNOTATION } from "#controllers";
import type { KubeObject } from "#kube";
import type { ClusterConfig } from "#kube-client";
import {
  abortReceived,
  ArchiveReader,
  archiveClaim,
  MANIFEST_FILE,
  parseManifest,
  receiveSaved,
  savedMove,
  savedObjects,
  type FilesManifest,
  type ImportReceipt,
  type SavedMove,
} from "#pivot";
import { openStream } from "#pki";
import { oldOwnerAnswers } from "./backup/old-owner.ts";
import { readSealedFile } from "./backup/sealed-output.ts";
import { readSealSecret, type SealFlags } from "./backup/seal-secret.ts";
import { BESIDE_KINDS } from "./backup/subject.ts";
import { connect, type ClusterFlags, type Connection } from "./cluster.ts";
import { reportError, reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { reportMoveFailure } from "./move/failure-text.ts";
import { showProgress } from "./move/progress.ts";
import { configOfSecret } from "./pivot/child.ts";
import { moverOptions } from "./pivot/export.ts";

export type RestoreFlags = ClusterFlags &
  SealFlags & {
    readonly inspect?: boolean;
    readonly oldOwnerIsGone?: boolean;
    readonly abort?: boolean;
    readonly output: "text" | "json";
  };

type OpenedBackup = { readonly manifest: FilesManifest; readonly saved: SavedMove };

export async function restore(io: CommandIo, file: string, flags: RestoreFlags): Promise<ExitCode> {
  if (flags.inspect === true && flags.abort === true) return reportFailure(io, "--inspect and --abort exclude each other");
  if (flags.inspect !== true && flags.kubeconfig === undefined)
    return reportFailure(io, "name the API server to restore into with --kubeconfig");
  const secret = await readSealSecret(io, flags, "existing");
  if (!secret.ok) return reportFailure(io, secret.error);
  const opened = await readSealedFile(resolve(io.cwd, file), async (source) => {
    const reader = new ArchiveReader();
    const read = await openStream(secret.value, source, (bytes) => reader.push(bytes));
    return read.ok ? reader.end() : read;
  });
  const backup = opened.ok ? backupOf(opened.value) : opened;
  if (!backup.ok) return reportError(io, `${file} ${backup.error}`);
  if (flags.inspect === true) return inspect(io, flags, backup.value);
  const target = await connect(io, flags, { logger: silentLogger });
  if (!target.ok) return reportFailure(io, target.error);
  try {
    const restoring = { backup: backup.value, target: target.value };
    return await (flags.abort === true ? undoRestore(io, flags, restoring) : restoreInto(io, flags, restoring));
  } finally {
    await target.value.client.close();
  }
}

type Files = Parameters<typeof savedObjects>[0];

function backupOf(files: Files): Result<OpenedBackup, string> {
  const own = files.filter(({ name }) => name === MANIFEST_FILE);
  const text = textOfBytes(own[0]?.bytes ?? new Uint8Array());
  const manifest = text.ok ? parseManifest(text.value) : err("cannot be read");
  if (!manifest.ok) return err(`has no valid manifest: it ${manifest.error}`);
  if (manifest.value.purpose !== "backup" || own.length !== 1) return err("is no backup");
  const objects = savedObjects(
    files.filter(({ name }) => name !== MANIFEST_FILE),
    manifest.value,
  );
  if (!objects.ok) return err(`is not consistent: ${objects.error.join("; ")}`);
  const saved = savedMove(
    manifest.value,
    objects.value.map((one) => ({ ...one, object: withDueKubeconfig(one.object) })),
  );
  return ok({ manifest: manifest.value, saved: { ...saved, epoch: saved.epoch + 1, besideKinds: BESIDE_KINDS, unfinished: "accepted" } });
}

/** Its token is of the old API server. Without this annotation the operator writes the kubeconfig anew. */
function withDueKubeconfig(object: KubeObject): KubeObject {
  const { [KUBECONFIG_ANNOTATION]: of, ...annotations } = object.metadata.annotations ?? {};
  return of === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

function inspect(io: CommandIo, { output }: RestoreFlags, { manifest }: OpenedBackup): ExitCode {
  const { id, cluster = "", createdAt, epoch, namespace, objects, servers = [] } = manifest;
  if (output === "json") {
    const shown = {
      id,
      cluster,
      createdAt,
      epoch,
      namespace,
      servers: servers.map(({ url }) => url),
      objects: objects.map(({ file }) => file),
    };
    io.stdout(`${JSON.stringify(shown, null, 2)}\n`);
    return 0;
  }
  io.stdout(`cluster ${cluster} of ${createdAt}, backup ${id}, epoch ${epoch}, saved from ${servers.map(({ url }) => url).join(", ")}\n`);
  for (const { file } of objects) io.stdout(`  ${file}\n`);
  return 0;
}

type Restoring = { readonly backup: OpenedBackup; readonly target: Connection };

async function restoreInto(io: CommandIo, flags: RestoreFlags, { backup: { manifest, saved }, target }: Restoring): Promise<ExitCode> {
  if (flags.oldOwnerIsGone === true)
    io.stderr("warning: whether the old owner still runs is not checked; two owners would fight over the same machines\n");
  else {
    const others = await kubeconfigsIn(io, saved);
    const answering = await oldOwnerAnswers(io, manifest, { target: target.config.server, others });
    if (!answering.ok) return reportError(io, answering.error);
    if (answering.value !== undefined)
      return reportError(
        io,
        `the cluster that the backup was made from still answers at ${answering.value}, and owns the cluster; stop it, or, if it cannot write any more, add --old-owner-is-gone`,
      );
  }
  const progress = showProgress(io, { quiet: flags.output === "json" });
  const received = await receiveSaved({ target: target.client, saved, claim: archiveClaim(), ...moverOptions(io, progress) });
  progress.end();
  if (!received.ok) return reportMoveFailure(io, flags, received.error);
  return report(io, flags, { cluster: manifest.cluster ?? "", receipt: received.value });
}

/** Refused once this API server owns the cluster. */
async function undoRestore(io: CommandIo, flags: RestoreFlags, { backup: { saved }, target }: Restoring): Promise<ExitCode> {
  const progress = showProgress(io, { quiet: flags.output === "json" });
  // an archive has no claim to give back
  const claim = { ...archiveClaim(), read: () => Promise.resolve(ok("none" as const)) };
  const options = { target: target.client, saved, claim, ...moverOptions(io, progress) };
  const aborted = await abortReceived(options, () => Promise.resolve(ok(undefined)));
  progress.end();
  if (!aborted.ok) return reportMoveFailure(io, flags, aborted.error);
  const text = aborted.value ? "the restore was undone: this API server has no copies" : "there is no unfinished restore of this backup";
  io.stdout(flags.output === "json" ? `${JSON.stringify({ aborted: aborted.value })}\n` : `${text}\n`);
  return 0;
}

/** How Cluster API reached the cluster. One that cannot be read is no reason not to restore. */
async function kubeconfigsIn(io: CommandIo, { objects }: SavedMove): Promise<readonly ClusterConfig[]> {
  const configs: ClusterConfig[] = [];
  for (const { object } of objects.filter((one) => one.object.kind === "Secret" && one.object.metadata.name.endsWith("-kubeconfig"))) {
    const config = await configOfSecret(io, object);
    if (config.ok) configs.push(config.value);
  }
  return configs;
}

type Restored = { readonly cluster: string; readonly receipt: ImportReceipt };

function report(io: CommandIo, { output }: RestoreFlags, { cluster, receipt: { id, objects, epoch } }: Restored): ExitCode {
  if (output === "json") io.stdout(`${JSON.stringify({ cluster, id, objects, epoch }, null, 2)}\n`);
  else io.stdout(`restored ${objects} objects of cluster ${cluster}: this API server owns it, epoch ${epoch}\n`);
  return 0;
}
