/** The status of a DaemonSet: it counts nodes, not Pods. Pure. */
import type { DaemonSetStatus } from "#kube";
import { isPodAvailable, isPodReady } from "../pods/pod-state.ts";
import { omitEmpty } from "../pods/status-update.ts";
import { isUpdated, oldestFirst, templateGeneration } from "./daemon-pods.ts";
import type { DaemonWorld } from "./daemon-plan.ts";
import { eligibility } from "./node-eligibility.ts";

/** `observed`: false while no pass has acted on this generation. */
export function daemonStatus({ set, nodes, pods, hash, now }: DaemonWorld, observed: boolean): DaemonSetStatus {
  const rows = nodes.map((node) => {
    const here = pods.get(node.metadata.name) ?? [];
    return { run: eligibility(set, node).run, pod: oldestFirst(here)[0] };
  });
  const wanted = rows.filter(({ run }) => run);
  const scheduled = wanted.flatMap(({ pod }) => pod ?? []);
  const ready = scheduled.filter(isPodReady);
  const available = ready.filter((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)).length;
  const generation = templateGeneration(set);
  const { collisionCount } = set.status ?? {};
  return {
    currentNumberScheduled: scheduled.length,
    numberMisscheduled: rows.filter(({ run, pod }) => !run && pod !== undefined).length,
    desiredNumberScheduled: wanted.length,
    numberReady: ready.length,
    ...omitEmpty({
      observedGeneration: observed ? set.metadata.generation : set.status?.observedGeneration,
      updatedNumberScheduled: scheduled.filter((pod) => isUpdated(pod, hash, generation)).length,
      numberAvailable: available,
      numberUnavailable: wanted.length - available,
    }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}
