/**
 * The folder of a machine: `clusters/CLUSTER/machines/NAME`. It is the root of the machine's files, and also contains files of Lattice, which
 * its bootstrap data cannot replace.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { parseJson } from "#kube";
import { createFolder, writePrivateFile } from "#pki";
import type { ClusterFolder } from "../fleet-types.ts";
import { removeTree } from "../folder/remove-tree.ts";

export type MachinePaths = {
  readonly folder: string;
  readonly record: string;
  readonly userData: string;
  readonly script: string;
  readonly log: string;
  /** Exists when all commands have succeeded. They are never repeated then. */
  readonly completed: string;
  /** kubeadm, kubectl and curl. */
  readonly programs: string;
};

const record = z.object({
  id: z.string(),
  name: z.string(),
  cluster: z.string(),
  namespace: z.string(),
  controlPlane: z.boolean(),
  version: z.string(),
  /** The cluster whose LocalMachine it is: the parent, or the cluster itself. */
  owner: z.string(),
  nodeName: z.string().optional(),
  /** It is being deleted. */
  removed: z.boolean().optional(),
});

/** machine.json */
export type MachineRecord = z.infer<typeof record>;

const FOLDER_MODE = 0o700;
/** Names of machines and ids are parts of paths. */
const SAFE_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
const OWN_NAMES: readonly string[] = [
  "machine.json",
  "user-data",
  "commands.sh",
  "machine.log",
  "machine.log.1",
  "completed",
  "bin",
  "pods",
];
/** Every machine has them. */
const FOLDERS = ["etc", "opt", "run", "tmp", "usr/local/bin", "var/lib", "var/log"] as const;
/** Folders of Pods that run as processes; they are deleted with the Pods. */
const PODS = "pods";

export function isMachineName(name: string): boolean {
  return SAFE_NAME.test(name);
}

/** Whether the first folder of a path belongs to Lattice. */
export function isOwnName(name: string): boolean {
  return OWN_NAMES.includes(name);
}

export function machinePaths({ machines }: Pick<ClusterFolder, "machines">, name: string): MachinePaths {
  return machinePathsAt(join(machines, name));
}

export function machinePathsAt(folder: string): MachinePaths {
  const at = (name: string) => join(folder, name);
  return {
    folder,
    record: at("machine.json"),
    userData: at("user-data"),
    script: at("commands.sh"),
    log: at("machine.log"),
    completed: at("completed"),
    programs: at("bin"),
  };
}

/** The record last: a folder without one is no machine. */
export function createMachine(paths: MachinePaths, content: MachineRecord, userData: string): Result<void, string> {
  for (const name of FOLDERS) {
    const made = createFolder(join(paths.folder, name), FOLDER_MODE);
    if (!made.ok) return made;
  }
  const written = writePrivateFile(paths.userData, userData);
  return written.ok ? writeMachine(paths, content) : written;
}

export function writeMachine(paths: MachinePaths, content: MachineRecord): Result<void, string> {
  return writePrivateFile(paths.record, `${JSON.stringify(content)}\n`);
}

export function readUserData({ userData }: MachinePaths): Result<string, string> {
  return fromThrowing(() => readFileSync(userData, "utf8"), describeThrown);
}

export function readMachine(paths: MachinePaths): Result<MachineRecord, string> {
  const text = fromThrowing(() => readFileSync(paths.record, "utf8"), describeThrown);
  if (!text.ok) return text;
  const value = parseJson(text.value);
  const parsed = record.safeParse(value.ok ? value.value : undefined);
  return parsed.success ? ok(parsed.data) : err(`${paths.record} cannot be read`);
}

export function isCompleted({ completed }: MachinePaths): boolean {
  return existsSync(completed);
}

/** The names of folders below `machines` that have a record. */
export function machineNames({ machines }: Pick<ClusterFolder, "machines">): readonly string[] {
  const names = fromThrowing(() => readdirSync(machines), describeThrown);
  return (names.ok ? names.value : []).filter((name) => isMachineName(name) && existsSync(machinePaths({ machines }, name).record));
}

/** Pods that still run keep their files. The record is deleted last: an interrupted deletion can be repeated. */
export async function deleteMachine(paths: MachinePaths): Promise<Result<void, string>> {
  const names = fromThrowing(() => readdirSync(paths.folder), describeThrown);
  const others = (names.ok ? names.value : []).filter((name) => name !== PODS && name !== "machine.json");
  for (const name of [...others, "machine.json"]) {
    const removed = await removeTree(join(paths.folder, name));
    if (!removed.ok) return removed;
  }
  for (const path of [join(paths.folder, PODS), paths.folder]) fromThrowing(() => rmdirSync(path), describeThrown); // only empty ones
  return ok(undefined);
}
