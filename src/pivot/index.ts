export type { MoveNode, KeptBecause } from "./graph/object-graph.ts";
export { batchesOf } from "./plan/batches.ts";
export type { MoveProgress } from "./mover/context.ts";
export type { MoveFailure } from "./mover/failure.ts";
export type { MoveReport } from "./mover/move.ts";
export { abortNamespaceMove, moveNamespace, planNamespaceMove, type MoveOptions, type PlannedMove } from "./mover/move-namespace.ts";
export { HEAD_NAME as MOVE_JOURNAL, RECORD_NAME as MOVE_RECORD } from "./journal/records.ts";
export { ownershipOf, type NamespaceOwnership } from "./journal/owner.ts";
