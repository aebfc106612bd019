/** The objects of the source as a transfer may copy them: paused, not blocked, and still those that were planned. */
import { sleep } from "#base";
import { describeObject, field, fieldAt, type KubeObject } from "#kube";
import { BLOCK_MOVE_ANNOTATION, CLUSTER_LABEL } from "../graph/names.ts";
import type { MoveNode, ObjectGraph } from "../graph/object-graph.ts";
import type { ObjectOutline } from "../graph/outline.ts";
import type { JournalHead } from "../journal/records.ts";
import { isPaused, pausedBy } from "../plan/content.ts";
import { beingDeleted } from "../plan/problems.ts";
import type { SourceContext } from "./context.ts";
import { discoverGraph, type SourceKinds } from "./discover.ts";
import { refusal, stoppedAt, type Moved } from "./failure.ts";

/** Reads of objects that block the move. */
const POLL_MS = 1_000;
/** How long controllers have to observe the pause. One that does not run never does. */
const OBSERVED_MS = 15_000;

export type WantedGraph<T extends ObjectOutline> = {
  readonly head: JournalHead;
  readonly kinds: SourceKinds;
  /** What is held of each object. */
  readonly take: (object: KubeObject) => T;
};

/** The objects to copy, once none of them blocks the move. */
export async function readyGraph<T extends ObjectOutline>(context: SourceContext, wanted: WantedGraph<T>): Moved<ObjectGraph<T>> {
  const { source, namespace, clock, signal, waitMs, report } = context;
  const { head, kinds, take } = wanted;
  const until = clock.monotonic() + waitMs;
  const observedUntil = clock.monotonic() + Math.min(waitMs, OBSERVED_MS);
  for (;;) {
    const graph = await discoverGraph(source, { namespace, kinds, take });
    if (!graph.ok) return graph;
    const changed = changedPlan(graph.value, head);
    if (changed.length > 0) return refusal(...changed);
    const { moved } = graph.value;
    const first = moved.find(({ object }) => Object.hasOwn(object.metadata.annotations ?? {}, BLOCK_MOVE_ANNOTATION));
    const working = moved.find(({ object }) => hasNotObservedPause(object));
    if (first === undefined && (working === undefined || clock.monotonic() >= observedUntil)) return graph;
    if (first !== undefined && clock.monotonic() >= until)
      return refusal(`${describeObject(first.object)} still has annotation ${BLOCK_MOVE_ANNOTATION}; its provider has not released it`);
    report({ step: "wait", note: waitingFor(first, working) });
    if (!(await sleep(clock, POLL_MS, signal))) return stoppedAt("stopped while an object blocked the move");
  }
}

/** Its controller reports whether it is paused, and has not observed yet that it is: it may be in the middle of its work. */
function hasNotObservedPause(object: ObjectOutline): boolean {
  const conditions = fieldAt(object, "status", "conditions");
  const isOfCluster = isPaused(object) || Object.hasOwn(object.metadata.labels ?? {}, CLUSTER_LABEL);
  return (
    isOfCluster &&
    Array.isArray(conditions) &&
    conditions.some((one) => field(one, "type") === "Paused" && field(one, "status") === "False")
  );
}

function waitingFor(blocking: MoveNode | undefined, working: MoveNode | undefined): string {
  if (blocking !== undefined) return `${describeObject(blocking.object)} blocks the move by annotation`;
  return working === undefined ? "" : `the controller of ${describeObject(working.object)} has not observed the pause yet`;
}

/** What has appeared or gone since the source was paused and must not be copied. */
function changedPlan(graph: ObjectGraph, { pausables }: JournalHead): readonly string[] {
  const known = new Set(pausables.map(({ kind, name }) => `${kind.kind}/${name}`));
  const isKnown = ({ object }: MoveNode) => known.has(`${object.kind}/${object.metadata.name}`);
  const pausable = graph.moved.filter(({ object, kept }) => kept !== "other-namespace" && pausedBy(object) !== undefined);
  const fresh = pausable.filter((node) => node.kept === undefined && !isKnown(node));
  // the move has paused them, and what stays at the source is not unpaused at the end
  const staying = pausable.filter((node) => node.kept !== undefined && isKnown(node));
  return [
    ...graph.problems,
    ...beingDeleted(graph).map((object) => `${describeObject(object)} is being deleted; it is finished at the source, not copied`),
    ...fresh.map(
      ({ object }) => `${describeObject(object)} has appeared since the move began; delete it, or abort the move and begin again`,
    ),
    ...staying.map(({ object, kept }) => {
      const by = kept === "used-elsewhere" ? "used by a Cluster of another namespace" : "below a cluster-scoped object";
      return `${describeObject(object)} is ${by} since the move began; run the command again, and it is copied and kept`;
    }),
  ];
}
