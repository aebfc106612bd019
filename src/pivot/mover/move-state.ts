/** What a namespace shows about moves, on one server: its journal, its record, and who owns by them. Reads only. */
import { ok, type Clock } from "#base";
import type { KubeClient } from "#kube-client";
import type { JournalHead, TargetRecordData } from "../journal/records.ts";
import { ownershipOf, type NamespaceOwnership } from "../journal/owner.ts";
import { nextAbortStep } from "../ownership/decide.ts";
import { openSide } from "./api-side.ts";
import { FOLDER_TARGET } from "./export.ts";
import type { Moved } from "./failure.ts";
import { clusterIdentity, readHead, readRecord } from "./journal.ts";

export type MoveState = {
  /** The cluster: uid and age of Namespace kube-system. */
  readonly identity: string;
  readonly journal: JournalHead | undefined;
  /** The journal is of an export to a directory. */
  readonly exported: boolean;
  readonly record: TargetRecordData | undefined;
  readonly ownership: NamespaceOwnership;
};

export type MoveStateOptions = {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
};

/** Why a move cannot be undone while its target does not answer: by the specification. */
export function abortWithoutTarget(journal: JournalHead): string {
  const decision = nextAbortStep({ journal, record: "unknown", hasBatches: true, targetHasCopies: true, sourceResumed: false });
  return "refused" in decision ? decision.refused : "";
}

export async function readMoveState({ client, namespace, clock, random, signal }: MoveStateOptions): Moved<MoveState> {
  const source = openSide({ client, side: "source", clock, random, signal });
  const identity = await clusterIdentity(source);
  if (!identity.ok) return identity;
  const head = await readHead({ source, namespace });
  if (!head.ok) return head;
  const record = await readRecord(source, namespace);
  if (!record.ok) return record;
  return ok({
    identity: identity.value,
    journal: head.value,
    exported: head.value?.target === FOLDER_TARGET,
    record: record.value?.data,
    ownership: ownershipOf({ record: record.value?.object, hasJournal: head.value !== undefined }),
  });
}
