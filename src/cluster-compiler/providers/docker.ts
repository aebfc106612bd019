/**
 * Provider `docker`: the Dev* kinds of Cluster API, with machines that are containers, or simulated ones in the provider's memory.
 *
 * The annotation on the DevCluster is needed: version 1.14 of its provider panics on a DevCluster without annotations.
 */
import type { LatticeCluster } from "#crds";
import { devClusters, devMachineTemplates, type JsonObject } from "#kube";
import type { ClusterContext, ClusterSettingsInput } from "../input.ts";
import { clusterObject } from "../objects.ts";
import { UNREACHABLE_ENDPOINT, type MachineRole, type ProviderParts } from "./provider.ts";

/** Chooses the backend: `docker` (the default) or `inMemory`. */
export const BACKEND_ANNOTATION = "lattice.dev/backend";
/** Annotations of a LatticeCluster that its objects are compiled from, as from its spec. */
export const COMPILED_ANNOTATIONS: readonly string[] = [BACKEND_ANNOTATION];
export type DockerBackend = "docker" | "inMemory";

export function dockerBackend({ metadata }: Pick<LatticeCluster, "metadata">): DockerBackend {
  return metadata.annotations?.[BACKEND_ANNOTATION] === "inMemory" ? "inMemory" : "docker";
}

export function dockerParts(cluster: LatticeCluster, context: ClusterContext, settings: ClusterSettingsInput): ProviderParts {
  const backend = dockerBackend(cluster);
  const image = cluster.spec.provider.docker?.image;
  const object = clusterObject(devClusters, context, {
    name: context.name,
    annotations: { [BACKEND_ANNOTATION]: backend },
    spec: { backend: { [backend]: {} } },
  });
  return {
    credentials: [],
    infrastructure: { resource: devClusters, object },
    ...(backend === "inMemory" ? { endpoint: settings.controlPlaneEndpoint ?? UNREACHABLE_ENDPOINT } : {}),
    machines: devMachineTemplates,
    machineTemplate: (role) => ({ template: { spec: { backend: backend === "inMemory" ? inMemory(role) : inDocker(image) } } }),
    registration: {
      fields: { criSocket: "unix:///var/run/containerd/containerd.sock" },
      // the disk of a container is the disk of the host, which is often nearly full
      kubeletArgs: { "eviction-hard": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%" },
    },
    externalCloudProvider: false,
  };
}

function inDocker(image: string | undefined): JsonObject {
  return { docker: image === undefined ? {} : { customImage: image } };
}

function inMemory({ role }: MachineRole): JsonObject {
  const soon = { provisioning: { startupDuration: "1s" } };
  return { inMemory: { vm: soon, node: soon, ...(role === "control-plane" ? { apiServer: soon, etcd: soon } : {}) } };
}
