/**
 * A move: observe both sides, decide the next step by the specification, perform it, until there is none. A run that was killed leaves a
 * journal, and the next run continues where that one ended, because it observes the same.
 */
import { ok } from "#base";
import { nextStep, type MoveStep } from "../ownership/decide.ts";
import type { MoveContext } from "./context.ts";
import { refusal, type Moved } from "./failure.ts";
import { clusterIdentity, readHead } from "./journal.ts";
import type { MoveRun } from "./move-run.ts";
import { MOVE_STEPS } from "./move-steps.ts";
import { observeMove, unanswered } from "./observe-move.ts";

export type MoveReport = {
  /** Absent: there was nothing to move. */
  readonly id?: string;
  readonly objects: number;
  /** Of the hashes of all objects. */
  readonly digest: string;
  readonly epoch: number;
  /** Clusters and ClusterClasses that were paused before the move, and still are. */
  readonly stillPaused: readonly string[];
  /** Milliseconds by step, of this run. */
  readonly durations: Readonly<Partial<Record<MoveStep, number>>>;
  readonly totalMs: number;
};

/** Guards against a specification that repeats a step for ever. */
const MOST_STEPS = 100;

export async function runMove(context: MoveContext): Moved<MoveReport> {
  const opened = await openRun(context);
  if (!opened.ok) return opened;
  const run = opened.value;
  const began = context.clock.monotonic();
  const durations = new Map<MoveStep, number>();
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const view = await observeMove(run);
    if (!view.ok) return view;
    const decision = nextStep(view.value);
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done") return ok(reportOf(run, durations, context.clock.monotonic() - began));
    const started = context.clock.monotonic();
    context.report({ step: decision.step });
    const performed = await MOVE_STEPS[decision.step](run);
    if (!performed.ok) return performed;
    durations.set(decision.step, (durations.get(decision.step) ?? 0) + context.clock.monotonic() - started);
  }
  return refusal("the move does not advance: a step has no effect on what is observed; run the command again");
}

async function openRun(context: MoveContext): Moved<MoveRun> {
  const source = await clusterIdentity(context.source);
  if (!source.ok) return source;
  const head = await readHead(context);
  if (!head.ok) return head;
  const target = await clusterIdentity(context.target);
  if (!target.ok) return head.value === undefined ? target : unanswered(head.value, target);
  if (source.value === target.value) return refusal("both kubeconfigs lead to the same cluster; there is nothing to move");
  const clusters = { source: source.value, target: target.value };
  return ok({
    context,
    ...clusters,
    head: undefined,
    record: undefined,
    transferred: undefined,
    begun: false,
    empty: false,
    finished: undefined,
    fenced: false,
    kinds: undefined,
    last: undefined,
  });
}

function reportOf({ last, finished }: MoveRun, durations: ReadonlyMap<MoveStep, number>, totalMs: number): MoveReport {
  const stillPaused = (last?.pausables ?? []).filter(({ wasPaused }) => wasPaused).map(({ kind, name }) => `${kind.kind} ${name}`);
  const { objects = 0, digest = "", epoch = 0 } = finished ?? {};
  return {
    ...(last === undefined ? {} : { id: last.id }),
    objects,
    digest,
    epoch,
    stillPaused,
    durations: Object.fromEntries(durations),
    totalMs,
  };
}
