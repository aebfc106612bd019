/** The points of the crash matrix of pivot and unpivot. */

export type Direction = "to-child" | "to-parent";
export type Disturbance =
  | { readonly kind: "cell killed" | "agent killed"; readonly when: "before" | "after" }
  | {
      /** At a write of the cell, which has its effect. A server that is killed starts again with its data; the answer is lost. */
      readonly kind: "both killed" | "parent's server killed" | "child's server killed" | "both servers killed";
      readonly when: "after";
    }
  | {
      /** A pivot only. The cell is killed, and the next process, or the same one, is asked to take the objects back, or to abort the pivot. */
      readonly kind: "killed and deleted" | "deleted" | "killed and aborted" | "aborted";
      readonly when: "after";
    }
  | {
      /** A way back only. The resource is released, at the next process or the same one: the child owns its objects in the end. */
      readonly kind: "killed and released" | "released";
      readonly when: "after";
    }
  | { readonly kind: "connection cut"; readonly when: "at" };
export type PivotPoint = Disturbance & { readonly direction: Direction; readonly index: number };
export type PivotCounts = { readonly cellWrites: number; readonly agentWrites: number; readonly messages: number };

export const describePoint = ({ direction, kind, when, index }: PivotPoint) => `${direction}: ${kind} ${when} ${index}`;

function all(direction: Direction, count: number, disturbance: Disturbance): readonly PivotPoint[] {
  return Array.from({ length: count }, (_, at) => ({ ...disturbance, direction, index: at + 1 }));
}

/** Processes that are killed, and the connection. */
export function pointsOf(direction: Direction, { cellWrites, agentWrites, messages }: PivotCounts): readonly PivotPoint[] {
  return [
    ...all(direction, cellWrites, { kind: "cell killed", when: "before" }),
    ...all(direction, cellWrites, { kind: "cell killed", when: "after" }),
    ...all(direction, agentWrites, { kind: "agent killed", when: "before" }),
    ...all(direction, agentWrites, { kind: "agent killed", when: "after" }),
    ...all(direction, messages, { kind: "connection cut", when: "at" }),
    ...all(direction, cellWrites, { kind: "both killed", when: "after" }),
  ];
}

/** A pivot that is not wanted any more. */
export function endedPivots({ cellWrites }: PivotCounts): readonly PivotPoint[] {
  const kinds = ["killed and deleted", "deleted", "killed and aborted", "aborted"] as const;
  return kinds.flatMap((kind) => all("to-child", cellWrites, { kind, when: "after" }));
}

/** A child that is released while, or after, its objects are taken back. */
export function releases({ cellWrites }: PivotCounts): readonly PivotPoint[] {
  return (["killed and released", "released"] as const).flatMap((kind) => all("to-parent", cellWrites, { kind, when: "after" }));
}

export function serverPoints(direction: Direction, { cellWrites }: PivotCounts): readonly PivotPoint[] {
  const kinds = ["parent's server killed", "child's server killed", "both servers killed"] as const;
  return kinds.flatMap((kind) => all(direction, cellWrites, { kind, when: "after" }));
}
