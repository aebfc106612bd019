/** Which fleet a folder contains. Reads only: a command refuses the fleet of another one before it writes anything. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, fromThrowing, map, type Result } from "#base";
import { parseNamespace } from "#kube";
import type { FleetFolder } from "../fleet-types.ts";
import { OLDER_DATA } from "./folder-names.ts";
import { clusterFolder } from "./layout.ts";
import { readMarker, type FleetFolderContent } from "./marker.ts";

export type FoundFleet = {
  readonly content: FleetFolderContent;
  /** The name of the management cluster; without meaning for a new fleet. */
  readonly management: string;
  /** Names of clusters that have a folder. */
  readonly clusters: readonly string[];
  /** No cluster of it has state. */
  readonly isNew: boolean;
};

/** An error for a folder with a marker that cannot be used. A folder that does not exist has a new fleet. */
export function findFleet(folder: FleetFolder): Result<FoundFleet, string> {
  return map(readMarker(folder.path), ({ content, management }) => {
    const names = fromThrowing(() => readdirSync(folder.clusters), describeThrown);
    const clusters = names.ok ? names.value.filter((name) => parseNamespace(name).ok) : [];
    const isOlder = isFolder(join(folder.path, OLDER_DATA));
    const isUsed = isMade(content) || isOlder || clusters.some((name) => isFolder(clusterFolder(folder, name).data));
    return { content, management, clusters, isNew: !isUsed };
  });
}

/** Its clusters are deleted, or were not made yet. */
export function isEmptyInstallation({ content, clusters }: FoundFleet): boolean {
  return content === "installed" && clusters.length === 0;
}

/** Its clusters are made of machines, and the management cluster may not exist yet. */
function isMade(content: FleetFolderContent): boolean {
  return content === "laptop" || content === "installed";
}

function isFolder(path: string): boolean {
  const info = fromThrowing(() => lstatSync(path), describeThrown);
  return info.ok && info.value.isDirectory();
}
