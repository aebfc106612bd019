/**
 * Brings one copy at the target to the state of its original: create, status, field managers. Three writes at most, each of which may be
 * repeated. The mark on a copy goes with the last one, after the journal has its uid: a copy without a mark is complete and acknowledged.
 *
 * So a copy is adopted only by its mark, or by the uid in the journal. Any other object of the same name is refused. An import has no journal: there
 * a copy with equal content is adopted.
 */
import { ok } from "#base";
import { describeObject, isBeingDeleted, keyOf, type KubeObject } from "#kube";
import { COPY_ANNOTATION } from "../graph/names.ts";
import type { MoveNode } from "../graph/object-graph.ts";
import { completionPatch, copyOf, hasContent, hasStatusOf, statusFor } from "../plan/content.ts";
import type { ApiSide } from "./api-side.ts";
import { refusal, type Moved } from "./failure.ts";

export type CopySituation = {
  /** What the target has under this name, as it was listed. */
  readonly existing: KubeObject | undefined;
  /** The uids of copies, by the uids of their originals. */
  readonly uids: ReadonlyMap<string, string>;
  /** From the journal: the uid of its copy. */
  readonly acknowledged: string | undefined;
  /** The target had no such object before, by its record: one with equal content is a copy. */
  readonly adoptEqual?: true;
};

export type PlacedCopy = {
  readonly uid: string;
  /** Something other than the status was written. */
  readonly changed: boolean;
  /** The last write is missing. */
  readonly incomplete: boolean;
};

export async function placeCopy(target: ApiSide, node: MoveNode, situation: CopySituation): Moved<PlacedCopy> {
  const { resource } = node.kind;
  if (situation.existing !== undefined) return bringUpToDate(target, node, situation.existing, situation);
  const created = await target.create(resource, copyOf(node, situation.uids));
  if (!created.ok) return created;
  if (created.value !== undefined) return fill(target, node, created.value);
  const live = await target.get(resource, keyOf(node.object));
  if (!live.ok) return live;
  if (live.value === undefined)
    return refusal(`${describeObject(node.object)} appears and disappears at the target; something deletes it there`);
  return bringUpToDate(target, node, live.value, situation);
}

async function bringUpToDate(target: ApiSide, node: MoveNode, copy: KubeObject, situation: CopySituation): Moved<PlacedCopy> {
  const { object, kind, kept } = node;
  const what = describeObject(object);
  const mark = copy.metadata.annotations?.[COPY_ANNOTATION];
  if (isBeingDeleted(copy))
    return refusal(`${what} is being deleted at the target; wait until it is gone there, then run the command again`);
  // the namespace is registered for this move, so an unfinished copy in it is of a move that has ended; elsewhere another may be under way
  if (mark !== undefined && mark !== node.uid && kept !== undefined)
    return refusal(`${what} of the target is an unfinished copy of another object; delete it there`);
  // what stays at the source as well may be there already, for other clusters
  if (mark === undefined && kept !== undefined) return ok({ uid: copy.metadata.uid ?? "", changed: false, incomplete: false });
  const isEqual = hasContent(copy, object, kind.hasStatus) && hasOwners(copy, object, situation.uids);
  const isKnown = mark !== undefined || copy.metadata.uid === situation.acknowledged;
  const isOurs = isKnown || (situation.adoptEqual === true && isEqual);
  if (!isOurs) return refusal(`${what} exists at the target already; delete it there, or move into an API server without it`);
  const isMarked = mark === node.uid;
  if (isEqual && (isMarked || mark === undefined)) return isMarked ? fill(target, node, copy) : refreshStatus(target, node, copy);
  const wanted = copyOf(node, situation.uids);
  const { uid = "", resourceVersion = "" } = copy.metadata;
  const updated = await target.update(kind.resource, { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } });
  if (!updated.ok) return updated;
  // changed or deleted meanwhile: the next round reads it again
  return updated.value === undefined ? ok({ uid, changed: true, incomplete: false }) : fill(target, node, updated.value);
}

function hasOwners(copy: KubeObject, original: KubeObject, uids: ReadonlyMap<string, string>): boolean {
  const owners = copy.metadata.ownerReferences ?? [];
  return (original.metadata.ownerReferences ?? []).every((owner, at) => owners[at]?.uid === uids.get(owner.uid));
}

async function fill(target: ApiSide, node: MoveNode, copy: KubeObject): Moved<PlacedCopy> {
  const { uid = "" } = copy.metadata;
  const carried = await carryStatus(target, node, copy);
  return carried.ok ? ok({ uid, changed: true, incomplete: true }) : carried;
}

/** The last write. The next round finds a copy that has disappeared. */
export async function completeCopy(target: ApiSide, { object, kind }: MoveNode, uid: string): Moved<void> {
  const { metadata, ...rest } = completionPatch(object) as { readonly metadata: object };
  const completed = await target.patch(kind.resource, keyOf(object), { ...rest, metadata: { ...metadata, uid } });
  return completed.ok ? ok(undefined) : completed;
}

async function refreshStatus(target: ApiSide, node: MoveNode, copy: KubeObject): Moved<PlacedCopy> {
  const { uid = "" } = copy.metadata;
  if (!node.kind.hasStatus || hasStatusOf(copy, node.object)) return ok({ uid, changed: false, incomplete: false });
  const carried = await fill(target, node, copy);
  return carried.ok ? ok({ uid, changed: false, incomplete: true }) : carried;
}

async function carryStatus(target: ApiSide, { object, kind }: MoveNode, copy: KubeObject): Moved<void> {
  const status = kind.hasStatus ? statusFor(object, copy.metadata.generation ?? 1) : undefined;
  if (status === undefined) return ok(undefined);
  const written = await target.patch(kind.resource, keyOf(object), { metadata: { uid: copy.metadata.uid ?? "" }, status }, "status");
  return written.ok ? ok(undefined) : written;
}
