/**
 * Brings one copy at the target to the state of its original: create, status, field managers. Three writes at most, each of which may be
 * repeated. The mark on a copy goes with the last one, after the journal has its uid: a copy without a mark is complete and acknowledged.
 *
 * So a copy is adopted only by its mark, or by a uid that was written down. Any other object of the same name is refused. Only files, which have
 * no journal of uids, adopt by equal content, too: their record is written when the target has no Cluster API object of them.
 */
import { ok } from "#base";
import { describeObject, isBeingDeleted, keyOf, type Json, type KubeObject } from "#kube";
import { COPY_ANNOTATION } from "../graph/names.ts";
import type { WholeNode } from "../graph/object-graph.ts";
import { completionPatch, copyOf, hasContent, hasStatusOf, statusFor } from "../plan/content.ts";
import { versionOf, type ApiSide } from "./api-side.ts";
import { refusal, type Moved } from "./failure.ts";

export type CopySituation = {
  /** What the target has under this name, as it was listed. */
  readonly existing: KubeObject | undefined;
  /** The uids of copies, by the uids of their originals. */
  readonly uids: ReadonlyMap<string, string>;
  /** From the journal or the record: the uid of its copy. */
  readonly acknowledged: string | undefined;
  /** The journal does not show that the copy was made of this content: it may have what the original has no more, and is replaced. */
  readonly mayHaveMore?: boolean;
  /**
   * Of any other object with equal content. "adopted": the record shows that the target had none, so it is a copy. "left": the target had it
   * before; it is not written, and is no copy.
   */
  readonly ifEqual?: "adopted" | "left";
};

export type PlacedCopy = {
  readonly uid: string;
  /** Something other than the status was written. */
  readonly changed: boolean;
  /** The last write is missing. */
  readonly incomplete: boolean;
  /** It has changed at the target since it was read, and was not written: the next round reads it again. */
  readonly missed?: true;
  /** The target had it before. */
  readonly left?: true;
};

export async function placeCopy(target: ApiSide, node: WholeNode, situation: CopySituation): Moved<PlacedCopy> {
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

async function bringUpToDate(target: ApiSide, node: WholeNode, copy: KubeObject, situation: CopySituation): Moved<PlacedCopy> {
  const { object, kind, kept } = node;
  const what = describeObject(object);
  const mark = copy.metadata.annotations?.[COPY_ANNOTATION];
  if (isBeingDeleted(copy))
    return refusal(`${what} is being deleted at the target; wait until it is gone there, then run the command again`);
  // the namespace is registered for this move, so an unfinished copy in it is of a move that has ended; elsewhere another may be under way
  if (mark !== undefined && mark !== node.uid && (kept !== undefined || situation.ifEqual === "left"))
    return refusal(`${what} of the target is an unfinished copy of another object; delete it there`);
  // what stays at the source as well may be there already, for other clusters
  if (mark === undefined && kept !== undefined) return ok({ uid: copy.metadata.uid ?? "", changed: false, incomplete: false });
  const hasAll = hasContent(copy, object, kind.hasStatus) && hasOwners(copy, object, situation.uids);
  const isEqual = hasAll && situation.mayHaveMore !== true;
  const isOurs = mark !== undefined || copy.metadata.uid === situation.acknowledged;
  if (!isOurs && isEqual && situation.ifEqual === "left")
    return ok({ uid: copy.metadata.uid ?? "", changed: false, incomplete: false, left: true });
  if (!isOurs && !(situation.ifEqual === "adopted" && isEqual))
    return refusal(`${what} exists at the target already; delete it there, or move into an API server without it`);
  const isMarked = mark === node.uid;
  if (isEqual && (isMarked || mark === undefined)) return isMarked ? fill(target, node, copy) : refreshStatus(target, node, copy);
  const wanted = copyOf(node, situation.uids);
  const { uid = "", resourceVersion = "" } = copy.metadata;
  const updated = await target.update(kind.resource, { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } });
  if (!updated.ok) return updated;
  return updated.value === undefined ? ok({ uid, changed: true, incomplete: false, missed: true }) : fill(target, node, updated.value);
}

function hasOwners(copy: KubeObject, original: KubeObject, uids: ReadonlyMap<string, string>): boolean {
  const owners = copy.metadata.ownerReferences ?? [];
  return (original.metadata.ownerReferences ?? []).every((owner, at) => owners[at]?.uid === uids.get(owner.uid));
}

async function fill(target: ApiSide, node: WholeNode, copy: KubeObject): Moved<PlacedCopy> {
  const { uid = "" } = copy.metadata;
  const carried = await carryStatus(target, node, copy);
  return carried.ok ? ok({ uid, changed: true, incomplete: true }) : carried;
}

/** The last write. The next round finds a copy that has disappeared. */
export async function completeCopy(target: ApiSide, { object, kind }: WholeNode, uid: string): Moved<void> {
  const { metadata, ...rest } = completionPatch(object) as { readonly metadata: object };
  const completed = await target.patch(kind.resource, keyOf(object), { ...rest, metadata: { ...metadata, uid } });
  return completed.ok ? ok(undefined) : completed;
}

async function refreshStatus(target: ApiSide, node: WholeNode, copy: KubeObject): Moved<PlacedCopy> {
  const { uid = "" } = copy.metadata;
  if (!node.kind.hasStatus || hasStatusOf(copy, node.object)) return ok({ uid, changed: false, incomplete: false });
  const carried = await carryStatus(target, node, copy);
  return carried.ok ? ok({ uid, changed: false, incomplete: true }) : carried;
}

/**
 * A marked copy gets its status by an update with nothing else in it, which is less work for the server than a patch; the field managers that it
 * leaves go with the mark. A copy that has changed meanwhile, or has no mark, is patched.
 */
async function carryStatus(target: ApiSide, { object, kind }: WholeNode, copy: KubeObject): Moved<void> {
  const status = kind.hasStatus ? statusFor(object, copy.metadata.generation ?? 1) : undefined;
  if (status === undefined) return ok(undefined);
  if (copy.metadata.annotations?.[COPY_ANNOTATION] !== undefined) {
    const { name, namespace = "" } = object.metadata;
    const { apiVersion, kind: kindName } = object;
    const metadata = { name, ...(namespace === "" ? {} : { namespace }), ...versionOf(copy) };
    const draft: KubeObject & { readonly status: Json } = { apiVersion, kind: kindName, metadata, status };
    const updated = await target.update(kind.resource, draft, "status");
    if (!updated.ok || updated.value !== undefined) return updated.ok ? ok(undefined) : updated;
  }
  const written = await target.patch(kind.resource, keyOf(object), { metadata: { uid: copy.metadata.uid ?? "" }, status }, "status");
  return written.ok ? ok(undefined) : written;
}
