/**
 * The clusters of a `lattice up` on this machine: its fleet.json, and the kubeconfigs beside it. A kubeconfig is used only if it is as safe as the one that
 * commands find by themselves: `local-kubeconfig.ts`.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { clusterFolder, fleetFolder, type FleetFolder } from "#fleet";
import { field, parseJson, parseNamespace } from "#kube";
import type { ClusterFlags } from "../cluster.ts";
import type { CliIo } from "../io.ts";
import { findLocalKubeconfig } from "../local-kubeconfig.ts";
import { MAX_SMALL_FILE, readRegularText } from "../regular-file.ts";

export type LocalCluster = {
  readonly name: string;
  readonly parent?: string | undefined;
  readonly kubeconfig: string;
  readonly state: string;
};

export type LocalFleet = {
  readonly folder: FleetFolder;
  /** The management cluster first. */
  readonly clusters: readonly LocalCluster[];
  /** The cluster of the kubeconfig that the command uses. */
  readonly current: string;
  /** It is the management cluster's, so that all clusters of the fleet are meant. */
  readonly isWhole: boolean;
};

/** Undefined: the command's cluster is not one of a local fleet. */
export async function findLocalFleet(io: CliIo, { kubeconfig, context }: ClusterFlags): Promise<LocalFleet | undefined> {
  const named = kubeconfig ?? (io.env["KUBECONFIG"] === "" ? undefined : io.env["KUBECONFIG"]);
  if (context !== undefined) return undefined;
  if (named !== undefined) return fleetOfKubeconfig(resolve(io.cwd, named));
  const found = await findLocalKubeconfig(io);
  return found.kind === "running" ? fleetOfKubeconfig(found.file) : undefined;
}

/** `DIR/kubeconfig` or `DIR/clusters/NAME/kubeconfig`. */
function fleetOfKubeconfig(path: string): LocalFleet | undefined {
  const [own, above] = [fleetFolder(dirname(path)), fleetFolder(dirname(dirname(dirname(path))))];
  if (path === own.kubeconfig && existsSync(own.state)) return readFleet(own, undefined);
  const name = dirname(path).split("/").at(-1) ?? "";
  return path === clusterFolder(above, name).kubeconfig && existsSync(above.state) ? readFleet(above, name) : undefined;
}

function readFleet(folder: FleetFolder, name: string | undefined): LocalFleet | undefined {
  const text = readRegularText(folder.state, { bytes: MAX_SMALL_FILE });
  const parsed = text.ok ? parseJson(text.value) : text;
  const listed = parsed.ok ? field(parsed.value, "clusters") : undefined;
  const clusters = Array.isArray(listed) ? listed.flatMap((value) => clusterOf(folder, value)) : [];
  const current = name ?? clusters[0]?.name;
  return current === undefined ? undefined : { folder, clusters, current, isWhole: current === clusters[0]?.name };
}

function clusterOf(folder: FleetFolder, value: unknown): readonly LocalCluster[] {
  const [name, parent, state] = ["name", "parent", "state"].map((key) => field(value, key));
  if (typeof name !== "string" || !parseNamespace(name).ok) return [];
  const known = { name, kubeconfig: join(clusterFolder(folder, name).kubeconfig), state: typeof state === "string" ? state : "" };
  return [typeof parent === "string" ? { ...known, parent } : known];
}
