/**
 * clusters/NAME/cluster.json: what the next `lattice up` needs to know of a cluster. The folders below clusters/ are the list of clusters;
 * fleet.json is only output.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, fromThrowing, type Logger, type Result } from "#base";
import { field, parseJson, parseNamespace } from "#kube";
import { writePrivateFile } from "#pki";
import type { ClusterFolder, FleetCluster, FleetFolder } from "../fleet-types.ts";
import { clusterFolderAt } from "../folder/layout.ts";

export type ClusterSettings = {
  readonly parent?: string | undefined;
  /** A user stopped it; it stays stopped. */
  readonly stopped?: boolean | undefined;
};

/** A file that is missing or cannot be parsed counts as empty. */
export function readSettings({ settings: path }: ClusterFolder, logger: Logger): ClusterSettings {
  const text = fromThrowing(() => readFileSync(path, "utf8"), describeThrown);
  if (!text.ok) return {};
  const parsed = parseJson(text.value);
  if (!parsed.ok) logger.warn("the settings of a cluster cannot be read; the defaults are used", { path });
  const value = parsed.ok ? parsed.value : undefined;
  const parent = field(value, "parent");
  return {
    parent: typeof parent === "string" && parseNamespace(parent).ok ? parent : undefined,
    stopped: field(value, "stopped") === true,
  };
}

export function writeSettings({ settings: path }: ClusterFolder, settings: ClusterSettings): Result<void, string> {
  return writePrivateFile(path, `${JSON.stringify(settings)}\n`);
}

/** Clusters that have a folder, by name. */
export function keptClusters({ clusters }: FleetFolder, logger: Logger): readonly FleetCluster[] {
  const names = fromThrowing(() => readdirSync(clusters, { withFileTypes: true }), describeThrown);
  if (!names.ok) return [];
  return names.value
    .filter((entry) => entry.isDirectory() && parseNamespace(entry.name).ok)
    .map(({ name }) => ({ name, parent: readSettings(clusterFolderAt(join(clusters, name)), logger).parent }))
    .toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}
