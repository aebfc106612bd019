/** What the control plane and every pool are compiled with: the version of the spec, or what they have until their turn comes. Pure. */
import type { LatticeCluster } from "#crds";
import type { KubeObject } from "#kube";
import type { ClusterContext, ClusterSettingsInput, WorkerPool } from "./input.ts";
import { runningControlPlane, runningPools, templatesInUse } from "./running-versions.ts";
import { stageUpgrade } from "./staged-upgrade.ts";

export type Stage = {
  readonly version: string;
  /** Templates that stay in use; absent: those of the spec. */
  readonly machine?: string | undefined;
  readonly config?: string | undefined;
};

export type Stages = {
  readonly controlPlane: Stage;
  readonly pools: readonly { readonly pool: WorkerPool; readonly stage: Stage }[];
  /** Pools that are created later. */
  readonly later: readonly WorkerPool[];
  readonly progress: string | undefined;
};

export function stagesOf(cluster: LatticeCluster, { version, pools }: ClusterContext, existing: ClusterSettingsInput["existing"]): Stages {
  const running = existing?.controlPlane === undefined ? undefined : runningControlPlane(existing.controlPlane);
  if (existing?.pools === undefined || running === undefined)
    return { controlPlane: { version }, pools: pools.map((pool) => ({ pool, stage: { version } })), later: [], progress: undefined };
  const poolOf = (name: string) => pools.find((pool) => pool.name === name)?.pool ?? `MachineDeployment ${name}`;
  const live = new Map([...runningPools(existing)].map(([name, pool]) => [poolOf(name), pool]));
  const staged = stageUpgrade({ wanted: version, controlPlane: running, declared: pools.map(({ pool }) => pool), pools: live });
  const ofPool = ({ name }: WorkerPool, own: string): Stage => {
    const object = existing.pools?.find(({ metadata }) => metadata.name === name);
    return stageOf(cluster, { wanted: version, staged: own }, { live: object, controlPlane: existing.controlPlane });
  };
  return {
    controlPlane: staged.controlPlane === version ? { version } : { ...usedBy(existing.controlPlane), version: staged.controlPlane },
    pools: pools.flatMap((pool) => {
      const own = staged.pools.get(pool.pool);
      return own === undefined ? [] : [{ pool, stage: ofPool(pool, own) }];
    }),
    later: pools.filter(({ pool }) => !staged.pools.has(pool)),
    progress: staged.progress,
  };
}

type Versions = { readonly wanted: string; readonly staged: string };
type Live = { readonly live: KubeObject | undefined; readonly controlPlane: KubeObject | undefined };

/**
 * A pool that waits keeps its templates. One that goes to the version of the control plane, which is not yet that of the spec, gets the new ones; a node
 * image carries one version, so that it is the one of the control plane then.
 */
function stageOf({ spec }: LatticeCluster, { wanted, staged }: Versions, { live, controlPlane }: Live): Stage {
  if (staged === wanted) return { version: staged };
  const keeps = live !== undefined && runningPools({ pools: [live] }).get(live.metadata.name)?.version === staged;
  if (keeps) return { ...usedBy(live), version: staged };
  return { version: staged, ...(spec.provider.docker?.image === undefined ? {} : { machine: usedBy(controlPlane).machine }) };
}

function usedBy(object: KubeObject | undefined): Omit<Stage, "version"> {
  return object === undefined ? {} : templatesInUse(object);
}
