/**
 * The files of Pods that run as processes: `machines/NODE/pods/UID/{kubeconfig, token, volumes/NAME}`, and their logs. Only their owner can
 * read them.
 *
 * The folder of a Pod exists as long as its object: it also tells, after a restart, which Pods run as processes.
 */
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, err, fromThrowing, ok, reveal, type Result, type Sensitive } from "#base";
import { formatYaml, type Pod } from "#kube";
import { containerLogFolder, podLogFolder } from "#kube-controllers";
import { createFolder, writePrivateFile } from "#pki";
import type { ClusterFolder } from "../fleet-types.ts";

export type PodPaths = {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly token: string;
  readonly volumes: string;
  /** Of its only container. */
  readonly logs: string;
};

export type ServerAddress = { readonly url: string; readonly certificateAuthority?: string | undefined };

const FOLDER_MODE = 0o700;
/** uids and names of nodes are parts of paths. */
const SAFE_NAME = /^[A-Za-z0-9](?:[-.A-Za-z0-9]{0,251}[A-Za-z0-9])?$/;

export function podPaths({ machines, logs }: ClusterFolder, pod: Pod): Result<PodPaths, string> {
  const { uid = "" } = pod.metadata;
  const { nodeName = "" } = pod.spec;
  if (!SAFE_NAME.test(uid) || !SAFE_NAME.test(nodeName)) return err("the uid or the node of the Pod cannot be the name of a folder");
  const folder = join(machines, nodeName, "pods", uid);
  const container = containerLogFolder(podLogFolder(logs, pod.metadata), pod.spec.containers[0]?.name ?? "");
  return ok({
    folder,
    kubeconfig: join(folder, "kubeconfig"),
    token: join(folder, "token"),
    volumes: join(folder, "volumes"),
    logs: container,
  });
}

export function createPodFolders({ folder, volumes }: PodPaths, names: readonly string[]): Result<void, string> {
  for (const path of [folder, volumes, ...names.map((name) => join(volumes, name))]) {
    const made = createFolder(path, FOLDER_MODE);
    if (!made.ok) return made;
  }
  return ok(undefined);
}

export function writeToken({ token: path }: PodPaths, token: Sensitive<string>): Result<void, string> {
  return writePrivateFile(path, `${reveal(token)}\n`);
}

/** Without a token in it: the token is renewed in its file. */
export function podKubeconfig({ token }: PodPaths, { url, certificateAuthority }: ServerAddress, namespace: string): string {
  const trust = certificateAuthority === undefined ? {} : { "certificate-authority-data": btoa(certificateAuthority) };
  return formatYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "pod",
    clusters: [{ name: "pod", cluster: { server: url, ...trust } }],
    users: [{ name: "pod", user: { tokenFile: token } }],
    contexts: [{ name: "pod", context: { cluster: "pod", user: "pod", namespace } }],
  });
}

/** The uids of Pods that have a folder. */
export function podsWithFolders({ machines }: ClusterFolder): ReadonlySet<string> {
  return new Set(namesIn(machines).flatMap((node) => namesIn(join(machines, node, "pods"))));
}

/** Deletes the folder and the logs of a Pod. */
export function removePodFiles({ machines, logs }: ClusterFolder, uid: string): Result<void, string> {
  if (!SAFE_NAME.test(uid)) return ok(undefined);
  const folders = [
    ...namesIn(machines).map((node) => join(machines, node, "pods", uid)),
    ...namesIn(join(logs, "pods"))
      .filter((name) => name.endsWith(`_${uid}`))
      .map((name) => join(logs, "pods", name)),
  ];
  const removed = fromThrowing(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })), describeThrown);
  // only empty ones: those of a node that is gone
  const parents = namesIn(machines).flatMap((node) => [join(machines, node, "pods"), join(machines, node)]);
  for (const parent of parents) fromThrowing(() => rmdirSync(parent), describeThrown);
  return removed;
}

function namesIn(folder: string): readonly string[] {
  const names = fromThrowing(() => readdirSync(folder), describeThrown);
  return names.ok ? names.value : [];
}
