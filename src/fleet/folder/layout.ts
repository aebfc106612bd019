/** The paths of a fleet's folder: `DIR/{up.json, fleet.json, kubeconfig, clusters/NAME/{cluster.json, data, kubeconfig, logs, machines}}`. */
import { join } from "node:path";
import type { ClusterFolder, FleetFolder } from "../fleet-types.ts";

export function fleetFolder(path: string): FleetFolder {
  return {
    path,
    record: join(path, "up.json"),
    state: join(path, "fleet.json"),
    kubeconfig: join(path, "kubeconfig"),
    clusters: join(path, "clusters"),
  };
}

export function clusterFolder({ clusters }: Pick<FleetFolder, "clusters">, name: string): ClusterFolder {
  return clusterFolderAt(join(clusters, name));
}

export function clusterFolderAt(path: string): ClusterFolder {
  return {
    path,
    settings: join(path, "cluster.json"),
    data: join(path, "data"),
    kubeconfig: join(path, "kubeconfig"),
    logs: join(path, "logs"),
    machines: join(path, "machines"),
  };
}
