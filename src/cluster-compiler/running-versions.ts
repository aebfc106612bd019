/** Versions of a control plane and of pools, as Cluster API objects have them. Pure. */
import { field, fieldAt, type KubeObject } from "#kube";
import type { ClusterSettingsInput } from "./input.ts";
import type { RunningVersion } from "./staged-upgrade.ts";
import { compareVersionTexts } from "./versions.ts";

const DEPLOYMENT_LABEL = "cluster.x-k8s.io/deployment-name";
const COUNTS = ["replicas", "upToDateReplicas", "availableReplicas"] as const;

/** `status.version` is that of the oldest machine. */
export function runningControlPlane(controlPlane: KubeObject): RunningVersion | undefined {
  const version = textAt(controlPlane, "spec", "version");
  if (version === undefined) return undefined;
  const oldest = textAt(controlPlane, "status", "version");
  return { version, oldest, complete: oldest === version && isSettled(controlPlane) };
}

/** By name of the MachineDeployment. */
export function runningPools({
  pools = [],
  machines = [],
}: NonNullable<ClusterSettingsInput["existing"]>): ReadonlyMap<string, RunningVersion> {
  return new Map(
    pools.flatMap((pool) => {
      const version = textAt(pool, "spec", "template", "spec", "version");
      return version === undefined ? [] : [[pool.metadata.name, runningPool(pool, version, machines)] as const];
    }),
  );
}

function runningPool(pool: KubeObject, version: string, machines: readonly KubeObject[]): RunningVersion {
  const versions = machines
    .filter(({ metadata }) => metadata.labels?.[DEPLOYMENT_LABEL] === pool.metadata.name)
    .flatMap((machine) => textAt(machine, "spec", "version") ?? [])
    .toSorted(compareVersionTexts);
  const isUniform = versions.every((one) => one === version);
  const isWhole = versions.length === fieldAt(pool, "spec", "replicas");
  return { version, oldest: versions[0], complete: isUniform && isWhole && isSettled(pool) };
}

/** Its controller has seen the last change, and has nothing left to do. */
function isSettled(object: KubeObject): boolean {
  const wanted = fieldAt(object, "spec", "replicas");
  const seen = fieldAt(object, "status", "observedGeneration");
  const isSeen = object.metadata.generation === undefined || (typeof seen === "number" && seen >= object.metadata.generation);
  return isSeen && COUNTS.every((name) => (fieldAt(object, "status", name) ?? 0) === wanted);
}

/** Names of the templates that a MachineDeployment or a KubeadmControlPlane uses. */
export function templatesInUse(object: KubeObject): { readonly machine: string | undefined; readonly config: string | undefined } {
  const spec = fieldAt(object, "spec", "template", "spec") ?? fieldAt(object, "spec", "machineTemplate", "spec");
  return {
    machine: textAt(field(spec, "infrastructureRef"), "name"),
    config: textAt(field(field(spec, "bootstrap"), "configRef"), "name"),
  };
}

function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = fieldAt(object, ...path);
  return typeof value === "string" && value !== "" ? value : undefined;
}
