/** `lattice down --purge`: deletes what Lattice wrote to a folder, and the folder. Nothing is deleted if it has files of the user. */
import { lstat, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import type { FleetFolder } from "../fleet-types.ts";
import { listed, MARKER, otherFilesIn, otherFilesInCluster, otherFilesInClusters } from "./folder-names.ts";
import { readMarker } from "./marker.ts";
import { removeTree } from "./remove-tree.ts";

/** The caller has ended the processes of the folder. */
export async function purgeFolder(folder: FleetFolder): Promise<Result<"deleted" | "absent", string>> {
  const { path } = folder;
  const there = await fromPromise(lstat(path), describeThrown);
  if (!there.ok) return ok("absent");
  if (!there.value.isDirectory()) return err(`${path} is not a folder, and is not deleted`);
  const marker = readMarker(path);
  if (!marker.ok) return marker;
  if (marker.value.kind === "absent") return err(`${path} has no marker file of a local cluster of Lattice, and is not deleted`);
  const others = await otherFiles(folder);
  if (!others.ok) return others;
  if (others.value.length > 0) return err(`${path} contains other files (${listed(others.value)}), and is not deleted`);
  const deleted = await deleteContent(path);
  return deleted.ok ? ok("deleted") : err(`${path} cannot be deleted: ${deleted.error}`);
}

/** Of the user, in the folders where Lattice knows every name. Paths are relative to the folder. */
async function otherFiles({ path, clusters }: FleetFolder): Promise<Result<readonly string[], string>> {
  const top = await otherFilesIn(path);
  if (!top.ok) return top;
  const info = await fromPromise(lstat(clusters), describeThrown);
  if (!info.ok || !info.value.isDirectory()) return top;
  const among = await otherFilesInClusters(clusters);
  if (!among.ok) return among;
  const found = [...top.value, ...among.value.map((name) => join("clusters", name))];
  for (const entry of await readdir(clusters, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const inside = await otherFilesInCluster(join(clusters, entry.name));
    if (!inside.ok) return inside;
    found.push(...inside.value.map((name) => join("clusters", entry.name, name)));
  }
  return ok(found);
}

/** The marker is deleted last: an interrupted purge can be repeated. */
async function deleteContent(path: string): Promise<Result<void, string>> {
  const names = await fromPromise(readdir(path), describeThrown);
  if (!names.ok) return names;
  for (const name of [...names.value.filter((one) => one !== MARKER), MARKER]) {
    const removed = await removeTree(join(path, name));
    if (!removed.ok) return removed;
  }
  return fromPromise(rmdir(path), describeThrown);
}
