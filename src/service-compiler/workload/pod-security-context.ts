/**
 * The security context of the pod: its user and groups.
 *
 * Processes are not root by default, and files of ConfigMaps and Secrets belong to root. With an fsGroup the kubelet gives them, and volumes
 * of claims, to that group and makes them readable for it: a file of mode 0400 is then 0440.
 */
import type { LatticeServiceSpec } from "#crds";
import type { JsonObject } from "#kube";
import type { RenderedContainer } from "../rendering/render-service.ts";

/** The same for all services, so that a shared claim has one group. It is the group `nonroot` of distroless images. */
const FS_GROUP = 65_532;

const OTHERS_READ = 0o004;
const OWNER_EXECUTES = 0o100;
const GROUP_EXECUTES = 0o010;

export type VolumeUse = { readonly containers: readonly RenderedContainer[]; readonly claims: ReadonlySet<string> };

/** undefined: the pod needs no security context. */
export function podSecurityContext(given: LatticeServiceSpec["securityContext"], use: VolumeUse): JsonObject | undefined {
  const context = { ...(needsGroup(use) ? { fsGroup: FS_GROUP, fsGroupChangePolicy: "OnRootMismatch" } : {}), ...given };
  return Object.keys(context).length === 0 ? undefined : context;
}

function needsGroup({ containers, claims }: VolumeUse): boolean {
  return claims.size > 0 || containers.some(({ files }) => [...files.values()].some(({ mode }) => isPrivate(mode)));
}

function isPrivate(mode: number): boolean {
  return (mode & OTHERS_READ) === 0;
}

/** The kubelet makes private files readable for the group; execute permission must be in the mode. */
export function groupMode(mode: number): number {
  return isPrivate(mode) && (mode & OWNER_EXECUTES) !== 0 ? mode | GROUP_EXECUTES : mode;
}
