/** `spec.upgrade` in the form of Cluster API. */
import { parseDuration } from "#base";
import type { LatticeClusterSpec } from "#crds";
import type { JsonObject } from "#kube";

type Upgrade = LatticeClusterSpec["upgrade"];

/** Cluster API counts in whole seconds; a part of a second counts as one. */
export function drainSeconds(upgrade: Upgrade): number | undefined {
  const parsed = upgrade?.drainTimeout === undefined ? undefined : parseDuration(upgrade.drainTimeout);
  return parsed?.ok === true ? Math.ceil(parsed.value / 1_000) : undefined;
}

export function drainOf(upgrade: Upgrade): JsonObject {
  const seconds = drainSeconds(upgrade);
  return seconds === undefined ? {} : { deletion: { nodeDrainTimeoutSeconds: seconds } };
}

/** One machine more than wanted at a time, so that a rollout makes progress when none may be missing. */
export function rolloutOf(upgrade: Upgrade): JsonObject {
  return { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: upgrade?.maxUnavailable ?? 0 } } };
}
