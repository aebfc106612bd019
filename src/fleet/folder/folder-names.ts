/** The names of the files and folders that Lattice writes to the folder of a fleet. Others belong to the user. */
import { readdir } from "node:fs/promises";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import { parseNamespace } from "#kube";

export const MARKER = "lattice-local-cluster";
export const LOCK = "up.lock";
export const SOCKET = "control.sock";
/** The state of a cluster in the older layout. */
export const OLDER_DATA = "data";

const IN_FLEET = [MARKER, SOCKET, OLDER_DATA, "up.json", "fleet.json", "kubeconfig", "clusters"];
const IN_CLUSTER = ["cluster.json", "data", "kubeconfig", "logs", "machines"];
/** Of the lock of a process that was killed while it took it. */
const LOCK_DRAFT = /^up\.lock(-[0-9]+(-dead)?)?$/;
/** Folders of a process that was killed while it replaced a file. */
const FILE_DRAFT = /^\.(lattice-local-cluster|up\.json|fleet\.json|kubeconfig|cluster\.json)-[A-Za-z0-9]{6}$/;

/** A cluster whose machines were removed, while its folder is deleted. */
const REMOVED = /^\.removed-[a-z0-9-]{1,63}-[0-9a-f]{8}$/;

export function removedName(cluster: string, suffix: string): string {
  return `.removed-${cluster}-${suffix}`;
}

export function isRemoved(name: string): boolean {
  return REMOVED.test(name);
}

export function isDraft(name: string): boolean {
  return FILE_DRAFT.test(name) || (name !== LOCK && LOCK_DRAFT.test(name));
}

function isInFleet(name: string): boolean {
  return IN_FLEET.includes(name) || LOCK_DRAFT.test(name) || FILE_DRAFT.test(name);
}

function isInCluster(name: string): boolean {
  return IN_CLUSTER.includes(name) || FILE_DRAFT.test(name);
}

/** Files of the user in the folder of a fleet. */
export function otherFilesIn(path: string): Promise<Result<readonly string[], string>> {
  return namesIn(path, isInFleet);
}

/** Files of the user among the folders of clusters. */
export function otherFilesInClusters(path: string): Promise<Result<readonly string[], string>> {
  return namesIn(path, (name) => parseNamespace(name).ok || isRemoved(name));
}

export function otherFilesInCluster(path: string): Promise<Result<readonly string[], string>> {
  return namesIn(path, isInCluster);
}

async function namesIn(path: string, isOurs: (name: string) => boolean): Promise<Result<readonly string[], string>> {
  const names = await fromPromise(readdir(path), describeThrown);
  return names.ok ? ok(names.value.filter((name) => !isOurs(name))) : err(`${path} cannot be read: ${names.error}`);
}

const SHOWN = 3;

export function listed(names: readonly string[]): string {
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more` : names.join(", ");
}
