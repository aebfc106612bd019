/**
 * Deletes objects of a move without their controllers: finalizers first, so that an object is gone with its deletion and a run that is killed
 * in between leaves nothing half deleted. Nothing of the real infrastructure is touched.
 *
 * A Secret or ConfigMap that was read without finalizers is deleted by one request, which names the version that was read.
 */
import { ok } from "#base";
import { groupResourceOf, metadataOf, type KubeObject, type ObjectKey, type Resource } from "#kube";
import { DELETE_FOR_MOVE_ANNOTATION } from "../graph/names.ts";
import type { ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import { refusal, type Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";

export type RemovedObject = { readonly kind: Resource; readonly key: ObjectKey; readonly uid: string };

const ROUNDS = 5;

/** A controller may add its finalizer again between the two writes, so what is left is read and deleted again. */
export async function removeObjects(side: ApiSide, objects: readonly RemovedObject[]): Moved<void> {
  let left = objects;
  for (let round = 1; left.length > 0; round += 1) {
    if (round > ROUNDS) return refusal(`${left.length} objects of the ${side.side} come back after their deletion; find what writes them`);
    const removed = await inParallel(left, PARALLEL, (object) => removeObject(side, object));
    if (!removed.ok) return removed;
    const remaining = await stillThere(side, left);
    if (!remaining.ok) return remaining;
    left = remaining.value;
  }
  return ok(undefined);
}

/**
 * Removes each once, without looking whether they are gone: of many, that is done at the end, because it reads whole kinds. `free`: what
 * `freeObjects` has found.
 */
export async function removeOnce(side: ApiSide, objects: readonly RemovedObject[], free: FreeObjects): Moved<void> {
  const removed = await inParallel(objects, PARALLEL, (object) => {
    const resourceVersion = free.get(object.uid);
    // one that has changed since is not deleted, and is found at the end
    if (resourceVersion !== undefined) return side.remove(object.kind, object.key, { uid: object.uid, resourceVersion });
    return removeObject(side, object);
  });
  return removed.ok ? ok(undefined) : removed;
}

/** The versions of objects that nothing has to be removed from before their deletion, by uid. */
export type FreeObjects = ReadonlyMap<string, string>;

/** Custom resources are never among them: their webhooks may ask for the annotation. */
export async function freeObjects(side: ApiSide, objects: readonly RemovedObject[]): Moved<FreeObjects> {
  const listed = await collectKindsOf(
    side,
    objects.filter(({ kind }) => kind.group === ""),
    ({ metadata: { uid = "", resourceVersion = "", finalizers = [] } }) =>
      finalizers.length === 0 ? ([uid, resourceVersion] as const) : undefined,
  );
  return listed.ok ? ok(new Map(listed.value)) : listed;
}

async function removeObject(side: ApiSide, { kind, key, uid }: RemovedObject): Moved<void> {
  const annotations = { [DELETE_FOR_MOVE_ANNOTATION]: "" };
  const freed = await side.patch(kind, key, { metadata: { uid, finalizers: [], annotations } });
  if (!freed.ok || freed.value === undefined) return freed.ok ? ok(undefined) : freed;
  return side.remove(kind, key, { uid });
}

/** Of these objects, those that exist. */
export async function stillThere(side: ApiSide, objects: readonly RemovedObject[]): Moved<readonly RemovedObject[]> {
  const listed = await collectKindsOf(side, objects, ({ metadata: { uid = "" } }) => uid);
  if (!listed.ok) return listed;
  const uids = new Set(listed.value);
  return ok(objects.filter(({ uid }) => uids.has(uid)));
}

/** What `take` returns of these objects, from their metadata. They are found by lists of their kinds and namespaces. */
async function collectKindsOf<T>(
  side: ApiSide,
  objects: readonly RemovedObject[],
  take: (object: KubeObject) => T | undefined,
): Moved<readonly T[]> {
  const wanted = new Set(objects.map(({ uid }) => uid));
  const lists = new Map(
    objects.map(({ kind, key }) => [`${groupResourceOf(kind)}/${key.namespace ?? ""}`, { kind, namespace: key.namespace }]),
  );
  const listed = await inParallel([...lists.values()], PARALLEL, ({ kind, namespace }) =>
    side.collect(metadataOf(kind), { namespace }, (object) => (wanted.has(object.metadata.uid ?? "") ? take(object) : undefined)),
  );
  return listed.ok ? ok(listed.value.flat()) : listed;
}
