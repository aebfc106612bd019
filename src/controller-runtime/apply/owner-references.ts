/**
 * Removes the owner reference to an owner whose objects must not have one. Server-side apply removes a reference that only our field manager
 * set; after a move or a restore another manager has set it too, and then it stays.
 *
 * A merge patch replaces the whole list, so it has the resourceVersion as precondition: references of other clients must not be lost.
 */
import { ok, type Result } from "#base";
import { keyOf, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader, KubeWriter } from "#kube-client";
import { FIELD_MANAGER, withoutOwner, type ApplyOwner } from "../identity.ts";

export type OwnerReferenceRemoval = {
  readonly client: KubeReader & KubeWriter;
  readonly resource: Resource;
  readonly live: KubeObject;
  readonly owner: ApplyOwner;
  readonly signal: AbortSignal;
};

const ATTEMPTS = 3;

/** The object without the reference; unchanged if it has none, or if the owner's objects may have one. */
export async function removeOwnerReference(removal: OwnerReferenceRemoval): Promise<Result<KubeObject, KubeError>> {
  const { client, resource, owner, signal } = removal;
  let { live } = removal;
  for (let attempt = 1; ; attempt += 1) {
    const ownerReferences = withoutOwner(live, owner.object);
    const isFree = ownerReferences.length === (live.metadata.ownerReferences ?? []).length;
    if (owner.ownerReferences !== "none" || isFree) return ok(live);
    const patch = { metadata: { uid: live.metadata.uid, resourceVersion: live.metadata.resourceVersion, ownerReferences } };
    const answer = await client.patch<KubeObject>(resource, keyOf(live), { type: "merge", patch }, { fieldManager: FIELD_MANAGER, signal });
    if (answer.ok || answer.error.kind !== "conflict" || attempt >= ATTEMPTS) return answer;
    const newest = await client.get<KubeObject>(resource, keyOf(live), { signal });
    if (!newest.ok) return newest;
    // the same name, but another object: the next pass compares it
    if (newest.value.metadata.uid !== live.metadata.uid) return answer;
    live = newest.value;
  }
}
