/** What every step of a move works with. */
import type { Clock } from "#base";
import type { ObjectOutline } from "../graph/outline.ts";
import type { MoveStep, AbortStep } from "../ownership/decide.ts";
import type { ExportAbortStep, ExportStep } from "../ownership/export-steps.ts";
import type { ReceiveAbortStep, ReceiveStep } from "../ownership/receive-steps.ts";
import type { ApiSide } from "./api-side.ts";

export type MoveProgress = {
  readonly step: MoveStep | AbortStep | ExportStep | ExportAbortStep | ReceiveStep | ReceiveAbortStep | "wait" | "verify" | "read";
  /** Objects, where the step counts them. */
  readonly done?: number;
  readonly total?: number;
  /** What is waited for, or what the step found. */
  readonly note?: string;
};

export type MoveContext = {
  readonly namespace: string;
  readonly source: ApiSide;
  readonly target: ApiSide;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** How long objects that block the move, or are being deleted, are waited for. */
  readonly waitMs: number;
  /** The one Cluster that the namespace may have, as for a pivot. Absent: all Clusters of the namespace are moved. */
  readonly onlyCluster?: string | undefined;
  /**
   * What has brought the objects to the source, a former parent or bootstrap cluster, cannot reach it any more: it is not waited for, although its move has
   * not ended by the record of the source.
   */
  readonly supersedes?: true | undefined;
  readonly report: (progress: MoveProgress) => void;
  /** Whether the target makes this object itself; absent: none. */
  readonly leftToTarget?: ((object: ObjectOutline) => boolean) | undefined;
};

/** What a step works with that needs no target: an export has none. */
export type SourceContext = Omit<MoveContext, "target">;

/** Requests at a time, to one server. A tunnel to a child has 64 connections, and others need some of them. */
export const PARALLEL = 48;
