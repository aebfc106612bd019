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
  /** It is made of machines: their bootstrap data is all that is applied to it. */
  readonly bare?: boolean | undefined;
  /** The Kubernetes version that it reports. */
  readonly version?: string | undefined;
  /** It has machines, and no API server yet. */
  readonly provisioning?: boolean | undefined;
  /** Its last control-plane machine was removed: its folder is being deleted. */
  readonly removing?: boolean | undefined;
};

/** A file that is missing or cannot be parsed counts as empty. */
export function readSettings({ settings: path }: ClusterFolder, logger: Logger): ClusterSettings {
  const text = fromThrowing(() => readFileSync(path, "utf8"), describeThrown);
  if (!text.ok) return {};
  const parsed = parseJson(text.value);
  if (!parsed.ok) logger.warn("the settings of a cluster cannot be read; the defaults are used", { path });
  const value = parsed.ok ? parsed.value : undefined;
  const parent = field(value, "parent");
  const version = field(value, "version");
  const isSet = (name: string) => field(value, name) === true || undefined;
  return {
    parent: typeof parent === "string" && parseNamespace(parent).ok ? parent : undefined,
    stopped: field(value, "stopped") === true,
    bare: isSet("bare"),
    version: typeof version === "string" ? version : undefined,
    provisioning: isSet("provisioning"),
    removing: isSet("removing"),
  };
}

export function writeSettings({ settings: path }: ClusterFolder, settings: ClusterSettings): Result<void, string> {
  return writePrivateFile(path, `${JSON.stringify(settings)}\n`);
}

export type KeptCluster = FleetCluster & { readonly settings: ClusterSettings };

/** Clusters that have an API server, or had one. */
export function keptClusters(folder: FleetFolder, logger: Logger): readonly FleetCluster[] {
  return clusterFolders(folder, logger)
    .filter(({ settings: { provisioning, removing } }) => provisioning !== true && removing !== true)
    .map(({ name, parent }) => ({ name, parent }));
}

/** All that have a folder, by name. */
export function clusterFolders({ clusters }: FleetFolder, logger: Logger): readonly KeptCluster[] {
  const names = fromThrowing(() => readdirSync(clusters, { withFileTypes: true }), describeThrown);
  if (!names.ok) return [];
  return names.value
    .filter((entry) => entry.isDirectory() && parseNamespace(entry.name).ok)
    .map(({ name }) => {
      const settings = readSettings(clusterFolderAt(join(clusters, name)), logger);
      return { name, parent: settings.parent, settings };
    })
    .toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}
