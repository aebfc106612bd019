/**
 * The specification of a move, checked: a model of two API servers on which runs follow `nextStep` and `nextAbortStep`, killed at any write,
 * with lost and late answers, with a target that does not answer, and with an abort at any time. After every write the invariants must hold;
 * undisturbed runs at the end must settle with one owner.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextAbortStep, nextStep, type AbortDecision, type MoveDecision, type MoveView, type RecordState } from "./decide.ts";

type Model = {
  journal: { id: string; phase: "intent" | "committing" | "committed"; epoch: number } | undefined;
  /** `version` is its resourceVersion: a write names the one it has read. */
  record: { id: string; state: RecordState; version: number; epoch: number } | undefined;
  sourcePaused: boolean;
  targetPaused: boolean;
  /** Objects that exist. */
  source: number;
  target: number;
  /** The journal has batches. */
  batches: boolean;
  /** The journal was written by the current run. */
  begun: boolean;
  /** Verified by the current run. */
  verified: boolean;
  /** The record was written by the current run. */
  fenced: boolean;
  /** Writes of killed runs that the target executes later. */
  late: (() => void)[];
  ids: number;
  version: number;
};

const OBJECTS = 3;

const newModel = (): Model => ({
  journal: undefined,
  record: undefined,
  sourcePaused: false,
  targetPaused: true,
  source: OBJECTS,
  target: 0,
  batches: false,
  begun: false,
  verified: false,
  fenced: false,
  late: [],
  ids: 0,
  version: 0,
});

/** What would be wrong now. */
function violation(model: Model): string | undefined {
  const { source, target, sourcePaused, targetPaused, journal, record } = model;
  if (source > 0 && target > 0 && !sourcePaused && !targetPaused) return "both sides are unpaused";
  if (source < OBJECTS && target < OBJECTS) return "an object has no copy";
  if (source < OBJECTS && record?.state !== "committed") return "the source deletes before the target owns";
  if (!targetPaused && target > 0 && record?.state !== "committed") return "the target is unpaused before the commit";
  if (record?.state === "committed" && record.id === journal?.id && target < OBJECTS) return "a commit without all objects";
  if (record?.state === "committed" && source > 0 && !sourcePaused) return "the source is unpaused although the target owns";
  return undefined;
}

type Writes = { readonly setRecord: (state: RecordState) => void; readonly kill: () => boolean };
type Deciders = { readonly move: typeof nextStep; readonly abort: typeof nextAbortStep };
const SPECIFICATION: Deciders = { move: nextStep, abort: nextAbortStep };

/** One run of the mover: it observes, decides and writes until it is done, refused, or killed. */
function run(model: Model, { move }: Deciders, { setRecord, kill }: Writes, reachable: () => boolean): string {
  [model.verified, model.fenced, model.begun] = [false, false, false];
  for (let step = 0; step < 60; step += 1) {
    const decision = move(viewOf(model, reachable()));
    if ("refused" in decision) return decision.refused;
    if (decision.step === "done") return "done";
    for (const write of writesOf(decision.step, model, setRecord)) {
      if (kill()) return "killed";
      write();
      const wrong = violation(model);
      if (wrong !== undefined) throw new Error(`${wrong} after ${decision.step}`);
    }
  }
  throw new Error("the move does not end");
}

function writesOf(
  step: Extract<MoveDecision, { step: unknown }>["step"],
  model: Model,
  setRecord: (state: RecordState) => void,
): readonly (() => void)[] {
  const phase = (name: "committing" | "committed") => () => {
    if (model.journal !== undefined) model.journal = { ...model.journal, phase: name };
  };
  switch (step) {
    case "write-intent":
      return [
        () => {
          model.journal = { id: `m${(model.ids += 1)}`, phase: "intent", epoch: model.ids };
          [model.begun, model.batches] = [true, false];
        },
      ];
    case "discard":
      return [() => (model.batches = false), () => (model.journal = undefined)];
    case "register":
      return [
        () => {
          setRecord("receiving");
          model.fenced = true;
        },
      ];
    case "pause":
      return [() => (model.sourcePaused = true)];
    case "transfer":
      return [
        () => (model.batches = true),
        ...Array.from({ length: OBJECTS - model.target }, () => () => {
          if (model.target === 0) model.targetPaused = true;
          model.target += 1;
        }),
        () => (model.verified = model.sourcePaused),
      ];
    case "announce-commit":
      return [phase("committing")];
    case "commit":
      return [() => setRecord("committed")];
    case "note-commit":
      return [phase("committed")];
    case "resume-target":
      return [() => (model.targetPaused = false)];
    case "delete-source":
      return Array.from({ length: model.source }, () => () => void (model.source -= 1));
    case "finish":
      return [() => (model.journal = undefined)];
    case "done":
      return [];
  }
}

function viewOf(model: Model, isReachable: boolean): MoveView {
  const { journal, record, sourcePaused, verified, fenced, targetPaused, source, begun, batches } = model;
  return {
    journal,
    hasBegun: begun || batches,
    record: isReachable ? (record === undefined ? "none" : { ...record, finished: false, sameSource: true }) : "unknown",
    sourcePaused: sourcePaused || source === 0,
    verified,
    fenced,
    targetResumed: !targetPaused,
    sourceHasObjects: source > 0,
  };
}

function runAbort(model: Model, { abort }: Deciders, { setRecord, kill }: Writes, reachable: () => boolean): string {
  for (let step = 0; step < 60; step += 1) {
    const view = viewOf(model, reachable());
    const decision: AbortDecision = abort({
      ...view,
      hasBatches: model.batches,
      targetHasCopies: model.target > 0,
      sourceResumed: !model.sourcePaused,
    });
    if ("refused" in decision) return decision.refused;
    if (decision.step === "done") return "done";
    if (kill()) return "killed";
    if (decision.step === "revoke") setRecord("revoked");
    if (decision.step === "delete-copies") model.target -= 1;
    if (decision.step === "resume-source") model.sourcePaused = false;
    if (decision.step === "forget") [model.journal, model.record, model.batches] = [undefined, undefined, false];
    const wrong = violation(model);
    if (wrong !== undefined) throw new Error(`${wrong} after ${decision.step}`);
  }
  throw new Error("the abort does not end");
}

/** "late": the last write of a killed run is executed at the target while a later run is at its write number `arriveAt`. */
const event = fc.record({
  arriveAt: fc.nat({ max: 6 }),
  what: fc.constantFrom("move" as const, "move" as const, "abort" as const, "unpause" as const),
  killAfter: fc.option(fc.nat({ max: 14 }), { nil: undefined }),
  late: fc.boolean(),
  partitioned: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});
const events = fc.array(event, { maxLength: 12 });

function play(model: Model, all: readonly (typeof event extends fc.Arbitrary<infer T> ? T : never)[], deciders: Deciders): void {
  for (const { what, killAfter, late, partitioned, arriveAt } of all) {
    // a person unpauses the source; only before the target owns it, since no move can prevent it afterwards
    if (what === "unpause") {
      if (model.record?.state !== "committed" && model.journal?.phase !== "committing") model.sourcePaused = false;
      continue;
    }
    const writes = disturbedWrites(model, { killAfter, late, arriveAt });
    if (what === "move") run(model, deciders, writes, () => !partitioned);
    else runAbort(model, deciders, writes, () => !partitioned);
  }
}

type Disturbance = { readonly killAfter: number | undefined; readonly late: boolean; readonly arriveAt: number };

function disturbedWrites(model: Model, { killAfter, late, arriveAt }: Disturbance): Writes {
  let left = killAfter ?? Number.POSITIVE_INFINITY;
  let passed = 0;
  return {
    kill: () => {
      if (passed === arriveAt) for (const arrive of model.late.splice(0)) arrive();
      const wrong = violation(model);
      if (wrong !== undefined) throw new Error(`${wrong} after a late write`);
      passed += 1;
      left -= 1;
      return left < 0;
    },
    setRecord: (state) => {
      const [{ id = "", epoch = 0 } = {}, read] = [model.journal, model.record?.version];
      const write = () => {
        if (model.record?.version !== read) return;
        model.record = { id, state, epoch, version: (model.version += 1) };
      };
      if (late && left === 0) model.late.push(write);
      else write();
    },
  };
}

function check(deciders: Deciders, runs: number): void {
  fc.assert(
    fc.property(events, (all) => {
      const model = newModel();
      play(model, all, deciders);
      for (const arrive of model.late.splice(0)) arrive();
      const calm = { what: "move" as const, killAfter: undefined, late: false, partitioned: false, arriveAt: 0 };
      play(model, [{ ...calm, what: model.record?.state === "revoked" ? "abort" : "move" }, calm], deciders);
      if (model.source > 0 || model.target < OBJECTS || model.targetPaused) throw new Error("the move has not ended with one owner");
    }),
    { numRuns: runs, seed: 16 },
  );
}

test("no order of crashes, late writes, partitions, aborts and unpausing breaks an invariant, and a calm run settles", () => {
  check(SPECIFICATION, 5_000);
});

/** Changes of the specification that each break an invariant: the check above must find them. */
const mutants: readonly { readonly name: string; readonly deciders: Deciders }[] = [
  {
    name: "the target is unpaused before the commit",
    deciders: moving((view, decision) => (decision === "announce-commit" && !view.targetResumed ? "resume-target" : decision)),
  },
  {
    name: "the source deletes before the target owns",
    deciders: moving((view, decision) => (decision === "commit" && view.sourceHasObjects ? "delete-source" : decision)),
  },
  {
    name: "the source is not paused",
    deciders: moving((view, decision) => (decision === "pause" ? (view.verified ? "announce-commit" : "transfer") : decision)),
  },
  {
    name: "the commit does not wait for the transfer",
    deciders: moving((_view, decision) => (decision === "transfer" ? "announce-commit" : decision)),
  },
  { name: "the commit is never sent", deciders: moving((_view, decision) => (decision === "commit" ? "note-commit" : decision)) },
  {
    name: "the source is deleted while the target is paused",
    deciders: moving((_view, decision) => (decision === "resume-target" ? "delete-source" : decision)),
  },
  {
    name: "the move ends before the source is deleted",
    deciders: moving((_view, decision) => (decision === "delete-source" ? "finish" : decision)),
  },
  {
    name: "an abort does not ask the target",
    deciders: {
      ...SPECIFICATION,
      abort: (view) => nextAbortStep({ ...view, record: "none", journal: view.journal && { ...view.journal, phase: "intent" } }),
    },
  },
  {
    name: "an abort after the commit",
    deciders: {
      ...SPECIFICATION,
      abort: (view) => {
        const decision = nextAbortStep(view);
        return "refused" in decision && !view.sourceResumed ? { step: "resume-source" } : decision;
      },
    },
  },
  {
    name: "an abort that does not revoke the record",
    deciders: {
      ...SPECIFICATION,
      abort: (view) => {
        const decision = nextAbortStep(view);
        return "step" in decision && decision.step === "revoke" ? { step: view.sourceResumed ? "forget" : "resume-source" } : decision;
      },
    },
  },
];

function moving(
  change: (view: MoveView, step: Extract<MoveDecision, { step: unknown }>["step"]) => Extract<MoveDecision, { step: unknown }>["step"],
): Deciders {
  return {
    ...SPECIFICATION,
    move: (view) => {
      const decision = nextStep(view);
      return "step" in decision ? { step: change(view, decision.step) } : decision;
    },
  };
}

describe("a changed specification is caught", () => {
  test.for(mutants)("$name", ({ deciders }) => {
    expect(() => check(deciders, 5_000)).toThrow();
  });
});
