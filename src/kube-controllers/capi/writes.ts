/**
 * Writes of the simulator. Patches and status updates carry the resourceVersion of the cached object: a stale cache ends in a conflict, and the
 * pass runs again.
 */
import { ok, type Result } from "#base";
import { jsonEqual, keyOf, type Json, type JsonObject, type KubeObject, type OwnerReference, type Resource } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { objectAt, type CapiObject } from "./objects.ts";

export type CapiWrite = Promise<Result<CapiObject, KubeError>>;

export function patchObject(client: KubeClient, resource: Resource<CapiObject>, object: KubeObject, patch: JsonObject): CapiWrite {
  const metadata = { ...objectAt(patch, "metadata"), resourceVersion: object.metadata.resourceVersion ?? "" };
  return client.patch(resource, keyOf(object), { type: "merge", patch: { ...patch, metadata } });
}

export function writeStatus(client: KubeClient, resource: Resource<CapiObject>, object: CapiObject, status: JsonObject): CapiWrite {
  if (jsonEqual(object.status ?? {}, status)) return Promise.resolve(ok(object));
  return client.update(resource, { ...object, status }, { subresource: "status" });
}

export type MetadataDraft = {
  readonly finalizer?: string | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference | undefined;
  /** Removed when `owner` is set: creators own a new object until its machine exists. */
  readonly formerOwners?: (owner: OwnerReference) => boolean;
  readonly spec?: JsonObject;
};

/** Adds what is missing with one patch, or returns the object. */
export function ensureMetadata(client: KubeClient, resource: Resource<CapiObject>, object: CapiObject, draft: MetadataDraft): CapiWrite {
  const metadata = missingMetadata(object, draft);
  const spec = draft.spec ?? {};
  if (Object.keys(metadata).length === 0 && Object.keys(spec).length === 0) return Promise.resolve(ok(object));
  return patchObject(client, resource, object, { metadata, ...(Object.keys(spec).length === 0 ? {} : { spec }) });
}

function missingMetadata({ metadata }: KubeObject, draft: MetadataDraft): Record<string, Json> {
  const missing: Record<string, Json> = {};
  const { finalizers = [], ownerReferences = [], labels = {}, annotations = {} } = metadata;
  if (draft.finalizer !== undefined && !finalizers.includes(draft.finalizer)) missing["finalizers"] = [...finalizers, draft.finalizer];
  const newLabels = absentEntries(labels, draft.labels);
  if (newLabels !== undefined) missing["labels"] = newLabels;
  const newAnnotations = absentEntries(annotations, draft.annotations);
  if (newAnnotations !== undefined) missing["annotations"] = newAnnotations;
  const owners = ownersWith(ownerReferences, draft);
  if (owners !== undefined) missing["ownerReferences"] = owners.map((owner) => ({ ...owner }));
  return missing;
}

function absentEntries(have: Readonly<Record<string, string>>, want: Readonly<Record<string, string>> = {}): JsonObject | undefined {
  const absent = Object.entries(want).filter(([key, value]) => have[key] !== value);
  return absent.length === 0 ? undefined : Object.fromEntries(absent);
}

function ownersWith(owners: readonly OwnerReference[], draft: MetadataDraft): readonly OwnerReference[] | undefined {
  const { owner, formerOwners = () => false } = draft;
  if (owner === undefined) return undefined;
  const present = owners.find(({ uid }) => uid === owner.uid);
  const kept = owners.filter((one) => one.uid !== owner.uid && !formerOwners(one));
  if (present !== undefined && present.controller === owner.controller && kept.length === owners.length - 1) return undefined;
  return [...kept, owner];
}

export function removeFinalizer(client: KubeClient, resource: Resource<CapiObject>, object: CapiObject, finalizer: string): CapiWrite {
  const { finalizers = [] } = object.metadata;
  if (!finalizers.includes(finalizer)) return Promise.resolve(ok(object));
  return patchObject(client, resource, object, { metadata: { finalizers: finalizers.filter((one) => one !== finalizer) } });
}

export type FinishedDeletion = {
  readonly finalizer: string;
  /** With the conditions of the finished deletion. */ readonly status: JsonObject;
};

/**
 * The end of an object: watches see its last conditions before the finalizer is removed. As in the real controllers, other fields of the
 * status are not written any more.
 */
export async function finishDeletion(
  client: KubeClient,
  resource: Resource<CapiObject>,
  object: CapiObject,
  { finalizer, status }: FinishedDeletion,
): CapiWrite {
  const { conditions = [] } = status;
  const written = await writeStatus(client, resource, object, { ...objectAt(object, "status"), conditions });
  return written.ok ? removeFinalizer(client, resource, written.value, finalizer) : written;
}

/** Deletes this very object; one that is gone or being deleted is fine. */
export async function deleteObject(client: KubeClient, resource: Resource, object: KubeObject): Promise<Result<boolean, KubeError>> {
  if (object.metadata.deletionTimestamp !== undefined) return ok(true);
  const { uid = "" } = object.metadata;
  const deleted = await client.delete(resource, keyOf(object), { propagation: "Background", preconditions: { uid } });
  return !deleted.ok && deleted.error.kind === "not-found" ? ok(false) : deleted;
}

/** Creates the object; true if it was created, false if the name is taken. */
export async function createOnce(
  client: KubeClient,
  resource: Resource<CapiObject>,
  object: CapiObject,
): Promise<Result<boolean, KubeError>> {
  const created = await client.create(resource, object);
  if (created.ok) return ok(true);
  return created.error.kind === "already-exists" ? ok(false) : created;
}
