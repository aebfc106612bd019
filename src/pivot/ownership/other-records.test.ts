/** A record of another move at the target: it is replaced only when that move has ended. */
import { describe, expect, it } from "vitest";
import { nextAbortStep, nextStep, type AbortView, type MoveView, type TargetRecord } from "./decide.ts";
import { nextReceiveStep } from "./receive-steps.ts";

const shown = (decision: { readonly step: string } | { readonly refused: string }) =>
  "step" in decision ? decision.step : decision.refused;
const record = (more: Partial<TargetRecord> = {}): TargetRecord => ({
  id: "b",
  state: "committed",
  finished: true,
  sameSource: false,
  epoch: 1,
  ...more,
});
const UNFINISHED = "the target has not finished receiving another move (b); run that one to its end";
const ABORTED = "the target still has the record of another move that was aborted (b); run its abort again";
const RECEIVING = "the target is receiving another move (b); finish or abort that one first";

describe("nextStep", () => {
  const base: MoveView = {
    journal: { id: "a", phase: "intent", epoch: 1 },
    record: "none",
    hasBegun: true,
    sourcePaused: false,
    verified: false,
    fenced: false,
    targetResumed: false,
    sourceHasObjects: true,
  };
  const committed = { id: "a", phase: "committed", epoch: 1 } as const;
  const rows: { name: string; given: Partial<MoveView>; want: string }[] = [
    { name: "no record", given: {}, want: "register" },
    { name: "a finished move of another source, of the same epoch", given: { record: record() }, want: "register" },
    { name: "a finished move of another source, of a later epoch", given: { record: record({ epoch: 9 }) }, want: "register" },
    { name: "a later move of this source", given: { record: record({ sameSource: true }) }, want: "discard" },
    { name: "an earlier move of this source", given: { record: record({ sameSource: true, epoch: 0 }) }, want: "register" },
    { name: "another source is moving", given: { record: record({ state: "receiving", finished: false }) }, want: RECEIVING },
    { name: "another source has committed, and not finished", given: { record: record({ finished: false }) }, want: UNFINISHED },
    { name: "another source is aborting", given: { record: record({ state: "revoked", finished: false }) }, want: ABORTED },
    { name: "what an abort of this source has left", given: { record: record({ state: "revoked", sameSource: true }) }, want: "register" },
    { name: "everything deleted, and moved on since", given: { journal: committed, sourceHasObjects: false }, want: "discard" },
    {
      name: "everything deleted, and another move has come",
      given: { journal: committed, sourceHasObjects: false, record: record({ finished: false }) },
      want: "discard",
    },
    { name: "objects are left, and the record is lost", given: { journal: committed }, want: "the target has lost its record" },
  ];
  it.each(rows)("$name", ({ given, want }) => expect(shown(nextStep({ ...base, ...given }))).toContain(want));
});

describe("nextReceiveStep", () => {
  const base = { id: "a", claim: "ours", verified: false, fenced: false, targetResumed: false } as const;
  const rows: { name: string; given: { state: TargetRecord["state"]; finished: boolean }; want: string }[] = [
    { name: "another move has ended", given: { state: "committed", finished: true }, want: "register" },
    { name: "another move arrives", given: { state: "receiving", finished: false }, want: RECEIVING },
    { name: "another move has committed, and not finished", given: { state: "committed", finished: false }, want: UNFINISHED },
    { name: "another move is being aborted", given: { state: "revoked", finished: false }, want: ABORTED },
  ];
  it.each(rows)("$name", ({ given, want }) => expect(shown(nextReceiveStep({ ...base, record: { id: "b", ...given } }))).toContain(want));
});

describe("nextAbortStep", () => {
  const base: AbortView = {
    journal: { id: "a", phase: "intent", epoch: 1 },
    record: "none",
    hasBatches: true,
    targetHasCopies: false,
    sourceResumed: false,
  };
  const committing = { id: "a", phase: "committing", epoch: 1 } as const;
  const rows: { name: string; given: Partial<AbortView>; want: string }[] = [
    { name: "the target has lost its record, and has no copies", given: {}, want: "resume-source" },
    { name: "the target has lost its record, and has copies", given: { targetHasCopies: true }, want: "delete-copies" },
    {
      name: "another move has replaced the record, and the target has copies",
      given: { targetHasCopies: true, record: record() },
      want: "delete-copies",
    },
    {
      name: "the move is still receiving: it is revoked first",
      given: { targetHasCopies: true, record: record({ id: "a", state: "receiving", sameSource: true }) },
      want: "revoke",
    },
    { name: "the commit was announced, and the record is lost", given: { journal: committing, targetHasCopies: true }, want: "in doubt" },
  ];
  it.each(rows)("$name", ({ given, want }) => expect(shown(nextAbortStep({ ...base, ...given }))).toContain(want));
});
