/** The first step of a move: the plan and its conditions, checked before anything is written, and the intent in the journal. */
import { ok, sha256Hex, sleep, timestamp } from "#base";
import { describeObject } from "#kube";
import type { MoveNode, ObjectGraph } from "../graph/object-graph.ts";
import { outlineOf } from "../graph/outline.ts";
import { RECORD_NAME, type JournalHead } from "../journal/records.ts";
import { isPaused, pausedBy } from "../plan/content.ts";
import { beingDeleted, planProblems, type TargetFacts } from "../plan/problems.ts";
import type { MoveContext, SourceContext } from "./context.ts";
import { listCopies, type CopyState } from "./copies.ts";
import { discoverGraph, discoverKinds, discoverTarget, unlabelledObjects, type SourceKinds } from "./discover.ts";
import { refusal, stoppedAt, type Moved } from "./failure.ts";
import { clusterIdentity, createHead, deleteAllBatches, readHead, readRecord, type ReadRecord } from "./journal.ts";
import { isLeftToTarget, missingAtTarget } from "./left-to-target.ts";

/** What a dry run shows. */
export type MovePlan = {
  readonly moved: readonly MoveNode[];
  readonly left: ObjectGraph["left"];
  /** Why the move cannot begin; empty: it can. */
  readonly problems: readonly string[];
};

const POLL_MS = 1_000;

export async function planMove(context: MoveContext, facts: PlanFacts): Moved<MovePlan> {
  const traces = await traceProblems(context);
  if (!traces.ok) return traces;
  const graph = await discoverGraph(context.source, { namespace: context.namespace, kinds: facts.kinds, take: outlineOf });
  return graph.ok ? planOf(context, { ...facts, traces: traces.value.problems }, graph.value) : graph;
}

/** What both sides serve. Definitions are large, so both are read at the same time. */
export type PlanFacts = { readonly kinds: SourceKinds; readonly target: TargetFacts };

export async function discoverFacts({ source, target }: Pick<MoveContext, "source" | "target">): Moved<PlanFacts> {
  const [kinds, facts] = await Promise.all([discoverKinds(source), discoverTarget(target)]);
  if (!kinds.ok) return kinds;
  return facts.ok ? ok({ kinds: kinds.value, target: facts.value }) : facts;
}

type PlanInput = PlanFacts & { readonly traces: readonly string[] };

async function planOf(context: MoveContext, { kinds, target, traces }: PlanInput, graph: ObjectGraph): Moved<MovePlan> {
  const { moved, left } = graph;
  const [unlabelled, existing] = await Promise.all([
    unlabelledObjects(context.source, context.namespace, { graph, kinds }),
    listCopies(context.target, moved),
  ]);
  if (!unlabelled.ok) return unlabelled;
  if (!existing.ok) return existing;
  const problems = planProblems({ graph, providers: kinds.providers, unlabelled: unlabelled.value, target });
  const leftOut = moved.filter((node) => isLeftToTarget(context, node));
  const taken = moved.filter((node) => node.kept === undefined && !leftOut.includes(node) && isComplete(existing.value.of(node.object)));
  const taking = taken.map(
    ({ object }) => `${describeObject(object)} exists at the target already; delete it there, or move into another API server`,
  );
  const others = [...otherClusters(moved, context), ...pausedClusters(moved, context), ...missingAtTarget(leftOut, existing.value)];
  return ok({ moved, left, problems: moved.length === 0 ? problems : [...problems, ...others, ...traces, ...taking] });
}

function otherClusters(moved: readonly MoveNode[], { onlyCluster, namespace }: MoveContext): readonly string[] {
  if (onlyCluster === undefined) return [];
  const clusters = moved.filter(({ object }) => pausedBy(object) === "spec" && object.metadata.name !== onlyCluster);
  return clusters.map(
    ({ object }) =>
      `${describeObject(object)} is in the namespace of Cluster ${onlyCluster}; a pivot moves one Cluster: delete it from namespace ${namespace}, or move it elsewhere`,
  );
}

/** A pivot starts by itself, so that a pause is a reason to leave the Cluster alone. `lattice move` is started by a person, and moves it paused. */
function pausedClusters(moved: readonly MoveNode[], { onlyCluster }: MoveContext): readonly string[] {
  if (onlyCluster === undefined) return [];
  const paused = moved.filter(({ object }) => pausedBy(object) === "spec" && isPaused(object));
  return paused.map(({ object }) => `${describeObject(object)} is paused; set spec.paused to false there, and its pivot begins`);
}

/** An unfinished copy belongs to no one: a move that was aborted has left it, by a request that arrived late. */
export function isComplete(existing: CopyState | undefined): boolean {
  return existing !== undefined && !existing.isMarked;
}

/**
 * What other moves have left: no side may be in two of them. Read before the objects: one that ends in between would otherwise have left its
 * pause in them.
 */
export async function traceProblems({ source, target, namespace, supersedes }: MoveContext): Moved<Traces> {
  const own = await readRecord(source, namespace);
  if (!own.ok) return own;
  const away = await readHead({ source: target, namespace });
  if (!away.ok) return away;
  const ended = away.value === undefined ? await hasNoSource(own.value, { target, supersedes }) : ok(false);
  if (!ended.ok) return ended;
  const receiving = ended.value ? [] : receivingProblems(own.value, namespace);
  const leaving =
    away.value === undefined
      ? []
      : [`the target has an unfinished move of namespace ${namespace} (move ${away.value.id}); finish or abort that one first`];
  return ok({ own: own.value, problems: [...receiving, ...leaving] });
}

/** `own`: the record of the source, as it was before its objects were read. */
type Traces = { readonly own: ReadRecord | undefined; readonly problems: readonly string[] };

/**
 * Read after the journal was written: a move that registers here later finds the journal, and is undone; one that has registered before is found here.
 * What was planned may have copies of it.
 */
async function receivedSince(context: MoveContext, before: ReadRecord | undefined): Moved<void> {
  const traces = await traceProblems(context);
  if (!traces.ok) return traces;
  const { own, problems } = traces.value;
  if (problems.length > 0) return refusal(...problems);
  if (own?.object.metadata.resourceVersion === before?.object.metadata.resourceVersion) return ok(undefined);
  return refusal(`the source has received namespace ${context.namespace} while this move was planned; run the command again`);
}

/** Nothing would finish the commit: its source is gone, or is the target, where no journal is left. */
async function hasNoSource(
  own: ReadRecord | undefined,
  { target, supersedes }: Pick<MoveContext, "target" | "supersedes">,
): Moved<boolean> {
  if (own?.data.state !== "committed" || own.data.finishedAt !== "") return ok(false);
  if (supersedes === true) return ok(true);
  const identity = await clusterIdentity(target);
  return identity.ok ? ok(identity.value === own.data.source) : identity;
}

/** The end of a move deletes the record of its source, which the one that brought the objects there needs until it has finished. */
export function receivingProblems(own: ReadRecord | undefined, namespace: string): readonly string[] {
  if (own === undefined || (own.data.state === "committed" && own.data.finishedAt !== "")) return [];
  const { id, state } = own.data;
  if (state !== "committed") return [`the source is itself receiving namespace ${namespace} (move ${id}); finish or abort that move first`];
  return [
    `the source has not finished receiving namespace ${namespace} (move ${id}); run that move or import to its end, or, if what it came from is gone, unpause at the source what is paused and set data.finishedAt of its ConfigMap ${namespace}/${RECORD_NAME} to the time`,
  ];
}

export type MoveEnds = { readonly source: string; readonly target: string };

/** Waits for objects that are being deleted, then checks everything and writes the intent. Undefined: there is nothing to move. */
export async function begin(context: MoveContext, ends: MoveEnds, facts: PlanFacts): Moved<JournalHead | undefined> {
  const traces = await traceProblems(context);
  if (!traces.ok) return traces;
  const settled = await settledGraph(context, facts.kinds);
  if (!settled.ok) return settled;
  const plan = await planOf(context, { ...facts, traces: traces.value.problems }, settled.value);
  if (!plan.ok) return plan;
  const { moved, problems } = plan.value;
  if (moved.length === 0) return ok(undefined);
  if (problems.length > 0) return refusal(...problems);
  const epoch = await nextEpoch(context);
  if (!epoch.ok) return epoch;
  const head: JournalHead = {
    id: sha256Hex(`${ends.source} ${context.namespace} ${context.clock.now()} ${context.random()}`).slice(0, 16),
    phase: "intent",
    epoch: epoch.value,
    ...ends,
    startedAt: timestamp(context.clock),
    pausables: moved.filter(({ object, kept }) => kept === undefined && pausedBy(object) !== undefined).map(pausableOf),
  };
  // without a journal, batches are what requests of an earlier move have written too late
  const cleared = await deleteAllBatches(context);
  if (!cleared.ok) return cleared;
  const written = await createHead(context, head);
  if (!written.ok) return written;
  const received = await receivedSince(context, traces.value.own);
  return received.ok ? ok(head) : received;
}

export function pausableOf({ object, kind: { resource } }: MoveNode): JournalHead["pausables"][number] {
  const { group, version, kind, plural, namespaced } = resource;
  return { kind: { group, version, kind, plural, namespaced }, name: object.metadata.name, wasPaused: isPaused(object) };
}

/** What is to be moved once nothing of it is being deleted. The controllers of the source still run: they finish deletions. */
export async function settledGraph(
  { source, namespace, clock, signal, waitMs, report }: SourceContext,
  kinds: SourceKinds,
): Moved<ObjectGraph> {
  const until = clock.monotonic() + waitMs;
  for (;;) {
    const graph = await discoverGraph(source, { namespace, kinds, take: outlineOf });
    if (!graph.ok) return graph;
    const deleting = beingDeleted(graph.value);
    const [first] = deleting;
    if (first === undefined) return graph;
    const cluster = deleting.find(({ kind }) => kind === "Cluster");
    if (cluster !== undefined) return refusal(`${describeObject(cluster)} is being deleted; it is finished at the source, not moved`);
    if (clock.monotonic() >= until)
      return refusal(
        ...deleting.map((object) => `${describeObject(object)} is still being deleted; it is finished at the source, not copied`),
      );
    report({ step: "wait", note: `${describeObject(first)} is being deleted` });
    if (!(await sleep(clock, POLL_MS, signal))) return stoppedAt("stopped while an object was being deleted");
  }
}

/** One more than any that the two sides have recorded. */
async function nextEpoch({ source, target, namespace }: MoveContext): Moved<number> {
  const own = await readRecord(source, namespace);
  if (!own.ok) return own;
  const other = await readRecord(target, namespace);
  if (!other.ok) return other;
  return ok(Math.max(own.value?.data.epoch ?? 0, other.value?.data.epoch ?? 0) + 1);
}
