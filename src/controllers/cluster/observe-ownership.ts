/**
 * Reads which side drives the Cluster API objects of a child.
 *
 * By the caches for a child that owns itself: thousands of them cost no request. Before the parent applies or deletes objects of a child that has
 * registered, the server is asked: caches of different kinds are not equally new, and a Cluster that was moved must not be created again.
 */
import { map, ok, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import type { FailureCause, ReadRuntime } from "#controller-runtime";
import {
  isBeingDeleted,
  capiClusters,
  configMaps,
  fieldAt,
  secretsByMetadata,
  type KubeObject,
  type ObjectKey,
  type Resource,
} from "#kube";
import { MOVE_JOURNAL, MOVE_RECORD, moveToResume, ownershipOf } from "#pivot";
import { childOwnership, mayOwnItself, type ChildOwnership, type OwnershipSigns } from "./child-ownership.ts";
import { DELETION_ANNOTATION } from "./pivot-state.ts";
import type { RunningCell } from "./ports.ts";

type OwnershipContext = Pick<ReadRuntime, "cache" | "client" | "signal"> & { readonly running: RunningCell | undefined };

export type ObservedOwnership = {
  readonly ownership: ChildOwnership;
  /** Whether the Cluster exists in the parent. */ readonly exists: boolean;
  /** Present: the parent owns the Cluster by the move with this id, which has not ended, and the Cluster must be unpaused. */
  readonly resume?: string | undefined;
};

export async function observeOwnership(raw: KubeObject, context: OwnershipContext): Promise<Result<ObservedOwnership, FailureCause>> {
  const { cache, running } = context;
  const { name } = raw.metadata;
  const namespace = capiNamespace(name);
  const registered = mayOwnItself(raw, running?.access.read(name));
  const known = { registered, epoch: running?.link.agents().get(name)?.health?.ownershipEpoch ?? 0, pivot: running?.pivots.view(name) };
  const signs = (read: Traces): OwnershipSigns => ({ ...known, exists: read.cluster !== undefined, traces: ownershipOf(read) });
  const cached: Traces = {
    cluster: cache.isServed(capiClusters) ? cache.get(capiClusters, { namespace, name }) : undefined,
    record: cache.get(configMaps, { namespace, name: MOVE_RECORD }),
    hasJournal: cache.get(secretsByMetadata, { namespace, name: MOVE_JOURNAL }) !== undefined,
  };
  const seen = signs(cached);
  const ownership = childOwnership(seen);
  const mustAsk = isBeingDeleted(raw) || (ownership === "parent" && (registered || seen.traces.state === "owner"));
  if (!mustAsk || !cache.isServed(capiClusters)) return ok({ ownership, exists: seen.exists });
  return map(await readTraces({ namespace, name }, context), (live) => {
    const asked = signs(live);
    const owner = childOwnership(asked);
    if (owner === "parent" && mustGiveBack(raw, asked)) return { ownership: "moving", exists: asked.exists };
    const resume = owner === "parent" ? moveToResume(asked.traces, live.cluster) : undefined;
    return { ownership: owner, exists: asked.exists, resume };
  });
}

/** The child was released after its objects had been taken back, and before its machines were deleted: they belong to it in the end. */
function mustGiveBack(raw: KubeObject, { exists, traces }: OwnershipSigns): boolean {
  const isReleased = isBeingDeleted(raw) && fieldAt(raw, "spec", "deletion", "unpivot") === false;
  return isReleased && exists && traces.state === "owner" && raw.metadata.annotations?.[DELETION_ANNOTATION] === undefined;
}

type Traces = { readonly cluster: KubeObject | undefined; readonly record: KubeObject | undefined; readonly hasJournal: boolean };

async function readTraces({ namespace, name }: ObjectKey, { client, signal }: OwnershipContext): Promise<Result<Traces, FailureCause>> {
  const read = async (resource: Resource, object: string): Promise<Result<KubeObject | undefined, FailureCause>> => {
    const found = await client.get<KubeObject>(resource, { ...(namespace === undefined ? {} : { namespace }), name: object }, { signal });
    return found.ok || found.error.kind !== "not-found" ? found : ok(undefined);
  };
  // the journal before the Cluster: a move deletes it last
  const [record, journal] = [await read(configMaps, MOVE_RECORD), await read(secretsByMetadata, MOVE_JOURNAL)];
  const cluster = await read(capiClusters, name);
  if (!record.ok) return record;
  if (!journal.ok) return journal;
  return map(cluster, (found) => ({ cluster: found, record: record.value, hasJournal: journal.value !== undefined }));
}
