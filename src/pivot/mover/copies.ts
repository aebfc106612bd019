/** What the target has under the names of objects: all of them without their contents, or those of a journal. */
import { ok } from "#base";
import { groupResourceOf, isBeingDeleted, keyOf, keyText, metadataOf, type KubeObject, type Resource } from "#kube";
import { COPY_ANNOTATION } from "../graph/names.ts";
import type { MoveNode } from "../graph/object-graph.ts";
import type { ObjectOutline } from "../graph/outline.ts";
import type { BatchEntry } from "../journal/records.ts";
import type { ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import type { Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";
import type { RemovedObject } from "./remove-object.ts";

/** Of an object of the target: whether it is an unfinished copy, or is being deleted. */
export type CopyState = { readonly isMarked: boolean; readonly isBeingDeleted: boolean };
export type ExistingCopies = { readonly of: (original: ObjectOutline) => CopyState | undefined };

/** A kind that the target does not serve has no objects there. */
export async function listCopies(target: ApiSide, nodes: readonly MoveNode[]): Moved<ExistingCopies> {
  const lists = new Map<string, { readonly resource: Resource; readonly namespace: string | undefined }>();
  const wanted = new Set<string>();
  for (const { kind, object } of nodes) {
    const namespace = kind.resource.namespaced ? object.metadata.namespace : undefined;
    lists.set(`${groupResourceOf(kind.resource)}/${namespace ?? ""}`, { resource: kind.resource, namespace });
    wanted.add(placeOf(object));
  }
  const listed = await inParallel([...lists.values()], PARALLEL, ({ resource, namespace }) =>
    target.collect(metadataOf(resource), { namespace }, (object) => {
      const place = placeOf(object);
      return wanted.has(place) ? ([place, stateOf(object)] as const) : undefined;
    }),
  );
  if (!listed.ok) return listed;
  const found = new Map(listed.value.flat());
  return ok({ of: (original) => found.get(placeOf(original)) });
}

const placeOf = (object: ObjectOutline) => `${object.kind}.${object.apiVersion}/${keyText(keyOf(object))}`;

export function stateOf(object: KubeObject): CopyState {
  return { isMarked: object.metadata.annotations?.[COPY_ANNOTATION] !== undefined, isBeingDeleted: isBeingDeleted(object) };
}

/** The copies that are known to be of this move: by the uid in the journal, or by their mark. */
export async function copiesAt(target: ApiSide, sent: readonly BatchEntry[]): Moved<readonly RemovedObject[]> {
  const found = await inParallel(sent, PARALLEL, async (entry) => {
    const key = { namespace: entry.namespace, name: entry.name };
    const copy = await target.get(entry.kind, key);
    if (!copy.ok) return copy;
    if (copy.value === undefined) return ok([]);
    const removed = { kind: entry.kind, key, uid: copy.value.metadata.uid ?? "" };
    const isKnown = removed.uid === entry.copy || copy.value.metadata.annotations?.[COPY_ANNOTATION] === entry.uid;
    return ok(isKnown ? [removed] : []);
  });
  return found.ok ? ok(found.value.flat()) : found;
}
