/**
 * Unpauses the Cluster of a namespace at its owner when the move that has brought it did not end: its mover, at the source, may be gone for good. It may run at
 * the same time as the mover, which then finds the Cluster unpaused.
 *
 * A note on the Cluster, in the same write, makes it happen once: the record stays unfinished without its mover, and a person may pause the Cluster later.
 */
import { ok } from "#base";
import { capiClusters, configMaps, secretsByMetadata, type Json, type KubeObject, type ObjectKey } from "#kube";
import type { ClientResult, KubeClient, KubeErrorKind } from "#kube-client";
import { MOVE_MANAGER, RESUMED_ANNOTATION } from "../graph/names.ts";
import { moveToResume, ownershipOf } from "../journal/owner.ts";
import { HEAD_NAME, RECORD_NAME } from "../journal/records.ts";
import { isPaused, pausePatch } from "../plan/content.ts";
import { versionOf } from "./api-side.ts";

export type ResumeOptions = {
  readonly client: Pick<KubeClient, "get" | "patch">;
  readonly namespace: string;
  /** Of the Cluster. */
  readonly name: string;
  readonly signal: AbortSignal;
};

/** Of a patch of an object that has changed since it was read, is gone, or is another one. */
const CHANGED: ReadonlySet<KubeErrorKind> = new Set(["conflict", "not-found", "invalid"]);

/** False: the Cluster has changed meanwhile, so nothing was written; try again. */
export async function resumeOwned({ client, namespace, name, signal }: ResumeOptions): ClientResult<boolean> {
  const key: ObjectKey = { namespace, name };
  // before the traces: a move away that begins after they were read pauses the Cluster, and the patch names the version from before
  const cluster = await client.get<KubeObject>(capiClusters, key, { signal });
  if (!cluster.ok) return cluster.error.kind === "not-found" ? ok(true) : cluster;
  const record = await client.get<KubeObject>(configMaps, { namespace, name: RECORD_NAME }, { signal });
  if (!record.ok && record.error.kind !== "not-found") return record;
  const journal = await client.get<KubeObject>(secretsByMetadata, { namespace, name: HEAD_NAME }, { signal });
  if (!journal.ok && journal.error.kind !== "not-found") return journal;
  const ownership = ownershipOf({ record: record.ok ? record.value : undefined, hasJournal: journal.ok });
  const move = moveToResume(ownership, cluster.value);
  if (move === undefined) return ok(true);
  const metadata = { ...versionOf(cluster.value), annotations: { [RESUMED_ANNOTATION]: move } };
  const patch: Json = { ...(isPaused(cluster.value) ? pausePatch("spec", false) : {}), metadata };
  const written = await client.patch<KubeObject>(capiClusters, key, { type: "merge", patch }, { fieldManager: MOVE_MANAGER, signal });
  if (written.ok) return ok(true);
  return CHANGED.has(written.error.kind) ? ok(false) : written;
}
