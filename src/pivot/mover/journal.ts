/** Reads and writes the journal of a move at its source, and the record of it at its target. */
import { ok } from "#base";
import { configMaps, field, jsonEqual, namespaces, secrets, type KubeObject } from "#kube";
import { JOURNAL_LABEL } from "../graph/names.ts";
import {
  batchName,
  batchObject,
  HEAD_NAME,
  headObject,
  parseBatch,
  parseHead,
  parseRecord,
  RECORD_NAME,
  recordObject,
  type JournalBatch,
  type JournalHead,
  type TargetRecordData,
} from "../journal/records.ts";
import { versionOf, type ApiSide, type ObjectVersion } from "./api-side.ts";
import { refusal, type Moved } from "./failure.ts";

export type ReadRecord = { readonly data: TargetRecordData; readonly object: KubeObject };
/** What was read, and which version of it. Later writes name that version: one that arrives late changes nothing. */
export type StoredHead = JournalHead & { readonly stored: ObjectVersion };
export type StoredBatch = JournalBatch & { readonly stored: ObjectVersion };

export async function readHead({ source, namespace }: Place): Moved<StoredHead | undefined> {
  const found = await source.get(secrets, { namespace, name: HEAD_NAME });
  if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
  const head = parseHead(found.value);
  return head.ok ? ok({ ...head.value, stored: versionOf(found.value) }) : refusal(head.error);
}

type Place = { readonly source: ApiSide; readonly namespace: string };

/** The first one of a move: refused when there is one already. */
export async function createHead({ source, namespace }: Place, head: JournalHead): Moved<void> {
  const created = await source.create(secrets, headObject(namespace, head));
  if (!created.ok) return created;
  if (created.value !== undefined) return ok(undefined);
  const found = await readHead({ source, namespace });
  if (!found.ok) return found;
  return found.value?.id === head.id
    ? ok(undefined)
    : refusal(`another move of namespace ${namespace} has just begun; run the command again`);
}

export async function writeHead({ source, namespace }: Place, { stored, ...head }: StoredHead): Moved<void> {
  const { data } = headObject(namespace, head) as KubeObject & { readonly data: Record<string, string> };
  const written = await source.patch(secrets, { namespace, name: HEAD_NAME }, { metadata: stored, data });
  if (!written.ok || written.value !== undefined) return written.ok ? ok(undefined) : written;
  // the answer to an earlier attempt may have been lost
  const found = await readHead({ source, namespace });
  if (!found.ok) return found;
  return found.value?.id === head.id && found.value.phase === head.phase
    ? ok(undefined)
    : refusal(`the journal of the move, Secret ${namespace}/${HEAD_NAME}, was deleted or changed by something else; run the command again`);
}

export async function deleteHead({ source, namespace }: Place, { stored: { uid } }: StoredHead): Moved<void> {
  return source.remove(secrets, { namespace, name: HEAD_NAME }, uid === undefined ? {} : { uid });
}

/** Those of one move, in their order. */
export async function readBatches(place: Place, move: string): Moved<readonly StoredBatch[]> {
  const all = await readAllBatches(place);
  return all.ok ? ok(all.value.filter((batch) => batch.move === move)) : all;
}

async function readAllBatches({ source, namespace }: Place): Moved<readonly StoredBatch[]> {
  const found = await source.collect(secrets, { namespace, labelSelector: `${JOURNAL_LABEL}=batch` }, (object) => {
    const batch = parseBatch(object);
    return batch.ok ? ok({ ...batch.value, stored: versionOf(object) }) : batch;
  });
  if (!found.ok) return found;
  const batches: StoredBatch[] = [];
  for (const batch of found.value) {
    if (!batch.ok) return refusal(batch.error);
    batches.push(batch.value);
  }
  return ok(batches.toSorted((a, b) => a.number - b.number));
}

/** Deletes the batches of a move, and those that requests of an earlier one have written too late. */
export async function deleteAllBatches(place: Place): Moved<void> {
  const batches = await readAllBatches(place);
  if (!batches.ok) return batches;
  for (const batch of batches.value) {
    const deleted = await deleteBatch(place, batch);
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}

/** `before`: what was read. The result is what is stored now. */
export async function writeBatch({ source, namespace }: Place, before: StoredBatch | undefined, batch: JournalBatch): Moved<StoredBatch> {
  const object = batchObject(namespace, batch);
  const key = { namespace, name: object.metadata.name };
  const { data } = object as KubeObject & { readonly data: Record<string, string> };
  const written =
    before === undefined ? await source.create(secrets, object) : await source.patch(secrets, key, { metadata: before.stored, data });
  if (!written.ok) return written;
  if (written.value !== undefined) return ok({ ...batch, stored: versionOf(written.value) });
  // the answer to an earlier attempt was lost, or a batch of an earlier move has the name
  const found = await source.get(secrets, key);
  if (!found.ok) return found;
  if (found.value === undefined) return refusal(`the journal of batch ${batch.number} was deleted`);
  if (jsonEqual(field(found.value, "data"), data)) return ok({ ...batch, stored: versionOf(found.value) });
  const replaced = await source.patch(secrets, key, { metadata: versionOf(found.value), data });
  if (!replaced.ok) return replaced;
  return replaced.value === undefined
    ? refusal(`the journal of batch ${batch.number} was changed by something else; run the command again`)
    : ok({ ...batch, stored: versionOf(replaced.value) });
}

export async function deleteBatch({ source, namespace }: Place, { number, stored: { uid } }: StoredBatch): Moved<void> {
  return source.remove(secrets, { namespace, name: batchName(number) }, uid === undefined ? {} : { uid });
}

type TargetPlace = { readonly target: ApiSide; readonly namespace: string };

export async function readRecord(side: ApiSide, namespace: string): Moved<ReadRecord | undefined> {
  const found = await side.get(configMaps, { namespace, name: RECORD_NAME });
  if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
  const data = parseRecord(found.value);
  return data === undefined
    ? refusal(`ConfigMap ${namespace}/${RECORD_NAME} of the ${side.side} is no record of a move; delete it if nothing uses it`)
    : ok({ data, object: found.value });
}

/**
 * Replaces the record that was read; refused when it has changed since, and never by chance: a commit that is still on its way fails after a
 * later write. The result is what the target has stored.
 */
export async function writeRecord(
  { target, namespace }: TargetPlace,
  before: ReadRecord | undefined,
  data: TargetRecordData,
): Moved<ReadRecord> {
  const object = recordObject(namespace, data);
  if (before === undefined) {
    const created = await target.create(configMaps, object);
    if (!created.ok) return created;
  } else {
    const metadata = { ...object.metadata, resourceVersion: before.object.metadata.resourceVersion ?? "" };
    const updated = await target.update(configMaps, { ...object, metadata });
    if (!updated.ok) return updated;
  }
  // read back: the answer to the write may have been lost, and only what is stored counts
  const stored = await readRecord(target, namespace);
  if (!stored.ok) return stored;
  const isOurs = stored.value !== undefined && jsonEqual(field(stored.value.object, "data"), field(object, "data"));
  return isOurs && stored.value !== undefined
    ? ok(stored.value)
    : refusal(
        `the record of the move at the target, ConfigMap ${namespace}/${RECORD_NAME}, was changed by something else; run the command again`,
      );
}

/** Only the record that was read. */
export async function deleteRecord(side: ApiSide, namespace: string, { object }: ReadRecord): Moved<void> {
  return side.remove(configMaps, { namespace, name: RECORD_NAME }, versionOf(object));
}

/** Identifies a cluster: uid and age of Namespace kube-system. Embedded clusters in memory all have the same uid. */
export async function clusterIdentity(side: ApiSide): Moved<string> {
  const found = await side.get(namespaces, { name: "kube-system" });
  if (!found.ok) return found;
  const { uid, creationTimestamp } = found.value?.metadata ?? {};
  return uid === undefined
    ? refusal(`the ${side.side} has no Namespace kube-system, so it cannot be identified`)
    : ok(`${uid} ${creationTimestamp ?? ""}`);
}

export async function ensureNamespace(side: ApiSide, name: string): Moved<void> {
  const found = await side.get(namespaces, { name });
  if (!found.ok) return found;
  if (found.value?.metadata.deletionTimestamp !== undefined) return refusal(`Namespace ${name} of the ${side.side} is being deleted`);
  if (found.value !== undefined) return ok(undefined);
  const created = await side.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return created.ok ? ok(undefined) : created;
}
