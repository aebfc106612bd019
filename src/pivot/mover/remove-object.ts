/**
 * Deletes objects of a move without their controllers: finalizers first, so that an object is gone with its deletion and a run that is killed
 * in between leaves nothing half deleted. Nothing of the real infrastructure is touched.
 */
import { ok } from "#base";
import { groupResourceOf, type ObjectKey, type Resource } from "#kube";
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

/** Removes each once, without looking whether they are gone: of many, that is done at the end, because it reads whole kinds. */
export async function removeOnce(side: ApiSide, objects: readonly RemovedObject[]): Moved<void> {
  const removed = await inParallel(objects, PARALLEL, (object) => removeObject(side, object));
  return removed.ok ? ok(undefined) : removed;
}

async function removeObject(side: ApiSide, { kind, key, uid }: RemovedObject): Moved<void> {
  const annotations = { [DELETE_FOR_MOVE_ANNOTATION]: "" };
  const freed = await side.patch(kind, key, { metadata: { uid, finalizers: [], annotations } });
  if (!freed.ok || freed.value === undefined) return freed.ok ? ok(undefined) : freed;
  return side.remove(kind, key, { uid });
}

/** Of these objects, those that exist: by lists, one for each kind and namespace. */
export async function stillThere(side: ApiSide, objects: readonly RemovedObject[]): Moved<readonly RemovedObject[]> {
  const lists = new Map(
    objects.map(({ kind, key }) => [`${groupResourceOf(kind)}/${key.namespace ?? ""}`, { kind, namespace: key.namespace }]),
  );
  const listed = await inParallel([...lists.values()], PARALLEL, ({ kind, namespace }) => side.list(kind, { namespace }));
  if (!listed.ok) return listed;
  const uids = new Set(listed.value.flat().map(({ metadata }) => metadata.uid));
  return ok(objects.filter(({ uid }) => uids.has(uid)));
}
