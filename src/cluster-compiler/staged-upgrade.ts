/**
 * In which order a cluster goes to another version of Kubernetes: the control plane first, then the pools one at a time by name. Pure.
 *
 * A kubelet is never newer than an API server, and at most three minor versions older. A control plane whose next version would leave a pool further
 * behind waits, and the pools go to its current version first.
 */
import { parseKubernetesVersion } from "./versions.ts";

/** The control plane or a pool, as it is. */
export type RunningVersion = {
  /** Of its spec. */
  readonly version: string;
  /** Of its oldest machine; absent: it has no machine yet, or none any more. */
  readonly oldest?: string | undefined;
  /** Its machines are those of its spec, and all of them are available. */
  readonly complete: boolean;
};

export type UpgradeView = {
  /** With a leading "v", like all versions here. */
  readonly wanted: string;
  /** Absent: the cluster is new. */
  readonly controlPlane: RunningVersion | undefined;
  /** Pools of the spec. */
  readonly declared: readonly string[];
  /** Pools that exist, also those that the spec has no longer. */
  readonly pools: ReadonlyMap<string, RunningVersion>;
};

export type StagedUpgrade = {
  readonly controlPlane: string;
  /** By pool. A pool that is missing here is created later. */
  readonly pools: ReadonlyMap<string, string>;
  /** What happens now and what waits for it; undefined: everything has the wanted version. */
  readonly progress: string | undefined;
};

/** Minor versions that a kubelet may be older than an API server, since Kubernetes 1.28. */
const MOST_SKEW = 3;

export function stageUpgrade(view: UpgradeView): StagedUpgrade {
  const { wanted, controlPlane, declared, pools } = view;
  if (controlPlane === undefined)
    return { controlPlane: wanted, pools: new Map(declared.map((pool) => [pool, wanted])), progress: undefined };
  const target = targetOf(view, controlPlane);
  const runsTarget = controlPlane.version === target && (controlPlane.oldest ?? target) === target;
  const existing = declared.filter((pool) => pools.has(pool)).toSorted();
  const behind = existing.filter((pool) => pools.get(pool)?.version !== target);
  const busy = existing.filter((pool) => !behind.includes(pool) && pools.get(pool)?.complete !== true);
  const rolling = existing.filter((pool) => !behind.includes(pool) && (pools.get(pool)?.oldest ?? target) !== target);
  const next = runsTarget && controlPlane.complete && busy.length === 0 ? behind[0] : undefined;
  const versions = declared.flatMap((pool): (readonly [string, string])[] => {
    const running = pools.get(pool);
    if (running === undefined) return runsTarget ? [[pool, target]] : [];
    return [[pool, pool === next ? target : running.version]];
  });
  const progress = progressOf({
    wanted,
    target,
    runsTarget,
    behind,
    busy,
    rolling: next === undefined ? rolling : [next],
    later: declared.filter((pool) => !pools.has(pool)),
  });
  return { controlPlane: target, pools: new Map(versions), progress };
}

/** The wanted version, or the current one as long as a worker is too old for the wanted one. */
function targetOf({ wanted, pools }: UpgradeView, { version }: RunningVersion): string {
  const workers = [...pools.values()].flatMap((pool) => [pool.version, pool.oldest ?? pool.version]).map(minorOf);
  return minorOf(wanted) - Math.min(minorOf(wanted), ...workers) > MOST_SKEW ? version : wanted;
}

type Stage = {
  readonly wanted: string;
  readonly target: string;
  readonly runsTarget: boolean;
  readonly behind: readonly string[];
  readonly busy: readonly string[];
  /** Their machines are being replaced, or are from now on. */
  readonly rolling: readonly string[];
  readonly later: readonly string[];
};

function progressOf({ wanted, target, runsTarget, behind, busy, rolling, later }: Stage): string | undefined {
  if (wanted === target && runsTarget && behind.length === 0 && rolling.length === 0) return undefined;
  const now = !runsTarget
    ? `the control plane is being upgraded to ${target}`
    : rolling.length > 0
      ? `${poolsText(rolling)} ${rolling.length === 1 ? "is" : "are"} being upgraded to ${target}`
      : busy.length > 0
        ? `waiting for ${poolsText(busy)} to be complete`
        : behind.length > 0
          ? "waiting for the control plane to be complete"
          : undefined;
  const waiting = [...behind.filter((pool) => !rolling.includes(pool)), ...(runsTarget ? [] : later)];
  const after = `the control plane goes to ${wanted} when no worker is more than ${MOST_SKEW} minor versions older`;
  const then = [waiting.length === 0 ? undefined : `${poolsText(waiting)} next`, wanted === target ? undefined : after];
  return [now, ...then].filter((part) => part !== undefined).join("; ");
}

function poolsText(pools: readonly string[]): string {
  return `${pools.length === 1 ? "pool" : "pools"} ${pools.join(", ")}`;
}

/** A version that cannot be read does not hold anything back. */
function minorOf(version: string): number {
  const parsed = parseKubernetesVersion(version);
  return parsed.ok ? parsed.value.minor : Number.POSITIVE_INFINITY;
}
