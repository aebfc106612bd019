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
import type { ApiSide } from "./api-side.ts";
import { refusal, type Moved } from "./failure.ts";

export type ReadRecord = { readonly data: TargetRecordData; readonly object: KubeObject };

export async function readHead({ source, namespace }: Place): Moved<JournalHead | undefined> {
  const found = await source.get(secrets, { namespace, name: HEAD_NAME });
  if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
  const head = parseHead(found.value);
  return head.ok ? head : refusal(head.error);
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

export async function writeHead({ source, namespace }: Place, head: JournalHead): Moved<void> {
  const { data } = headObject(namespace, head) as KubeObject & { readonly data: Record<string, string> };
  const written = await source.patch(secrets, { namespace, name: HEAD_NAME }, { data });
  if (!written.ok) return written;
  return written.value === undefined ? refusal(`the journal of the move, Secret ${namespace}/${HEAD_NAME}, was deleted`) : ok(undefined);
}

export async function deleteHead({ source, namespace }: Place): Moved<void> {
  return source.remove(secrets, { namespace, name: HEAD_NAME }, undefined);
}

/** In their order. */
export async function readBatches({ source, namespace }: Place): Moved<readonly JournalBatch[]> {
  const found = await source.list(secrets, { namespace, labelSelector: `${JOURNAL_LABEL}=batch` });
  if (!found.ok) return found;
  const batches: JournalBatch[] = [];
  for (const object of found.value) {
    const batch = parseBatch(object);
    if (!batch.ok) return refusal(batch.error);
    batches.push(batch.value);
  }
  return ok(batches.toSorted((a, b) => a.number - b.number));
}

export async function writeBatch({ source, namespace }: Place, batch: JournalBatch): Moved<void> {
  const object = batchObject(namespace, batch);
  const created = await source.create(secrets, object);
  if (!created.ok) return created;
  if (created.value !== undefined) return ok(undefined);
  const { data } = object as KubeObject & { readonly data: Record<string, string> };
  const changed = await source.patch(secrets, { namespace, name: object.metadata.name }, { data });
  if (!changed.ok) return changed;
  return changed.value === undefined ? refusal(`the journal of batch ${batch.number} was deleted`) : ok(undefined);
}

export async function deleteBatch({ source, namespace }: Place, number: number): Moved<void> {
  return source.remove(secrets, { namespace, name: batchName(number) }, undefined);
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

export async function deleteRecord(side: ApiSide, namespace: string): Moved<void> {
  return side.remove(configMaps, { namespace, name: RECORD_NAME }, undefined);
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
