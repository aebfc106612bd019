/**
 * Versions of Kubernetes: which ones Cluster API supports, and from which one a cluster may go to which.
 *
 * kubeadm upgrades by one minor version at a time and never back. It would refuse such a change too, but on the first machine of the rollout.
 */
import { err, ok, type Result } from "#base";
import type { ClusterSpecError } from "./errors.ts";

export type KubernetesVersion = {
  /** As Cluster API wants it: with a leading "v". */
  readonly text: string;
  readonly minor: number;
  readonly patch: number;
  /** Such as "rc.1"; empty for a release. */
  readonly prerelease: string;
};

/** Workload clusters that Cluster API v1.14 supports. */
const OLDEST_MINOR = 31;
const NEWEST_MINOR = 37;

const VERSION_PATH = "spec.provider.kubernetes.version";
const VERSION = /^v?1\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

export function parseKubernetesVersion(text: string): Result<KubernetesVersion, ClusterSpecError> {
  const [whole, minor, patch, prerelease = ""] = VERSION.exec(text) ?? [];
  if (whole === undefined || minor === undefined || patch === undefined) {
    const message = 'must be a whole version of Kubernetes without leading zeros, such as "1.36.3"';
    return err({ reason: "VersionInvalid", path: VERSION_PATH, message });
  }
  return ok({ text: whole.startsWith("v") ? whole : `v${whole}`, minor: Number(minor), patch: Number(patch), prerelease });
}

export function checkSupported({ minor, text }: KubernetesVersion): readonly ClusterSpecError[] {
  if (minor >= OLDEST_MINOR && minor <= NEWEST_MINOR) return [];
  const range = `1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}`;
  const message = `${text} is not supported by Cluster API v1.14; choose a version from ${range}`;
  return [{ reason: "VersionUnsupported", path: VERSION_PATH, message }];
}

/**
 * Whether a cluster that runs `from` may be given `to`.
 *
 * @example checkVersionChange("v1.35.2", "1.36.0") // ok
 */
export function checkVersionChange(from: string, to: string): Result<void, ClusterSpecError> {
  const [before, after] = [parseKubernetesVersion(from), parseKubernetesVersion(to)];
  if (!before.ok) return before;
  if (!after.ok) return after;
  if (compareVersions(after.value, before.value) < 0) {
    const message = `cannot go back from ${before.value.text} to ${after.value.text}: kubeadm does not downgrade; keep ${before.value.text} or choose a newer version`;
    return err({ reason: "VersionDowngrade", path: VERSION_PATH, message });
  }
  const next = before.value.minor + 1;
  if (after.value.minor <= next) return ok(undefined);
  const message = `cannot skip from ${before.value.text} to ${after.value.text}: kubeadm upgrades one minor version at a time; upgrade to 1.${next} first`;
  return err({ reason: "VersionSkipped", path: VERSION_PATH, message });
}

/** Oldest first; texts that are no versions last. */
export function compareVersionTexts(a: string, b: string): number {
  const [left, right] = [parseKubernetesVersion(a), parseKubernetesVersion(b)];
  if (left.ok && right.ok) return compareVersions(left.value, right.value);
  return Number(right.ok) - Number(left.ok);
}

function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.minor - b.minor || a.patch - b.patch || comparePrereleases(a.prerelease, b.prerelease);
}

/** As semantic versioning: a release is newer than its prereleases; numbers are compared as numbers and are older than text. */
function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1;
  const [left, right] = [a.split("."), b.split(".")];
  for (const [at, part] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (part !== other) return compareParts(part, other);
  }
  return -1;
}

function compareParts(a: string, b: string): number {
  const [left, right] = [isNumber(a), isNumber(b)];
  if (left && right) return Number(a) - Number(b);
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : 1;
}

function isNumber(text: string): boolean {
  return /^[0-9]+$/.test(text);
}
