/**
 * The folder of a local cluster: its state, its kubeconfig, and which process runs it.
 *
 * A marker file identifies it. A folder without one is neither used nor deleted, and only the files that Lattice writes are deleted.
 */
import { lstat, readdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeThrown, err, fromPromise, nodeProcesses, ok, type ProcessTable, type Result } from "#base";
import { field, parseJson } from "#kube";
import { createFolder } from "#pki";

const MARK = "lattice-local-cluster";
const MARK_TEXT = "This folder holds a local cluster of Lattice. `lattice down --purge` deletes it.\n";
const RECORD = "up.json";
const OTHERS_WRITE = 0o002;
const OURS = [MARK, RECORD, "data", "kubeconfig"] as const;

export type UpFolder = { readonly path: string; readonly data: string; readonly kubeconfig: string };

export function upFolder(path: string): UpFolder {
  return { path, data: join(path, "data"), kubeconfig: join(path, "kubeconfig") };
}

/** The process that runs the cluster of a folder. */
export type UpRecord = { readonly pid: number; readonly process: string; readonly health: string };

/** Creates the folder, or reuses one with the marker file. */
export async function prepareFolder({ path }: UpFolder): Promise<Result<void, string>> {
  const made = createFolder(path, 0o700);
  if (!made.ok) return made;
  // it contains the kubeconfig of an administrator
  const folder = await fromPromise(stat(path), describeThrown);
  if (folder.ok && (folder.value.mode & OTHERS_WRITE) !== 0) return err(`every user can write to ${path}; run chmod o-w ${path} first`);
  const others = await otherFilesIn(path);
  if (!others.ok) return others;
  if (others.value.length > 0) {
    return err(`${path} contains other files (${shown(others.value)}); choose an empty folder, or one that does not exist`);
  }
  const marked = await fromPromise(writeFile(join(path, MARK), MARK_TEXT), describeThrown);
  return marked.ok ? ok(undefined) : err(`the folder ${path} cannot be written: ${marked.error}`);
}

/** Files that Lattice does not write. */
async function otherFilesIn(path: string): Promise<Result<readonly string[], string>> {
  const names = await fromPromise(readdir(path), describeThrown);
  return names.ok ? ok(names.value.filter((name) => !OURS.some((own) => own === name))) : err(`${path} cannot be read: ${names.error}`);
}

function shown(names: readonly string[]): string {
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

export async function writeRecord(
  { path }: UpFolder,
  health: string,
  processes: ProcessTable = nodeProcesses,
): Promise<Result<void, string>> {
  const { pid } = processes;
  const record: UpRecord = { pid, process: processes.identify(pid) ?? "", health };
  return fromPromise(writeFile(join(path, RECORD), `${JSON.stringify(record)}\n`, { mode: 0o600 }), describeThrown);
}

export async function removeRecord({ path }: UpFolder): Promise<void> {
  await rm(join(path, RECORD), { force: true });
}

/** The process that runs the cluster now; undefined: none. The record of an ended process is ignored. */
export async function runningUp({ path }: UpFolder, processes: ProcessTable = nodeProcesses): Promise<UpRecord | undefined> {
  const text = await fromPromise(readFile(join(path, RECORD), "utf8"), describeThrown);
  const record = text.ok ? parseRecord(text.value) : undefined;
  if (record === undefined || processes.identify(record.pid) !== record.process) return undefined;
  // pids are reused; the server of the record responds only while the same process runs
  return (await answers(record.health)) ? record : undefined;
}

function parseRecord(text: string): UpRecord | undefined {
  const parsed = parseJson(text);
  const value = parsed.ok ? parsed.value : undefined;
  const [pid, process, health] = [field(value, "pid"), field(value, "process"), field(value, "health")];
  if (!Number.isSafeInteger(pid) || Number(pid) <= 1 || typeof process !== "string" || typeof health !== "string") return undefined;
  return { pid: Number(pid), process, health };
}

const RESPONSE_WITHIN_MS = 3_000;

/** Loopback only: any program may have written the file. */
async function answers(health: string): Promise<boolean> {
  if (!/^http:\/\/127\.0\.0\.1:[0-9]{1,5}$/.test(health)) return false;
  const answer = await fromPromise(fetch(`${health}/livez`, { signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) }), describeThrown);
  if (answer.ok) await fromPromise(answer.value.arrayBuffer(), describeThrown);
  return answer.ok;
}

/** Deletes the files that Lattice writes to its folder, and the folder. */
export async function purgeFolder({ path }: UpFolder): Promise<Result<"deleted" | "absent", string>> {
  const there = await fromPromise(lstat(path), describeThrown);
  if (!there.ok) return ok("absent");
  if (!there.value.isDirectory()) return err(`${path} is not a folder, and is not deleted`);
  const mark = await fromPromise(readFile(join(path, MARK), "utf8"), describeThrown);
  if (!mark.ok || mark.value !== MARK_TEXT) return err(`${path} has no marker file of a local cluster of Lattice, and is not deleted`);
  const others = await otherFilesIn(path);
  if (!others.ok) return others;
  if (others.value.length > 0) return err(`${path} contains other files (${shown(others.value)}), and is not deleted`);
  const gone = async () => {
    for (const name of OURS) await rm(join(path, name), { recursive: true, force: true });
    await rmdir(path);
  };
  const deleted = await fromPromise(gone(), describeThrown);
  return deleted.ok ? ok("deleted") : err(`${path} cannot be deleted: ${deleted.error}`);
}
