import { describe, expect, it } from "vitest";
import type { LatticeClusterStatus } from "#crds";
import type { MoveState } from "#pivot";
import { childCluster } from "../../../test/builders/observed-child.ts";
import { answerOf } from "./request.ts";
import { pivotSummary, type PivotFacts } from "./summary.ts";

const NEVER: MoveState = { identity: "p", journal: undefined, exported: false, record: undefined, ownership: { state: "never-moved" } };
const head = (phase: "intent" | "committing" | "committed", target = "c") => ({
  id: "m",
  phase,
  epoch: 1,
  target,
  source: "p",
  startedAt: "",
  pausables: [],
});
const journal = (phase: "intent" | "committing" | "committed"): MoveState => ({
  ...NEVER,
  journal: head(phase),
  ownership: { state: "moving" },
});
const exported = (phase: "intent" | "committing"): MoveState => ({ ...journal(phase), exported: true });
const record = (state: "receiving" | "committed"): MoveState => ({
  ...NEVER,
  record: { id: "m", state, epoch: 1, source: "p", startedAt: "", objects: 3, digest: "", finishedAt: "", attempt: 1 },
  ownership: state === "committed" ? { state: "owner", epoch: 1 } : { state: "moving" },
});
const withStatus = (status: Partial<LatticeClusterStatus>) => childCluster({}, status);
const pivoting = (reason: string, message = "m") =>
  withStatus({ conditions: [{ type: "Pivoting", status: "False", reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" }] });

describe("pivotSummary", () => {
  const rows: { name: string; given: Partial<PivotFacts>; owner: string; next: string }[] = [
    { name: "before the pivot", given: {}, owner: "parent", next: "the operator pivots the cluster as soon as" },
    {
      name: "refused",
      given: { cluster: pivoting("PivotRefused", "no provider") },
      owner: "parent",
      next: "remove the reasons: no provider",
    },
    { name: "aborted", given: { cluster: pivoting("PivotAborted") }, owner: "parent", next: "lattice pivot resume prod" },
    {
      name: "moving",
      given: { parent: journal("intent"), child: record("receiving") },
      owner: "moving",
      next: "lattice pivot abort prod undoes it",
    },
    {
      name: "committing, and the child answers",
      given: { parent: journal("committing"), child: record("receiving") },
      owner: "moving",
      next: "the operator continues",
    },
    {
      name: "committing, and the child has committed",
      given: { parent: journal("committing"), child: record("committed") },
      owner: "self",
      next: "deletes those of the parent",
    },
    {
      name: "committing, and the child does not answer",
      given: { parent: journal("committing"), child: "timeout" },
      owner: "in doubt",
      next: "restore the connection of its agent",
    },
    {
      name: "committing, and no way to the child",
      given: { parent: journal("committing"), child: undefined },
      owner: "in doubt",
      next: "restore the connection",
    },
    { name: "committed", given: { parent: journal("committed"), child: "timeout" }, owner: "self", next: "deletes those of the parent" },
    { name: "owner", given: { child: record("committed") }, owner: "self", next: "the cluster owns itself" },
    { name: "owner, by its status", given: { cluster: withStatus({ ownedBy: "self" }) }, owner: "self", next: "the cluster owns itself" },
    { name: "on the way back", given: { child: journal("intent") }, owner: "moving", next: "on their way back" },
    { name: "an export that is written", given: { parent: exported("intent") }, owner: "moving", next: "run lattice pivot export again" },
    {
      name: "an export that is complete",
      given: { parent: exported("committing") },
      owner: "in doubt",
      next: "lattice pivot export --confirm FILE -n capi-prod",
    },
  ];
  it.each(rows)("$name", ({ given, owner, next }) => {
    const summary = pivotSummary({ cluster: childCluster(), parent: NEVER, child: undefined, ...given });
    expect([summary.owner, summary.next]).toEqual([owner, expect.stringContaining(next)]);
  });
});

describe("the operator's answer to a request", () => {
  const rows: { request: "abort" | "resume"; reason: string | undefined; want: "done" | "refused" | undefined }[] = [
    { request: "abort", reason: undefined, want: undefined },
    { request: "abort", reason: "Pivoting", want: undefined },
    { request: "abort", reason: "PivotAborted", want: "done" },
    { request: "abort", reason: "AbortRefused", want: "refused" },
    { request: "abort", reason: "Pivoted", want: "refused" },
    { request: "resume", reason: "PivotAborted", want: undefined },
    { request: "resume", reason: "AbortRefused", want: undefined },
    { request: "resume", reason: "Pivoting", want: "done" },
    { request: "resume", reason: "PivotRefused", want: "done" },
  ];
  it.each(rows)("$request, condition Pivoting $reason: $want", ({ request, reason, want }) => {
    const { status, ...cluster } = reason === undefined ? childCluster() : pivoting(reason);
    const answered = { ...cluster, status: { ...status, pivot: { request: "r2" } } };
    expect(answerOf(answered, { request, id: "r2" })?.kind).toBe(want);
    // what an earlier request has left
    expect(answerOf(answered, { request, id: "r3" })).toBeUndefined();
  });
});
