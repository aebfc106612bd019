/**
 * Whether an API server owns the clusters of a namespace, by what moves have left there. Pure.
 *
 * Both sides of a move ask this before they write Cluster API objects: a side that is moving writes none, whichever direction the move has.
 */
import type { KubeObject } from "#kube";
import { RESUMED_ANNOTATION } from "../graph/names.ts";
import { parseRecord, pausableText, type TargetRecordData } from "./records.ts";

export type NamespaceOwnership =
  /** No move has ended here: the side that made the objects owns them. */
  | { readonly state: "never-moved" }
  /** Objects arrive, or a move from here has begun. */
  | { readonly state: "moving" }
  /** A move has ended here. */
  | {
      readonly state: "owner";
      readonly epoch: number;
      /** The move is committed and has not ended: what it has paused may still be. Absent also when the record does not say what that is. */
      readonly unfinished?: UnfinishedMove;
    };

export type UnfinishedMove = { readonly id: string } & Required<Pick<TargetRecordData, "stillPaused">>;

export type OwnershipTraces = {
  /** ConfigMap `MOVE_RECORD` of the namespace. */
  readonly record: KubeObject | undefined;
  /** Secret `MOVE_JOURNAL` of the namespace exists. */
  readonly hasJournal: boolean;
};

export function ownershipOf({ record, hasJournal }: OwnershipTraces): NamespaceOwnership {
  if (hasJournal) return { state: "moving" };
  if (record === undefined) return { state: "never-moved" };
  const data = parseRecord(record);
  // an unreadable record is no proof of ownership
  if (data?.state !== "committed") return { state: "moving" };
  const { id, epoch, finishedAt, stillPaused } = data;
  return { state: "owner", epoch, ...(finishedAt === "" && stillPaused !== undefined ? { unfinished: { id, stillPaused } } : {}) };
}

/**
 * The move after which the owner has to unpause its Cluster itself, because the mover may be gone; undefined: there is none. It does so once: a later pause is
 * a person's, and so is one from before the move.
 */
export function moveToResume(ownership: NamespaceOwnership, cluster: KubeObject | undefined): string | undefined {
  if (ownership.state !== "owner" || ownership.unfinished === undefined || cluster === undefined) return undefined;
  const { id, stillPaused } = ownership.unfinished;
  const { name, annotations } = cluster.metadata;
  const isDone = stillPaused.includes(pausableText({ kind: "Cluster", name })) || annotations?.[RESUMED_ANNOTATION] === id;
  return isDone ? undefined : id;
}
