/**
 * What a move writes down, as data and as objects. Hashes, never contents.
 *
 * The journal at the source is Secrets, because the hash of a weak secret can be guessed: it must not be readable by more accounts than the
 * secret itself. The record at the target is a ConfigMap: it has no hash of a single object.
 */
import { andThen, base64OfText, bytesOfBase64, err, ok, textOfBytes, type Result } from "#base";
import { fieldAt, isJsonObject, parseJson, type Json, type KubeObject } from "#kube";
import { JOURNAL_LABEL } from "../graph/names.ts";
import type { JournalPhase, RecordState } from "../ownership/decide.ts";

export const HEAD_NAME = "lattice-move-journal";
export const RECORD_NAME = "lattice-move-record";

/** Group, version, plural and kind of an object: a journal is read by runs that discover nothing. */
export type EntryKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
};

/** A Cluster or a ClusterClass, and whether it was paused before the move. */
export type PausableEntry = { readonly kind: EntryKind; readonly name: string; readonly wasPaused: boolean };

export type JournalHead = {
  readonly id: string;
  readonly phase: JournalPhase;
  readonly epoch: number;
  /** The identity of the target: a second run with another one is refused. */
  readonly target: string;
  readonly source: string;
  readonly startedAt: string;
  readonly pausables: readonly PausableEntry[];
  /** Of an export: the id of its directory, as the manifest there has it. No other one is completed. */
  readonly directory?: string;
};

export type BatchEntry = {
  readonly kind: EntryKind;
  readonly namespace?: string;
  readonly name: string;
  /** Of the original. */
  readonly uid: string;
  /** Of the content that its copy was made of. Empty: not known, because a run was killed while it sent another one. */
  readonly hash: string;
  /** Copied, and kept at the source as well. */
  readonly kept?: true;
  /** Not copied: the target has its own. */
  readonly left?: true;
  /** The uid of the copy, once the target has acknowledged it. */
  readonly copy?: string;
};

export type JournalBatch = {
  /** The id of its move. A batch of another one was written by a request that arrived too late. */
  readonly move: string;
  readonly number: number;
  readonly entries: readonly BatchEntry[];
  /** Counts the runs of an export that have found these entries: the version changes, and a request of an earlier run fails. */
  readonly runs?: number;
};

export type TargetRecordData = {
  readonly id: string;
  readonly state: RecordState;
  readonly epoch: number;
  /** The identity of the source. */
  readonly source: string;
  readonly startedAt: string;
  readonly objects: number;
  /** Over the hashes of all objects. */
  readonly digest: string;
  readonly finishedAt: string;
  /** Counts the runs that continued after a commit was announced: the version changes, and a commit of an earlier run fails. */
  readonly attempt: number;
  /** Of a restore: uids of its copies outside the namespace. Another object with their names was there before, and an abort leaves it. */
  readonly besideCopies?: readonly string[];
  /**
   * What was paused before the move and stays paused, as `pausableText`; all else that it has paused, the target unpauses. Absent: not known, because it is a
   * record of an import or of an earlier version.
   */
  readonly stillPaused?: readonly string[];
};

/** Names a Cluster or a ClusterClass of the namespace in a record. */
export function pausableText({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`;
}

export function batchName(number: number): string {
  return `lattice-move-batch-${String(number).padStart(4, "0")}`;
}

export function headObject(namespace: string, head: JournalHead): KubeObject {
  return journalSecret({ namespace, name: HEAD_NAME, part: "head" }, head);
}

export function batchObject(namespace: string, batch: JournalBatch): KubeObject {
  return journalSecret({ namespace, name: batchName(batch.number), part: "batch" }, batch);
}

function journalSecret({ namespace, name, part }: { namespace: string; name: string; part: string }, content: Json): KubeObject {
  const metadata = { namespace, name, labels: { [JOURNAL_LABEL]: part } };
  const data = { journal: base64OfText(JSON.stringify(content)) };
  return { apiVersion: "v1", kind: "Secret", metadata, type: "lattice.dev/move-journal", data } as KubeObject;
}

export function parseHead(object: KubeObject): Result<JournalHead, string> {
  const content = contentOf(object);
  if (!content.ok) return content;
  const isHead = typeof fieldAt(content.value, "id") === "string" && Array.isArray(fieldAt(content.value, "pausables"));
  return isHead ? ok(content.value as unknown as JournalHead) : err(damaged(object));
}

export function parseBatch(object: KubeObject): Result<JournalBatch, string> {
  const content = contentOf(object);
  if (!content.ok) return content;
  const [move, number] = [fieldAt(content.value, "move"), fieldAt(content.value, "number")];
  const isBatch = typeof move === "string" && typeof number === "number" && Array.isArray(fieldAt(content.value, "entries"));
  return isBatch ? ok(withSharedKinds(content.value as unknown as JournalBatch)) : err(damaged(object));
}

/** The journal of a large move is held as a whole: its entries have few kinds. */
function withSharedKinds(batch: JournalBatch): JournalBatch {
  const kinds = new Map<string, EntryKind>();
  const shared = (kind: EntryKind) => {
    const text = JSON.stringify(kind);
    const known = kinds.get(text) ?? kind;
    kinds.set(text, known);
    return known;
  };
  return { ...batch, entries: batch.entries.map((entry) => ({ ...entry, kind: shared(entry.kind) })) };
}

function contentOf(object: KubeObject): Result<Json, string> {
  const encoded = fieldAt(object, "data", "journal");
  const parsed = andThen(andThen(bytesOfBase64(typeof encoded === "string" ? encoded : ""), textOfBytes), parseJson);
  return parsed.ok && isJsonObject(parsed.value) ? parsed : err(damaged(object));
}

function damaged({ metadata: { namespace, name } }: KubeObject): string {
  return `Secret ${namespace}/${name} is no journal of a move; it was changed by something else, so the state of the move is not known`;
}

export function recordObject(namespace: string, record: TargetRecordData): KubeObject {
  const { epoch, objects, attempt, besideCopies = [], stillPaused, ...texts } = record;
  const numbers = { epoch: String(epoch), objects: String(objects), attempt: String(attempt) };
  const beside = besideCopies.length === 0 ? {} : { besideCopies: besideCopies.join(" ") };
  const data = { ...texts, ...numbers, ...beside, ...(stillPaused === undefined ? {} : { stillPaused: stillPaused.join(" ") }) };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace, name: RECORD_NAME, labels: { [JOURNAL_LABEL]: "record" } },
    data,
  } as KubeObject;
}

export function parseRecord(object: KubeObject): TargetRecordData | undefined {
  const text = (name: string) => {
    const value = fieldAt(object, "data", name);
    return typeof value === "string" ? value : "";
  };
  const state = text("state");
  if (text("id") === "" || (state !== "receiving" && state !== "committed" && state !== "revoked")) return undefined;
  const { id, source, startedAt, digest, finishedAt } = Object.fromEntries(
    ["id", "source", "startedAt", "digest", "finishedAt"].map((name) => [name, text(name)]),
  ) as Record<"id" | "source" | "startedAt" | "digest" | "finishedAt", string>;
  const [epoch = 0, objects = 0, attempt = 0] = ["epoch", "objects", "attempt"].map((name) => Number(text(name)) || 0);
  const copies = text("besideCopies").split(" ").filter(Boolean);
  const beside = copies.length === 0 ? {} : { besideCopies: copies };
  const paused =
    typeof fieldAt(object, "data", "stillPaused") === "string" ? { stillPaused: text("stillPaused").split(" ").filter(Boolean) } : {};
  return { id, state, source, startedAt, digest, finishedAt, epoch, objects, attempt, ...beside, ...paused };
}
