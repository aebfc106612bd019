/**
 * The spec of a cluster that owns itself, in its parent: a copy of the child's. Pure.
 *
 * The annotation has the digest of the child's spec that was copied and, where the parent stores it differently (another version of the schema), the
 * digest of what is stored. A spec that differs from both is an edit of a user, which neither side applies.
 */
import { sha256Hex } from "#base";
import type { LatticeCluster } from "#crds";
import { canonicalJson } from "#kube";

export const MIRROR_ANNOTATION = "lattice.dev/mirrored-spec";

/** As agents report it. */
export function specDigest({ spec }: Pick<LatticeCluster, "spec">): string {
  return sha256Hex(canonicalJson(spec));
}

export type SpecMirror = "current" | "outdated" | "edited";

/** `reported`: the digest that the agent reports; undefined: none yet. */
export function specMirrorOf(cluster: Pick<LatticeCluster, "metadata" | "spec">, reported: string | undefined): SpecMirror {
  const [copied, stored = copied] = (cluster.metadata.annotations?.[MIRROR_ANNOTATION] ?? "").split(" ");
  if (copied === "" || copied === undefined) return "outdated";
  if (specDigest(cluster) !== stored) return "edited";
  return reported === undefined || reported === copied ? "current" : "outdated";
}

export function mirrorAnnotation(copied: string, stored: string): string {
  return copied === stored ? copied : `${copied} ${stored}`;
}
