/** Starts the fleet of a folder: the requested clusters, and those that it has from before. */
import { join } from "node:path";
import { err, ok, type Result } from "#base";
import { parseNamespace } from "#kube";
import { createFolder } from "#pki";
import type { ClusterFolder, Fleet, FleetCluster, FleetOptions, StartFleet } from "../fleet-types.ts";
import { clusterFolder } from "../folder/layout.ts";
import { allowedEnvironment } from "../processes/environment.ts";
import { spawnNodeProcess, type SpawnProcess } from "../processes/spawn.ts";
import { ClusterKeeper, type ClusterKeeperOptions } from "./cluster-keeper.ts";
import { keptClusters, readSettings, writeSettings } from "./cluster-settings.ts";
import { Supervisor, type OpenCluster } from "./supervisor.ts";

const FOLDER_MODE = 0o700;
/** Each one needs about 200 MB of memory. */
const MAX_CLUSTERS = 50;
/**
 * - Node reserves three times the first size for new objects, 16 MB by default: a quarter of the memory of an API server that is idle.
 * - It also collects all objects again and again when a process is idle, which took a third of the CPU time of an idle fleet and freed little.
 */
const NODE_FLAGS = ["--max-semi-space-size=4", "--no-memory-reducer"] as const;

export const startFleet: StartFleet = (options) => Promise.resolve(openFleet(options, spawnNodeProcess));

export function openFleet(options: FleetOptions, spawn: SpawnProcess): Result<Fleet, string> {
  const clusters = allClusters(options);
  if (!clusters.ok) return clusters;
  const program = { ...options.program, args: [...NODE_FLAGS, ...options.program.args] };
  const env = environmentOf(options.env);
  const prepare = (folder: ClusterFolder) => prepareFolders(folder);
  const open: OpenCluster = (cluster, ports) => openCluster({ ...options, program }, { cluster, spawn, env, ...ports });
  const supervisor = new Supervisor({ ...options, maxClusters: MAX_CLUSTERS, program, env, spawn, prepare, open });
  for (const cluster of clusters.value) {
    const added = supervisor.open(cluster);
    if (!added.ok) return added;
  }
  supervisor.begin();
  return ok(supervisor);
}

/** The requested ones first; a cluster of the folder keeps its parent. */
function allClusters({ clusters, folder, logger }: FleetOptions): Result<readonly FleetCluster[], string> {
  const all = new Map<string, FleetCluster>();
  for (const cluster of [...clusters, ...keptClusters(folder, logger)]) {
    const named = parseNamespace(cluster.name);
    if (!named.ok) return err(`"${cluster.name}" cannot be the name of a cluster: ${named.error}`);
    if (!all.has(cluster.name)) all.set(cluster.name, cluster);
  }
  if (all.size > MAX_CLUSTERS)
    return err(`the fleet of ${folder.path} has ${all.size} clusters; at most ${MAX_CLUSTERS} run on one machine`);
  return ok([...all.values()]);
}

function prepareFolders(folder: ClusterFolder): Result<void, string> {
  for (const path of [folder.path, folder.data, folder.logs, folder.machines]) {
    const made = createFolder(path, FOLDER_MODE);
    if (!made.ok) return made;
  }
  return ok(undefined);
}

type NewCluster = Pick<ClusterKeeperOptions, "cluster" | "spawn" | "env" | "machines" | "onChange">;

function openCluster(options: FleetOptions, parts: NewCluster): Result<ClusterKeeper, string> {
  const { program, repair, clock, logger } = options;
  const { cluster } = parts;
  const folder = clusterFolder(options.folder, cluster.name);
  const made = prepareFolders(folder);
  if (!made.ok) return made;
  const settings = readSettings(folder, logger);
  const { stopped = false, bare = false, version } = settings;
  const written = writeSettings(folder, { ...settings, parent: cluster.parent, stopped });
  if (!written.ok) return written;
  const keeper = { ...parts, folder, program, repair, clock, logger: logger.with({ cluster: cluster.name }) };
  return ok(new ClusterKeeper({ ...keeper, stopped, bare, version }));
}

/** Processes of Pods have a HOME of their own; the cache of compiled modules is the user's. */
function environmentOf(env: FleetOptions["env"]): Readonly<Record<string, string>> {
  const allowed = allowedEnvironment(env);
  const home = allowed["XDG_CACHE_HOME"] ?? (allowed["HOME"] === undefined ? undefined : join(allowed["HOME"], ".cache"));
  return home === undefined ? allowed : { LATTICE_CACHE: join(home, "lattice"), ...allowed };
}
