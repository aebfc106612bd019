/**
 * Whether an API server owns the clusters of a namespace, by what moves have left there. Pure.
 *
 * Both sides of a move ask this before they write Cluster API objects: a side that is moving writes none, whichever direction the move has.
 */
import type { KubeObject } from "#kube";
import { parseRecord } from "./records.ts";

export type NamespaceOwnership =
  /** No move has ended here: the side that made the objects owns them. */
  | { readonly state: "never-moved" }
  /** Objects arrive, or a move from here has begun. */
  | { readonly state: "moving" }
  /** A move has ended here. */
  | { readonly state: "owner"; readonly epoch: number };

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
  return data?.state === "committed" ? { state: "owner", epoch: data.epoch } : { state: "moving" };
}
