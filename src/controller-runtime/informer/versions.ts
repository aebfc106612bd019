/**
 * Order between resourceVersions. They are opaque unless both are plain integers: Kubernetes now guarantees that those of one
 * kind can be compared, but aggregated API servers may use any text.
 */
export type VersionOrder = "older" | "same" | "newer" | "unknown";

const INTEGER = /^[1-9][0-9]*$/;

/** The order of `version` relative to `reference`. Compared as text: a resourceVersion has 64 bits, and a number would round it. */
export function orderOf(version: string | undefined, reference: string | undefined): VersionOrder {
  if (version === undefined || reference === undefined) return "unknown";
  if (version === reference) return "same";
  if (!INTEGER.test(version) || !INTEGER.test(reference)) return "unknown";
  if (version.length !== reference.length) return version.length < reference.length ? "older" : "newer";
  return version < reference ? "older" : "newer";
}

/** The version to resume from after both were received: the later one if they can be compared, otherwise the last received. */
export function laterOf(seen: string, next: string): string {
  return orderOf(next, seen) === "older" ? seen : next;
}
