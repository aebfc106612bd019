/**
 * Moves the state of the older layout, DIR/data and DIR/kubeconfig, to the folder of the management cluster. Every step is one rename, and data
 * is moved last: a migration that was interrupted continues at the next start.
 */
import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { createFolder } from "#pki";
import type { FleetFolder } from "../fleet-types.ts";
import { OLDER_DATA } from "./folder-names.ts";
import { clusterFolder } from "./layout.ts";

export type MigrationFiles = { readonly rename: (from: string, to: string) => void };

const nodeFiles: MigrationFiles = { rename: renameSync };
const FOLDER_MODE = 0o700;

/** True: state was moved now. */
export function migrateOlderLayout(folder: FleetFolder, cluster: string, files: MigrationFiles = nodeFiles): Result<boolean, string> {
  const from = join(folder.path, OLDER_DATA);
  if (!isFolder(from)) return ok(false);
  const to = clusterFolder(folder, cluster);
  if (isFolder(to.data) && readdirSync(to.data).length > 0)
    return err(`${from} and ${to.data} both contain the state of a cluster; move the one that you do not need out of ${folder.path}`);
  const made = createFolder(to.path, FOLDER_MODE);
  if (!made.ok) return made;
  const moved = fromThrowing(() => {
    if (isFile(folder.kubeconfig)) files.rename(folder.kubeconfig, to.kubeconfig);
    files.rename(from, to.data);
    for (const changed of [folder.path, folder.clusters, to.path]) syncFolder(changed);
  }, describeThrown);
  if (!moved.ok) return err(`the state in ${from} cannot be moved to ${to.data}, and is unchanged: ${moved.error}`);
  return ok(true);
}

function isFolder(path: string): boolean {
  const info = fromThrowing(() => lstatSync(path), describeThrown);
  return info.ok && info.value.isDirectory();
}

function isFile(path: string): boolean {
  const info = fromThrowing(() => lstatSync(path), describeThrown);
  return info.ok && info.value.isFile();
}

/** The renames are on the disk when this returns, where folders can be synchronised. */
function syncFolder(path: string): void {
  fromThrowing(() => {
    const descriptor = openSync(path, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }, describeThrown);
}
