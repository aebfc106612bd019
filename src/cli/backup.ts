/**
 * `lattice backup`: the objects that a cluster is made of, in one encrypted file. Reads only; nothing is paused.
 *
 * Exit code 0: saved, 1: refused, with the reasons, 2: not finished, or the command could not run.
 */
import { resolve } from "node:path";
import { err, ok, type Result } from "#base";
import { archiveBytes, MANIFEST_FILE, manifestText, readNamespaceBackup, type BackupFiles } from "#pivot";
import { sealStream, type SealSecret } from "#pki";
import type { ClusterConfig, KubeClient } from "#kube-client";
import { readBeside, subjectOf } from "./backup/subject.ts";
import { readSealSecret, type SealFlags } from "./backup/seal-secret.ts";
import { writeSealedFile } from "./backup/sealed-output.ts";
import type { ClusterFlags } from "./cluster.ts";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { withCluster } from "./live-world.ts";
import { reportMoveFailure } from "./move/failure-text.ts";
import { showProgress } from "./move/progress.ts";
import { pivotNamespace } from "./pivot/child.ts";

export type BackupFlags = ClusterFlags &
  SealFlags & { readonly self?: boolean; readonly out: string; readonly force?: boolean; readonly output: "text" | "json" };

export async function backup(io: CommandIo, name: string | undefined, flags: BackupFlags): Promise<ExitCode> {
  if ((name === undefined) !== (flags.self === true))
    return reportFailure(io, "give the name of a LatticeCluster, or --self, and not both");
  const done = await withCluster(io, flags, (client, config) => backUp(io, { client, config, name, flags }));
  return done.ok ? done.value : reportFailure(io, done.error);
}

type BackupRun = {
  readonly client: KubeClient;
  readonly config: ClusterConfig;
  readonly name: string | undefined;
  readonly flags: BackupFlags;
};

async function backUp(io: CommandIo, { client, config, name, flags }: BackupRun): Promise<Result<ExitCode, string>> {
  const subject = await subjectOf(io, client, name);
  if (!subject.ok) return subject;
  const beside = await readBeside(io, client, subject.value);
  if (!beside.ok) return beside;
  // asked for before the objects are read: they should not be old when they are written
  const secret = await readSealSecret(io, flags, "new");
  if (!secret.ok) return secret;
  const progress = showProgress(io, { quiet: flags.output === "json" });
  const { certificateAuthority, server } = config;
  const read = await readNamespaceBackup({
    source: client,
    namespace: pivotNamespace(subject.value.name),
    clock: io.clock,
    random: io.random,
    signal: io.signal,
    report: progress.report,
    cluster: subject.value.name,
    servers: [{ url: server, ...(certificateAuthority === undefined ? {} : { certificateAuthority }) }],
    beside: beside.value.nodes,
  });
  progress.end();
  if (!read.ok) return ok(reportMoveFailure(io, flags, read.error));
  const written = await writeArchive(resolve(io.cwd, flags.out), { files: read.value, secret: secret.value, force: flags.force === true });
  if (!written.ok) return err(`${flags.out} ${written.error}`);
  const { manifest } = read.value;
  for (const child of beside.value.leftOut) {
    io.stderr(`warning: cluster ${child} does not own itself and is not in this backup; lattice backup ${child} saves it\n`);
  }
  const report = {
    cluster: subject.value.name,
    id: manifest.id,
    objects: manifest.objects.length,
    epoch: manifest.epoch,
    bytes: written.value,
  };
  io.stdout(
    flags.output === "json"
      ? `${JSON.stringify({ ...report, file: flags.out }, null, 2)}\n`
      : `saved ${report.objects} objects of cluster ${report.cluster} in ${flags.out} (${report.bytes} bytes): backup ${report.id}, epoch ${report.epoch}\n`,
  );
  return ok(0);
}

type ArchiveRequest = { readonly files: BackupFiles; readonly secret: SealSecret; readonly force: boolean };

function writeArchive(path: string, { files: { manifest, files }, secret, force }: ArchiveRequest): Promise<Result<number, string>> {
  const entries = function* () {
    yield { name: MANIFEST_FILE, text: manifestText(manifest) };
    for (const { entry, text } of files) yield { name: entry.file, text };
  };
  return writeSealedFile(path, { force, seal: (write) => sealStream(secret, archiveBytes(entries()), write) });
}
