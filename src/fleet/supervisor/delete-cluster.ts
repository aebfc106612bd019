/** Deletes the folder of a cluster. It is renamed first: a deletion that was interrupted leaves nothing that looks like a cluster. */
import { randomBytes } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, fromThrowing, ok, type Result } from "#base";
import type { FleetFolder } from "../fleet-types.ts";
import { removedName } from "../folder/folder-names.ts";
import { removeTree } from "../folder/remove-tree.ts";

/** The processes of the cluster have ended. */
export async function deleteClusterFolder({ clusters }: FleetFolder, cluster: string): Promise<Result<void, string>> {
  const [from, to] = [join(clusters, cluster), join(clusters, removedName(cluster, randomBytes(4).toString("hex")))];
  if (!existsSync(from)) return ok(undefined);
  const renamed = fromThrowing(() => renameSync(from, to), describeThrown);
  return renamed.ok ? removeTree(to) : renamed;
}
