/** What every controller of the simulator uses, and the queues that they enqueue each other in. */
import { timestamp } from "#base";
import type { KubeObject, ObjectKey, Resource } from "#kube";
import type { KubeControllerContext } from "../context.ts";
import { passOf, type Pass } from "../work.ts";
import { resourceOf, type CapiCaches, type CapiKind } from "./caches.ts";
import type { Children } from "./children.ts";
import { conditionsWith, pausedCondition } from "./conditions.ts";
import type { LocalMachineHost } from "./local-machine-host.ts";
import { flagAt, isPaused, statusOf, type CapiObject } from "./objects.ts";
import { writeStatus } from "./writes.ts";

export type CapiWork = Pick<KubeControllerContext, "client" | "clock" | "random" | "record" | "logger"> & {
  readonly caches: CapiCaches;
  readonly children: Children;
  readonly host: LocalMachineHost | undefined;
};

/** A pass of one kind: its resource and the objects in its cache. */
export type CapiPass = (work: CapiWork, object: CapiObject, cluster: CapiObject | undefined) => Promise<Pass>;

export type CapiPassOptions = {
  readonly kind: CapiKind;
  readonly isInstalled: (caches: CapiCaches) => boolean;
  readonly pass: CapiPass;
};

/** Runs the pass unless its provider is absent or the object is paused; a pause is shown in the conditions and stops deletions, too. */
export async function runCapiPass(work: CapiWork, { kind, isInstalled, pass }: CapiPassOptions, key: ObjectKey): Promise<Pass> {
  const object = work.caches.get(kind, key);
  if (object === undefined || !work.caches.isReduced(kind) || !isInstalled(work.caches)) return { kind: "done" };
  const cluster = work.caches.clusterOf(object);
  if (!isPaused(cluster, object)) return pass(work, object, cluster);
  const paused = pausedCondition(object, flagAt(cluster, "spec", "paused"));
  const conditions = conditionsWith(object, [paused], nowOf(work));
  return passOf(await writeStatus(work.client, resourceOf(kind), object, { ...statusOf(object), conditions }));
}

export const nowOf = ({ clock }: Pick<CapiWork, "clock">): string => timestamp(clock);
export const isOlderThan = (work: CapiWork, time: string | undefined, ms: number): boolean =>
  time !== undefined && work.clock.now() - Date.parse(time) >= ms;

/** An event of an object, as `kubectl describe` shows it. */
export const recordEvent = ({ record }: CapiWork, regarding: KubeObject, reason: string, note: string): void =>
  record({ regarding, type: "Normal", reason, note });

export type CapiResource = Resource<CapiObject>;
