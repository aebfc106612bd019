import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { childCluster, COMPLETE_CAPI, CONNECTED, NO_CAPI, NOON, observedChild } from "../../../test/builders/observed-child.ts";
import { childStateOf } from "./child-state.ts";
import type { ObservedChild } from "./observed.ts";
import { pivotingCondition } from "./pivot-status.ts";
import { planCluster } from "./plan.ts";
import type { PivotView } from "./ports.ts";
import { PIVOT_ANNOTATION, pivotRequestOf, type PivotRequest } from "./pivot-request.ts";

describe("pivotRequestOf", () => {
  const rows: { name: string; given: Record<string, string> | undefined; want: PivotRequest }[] = [
    { name: "without annotations every child pivots", given: undefined, want: "run" },
    { name: "abort", given: { [PIVOT_ANNOTATION]: "abort" }, want: "abort" },
    { name: "resume", given: { [PIVOT_ANNOTATION]: "resume" }, want: "run" },
    { name: "another value is no request", given: { [PIVOT_ANNOTATION]: "Abort" }, want: "run" },
    { name: "another annotation is no request", given: { "lattice.dev/other": "abort" }, want: "run" },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(pivotRequestOf({ metadata: { name: "prod", ...(given === undefined ? {} : { annotations: given }) } })).toBe(want);
  });
});

describe("a child whose pivot a person has aborted", () => {
  const { metadata, ...rest } = childCluster();
  const cluster = { ...rest, metadata: { ...metadata, annotations: { [PIVOT_ANNOTATION]: "abort" } } };
  const view = (more: Partial<PivotView>): PivotView => ({ direction: "abort", state: "done", startedAt: NOON, progressAt: NOON, ...more });
  const complete = { capi: COMPLETE_CAPI, agent: CONNECTED };
  const objects = { namespace: "capi-prod", first: [], rest: [], usedTemplates: new Set<string>() };
  const rows: { name: string; given: Partial<ObservedChild>; reason: string; command: string | undefined }[] = [
    { name: "complete: the operator is asked to undo, whatever it has begun", given: complete, reason: "Pivoting", command: "abort-pivot" },
    {
      name: "moving: likewise",
      given: { ...complete, ownership: "moving", pivot: view({ direction: "to-child", state: "running" }) },
      reason: "Pivoting",
      command: "abort-pivot",
    },
    { name: "undone: it stays with its parent", given: { ...complete, pivot: view({}) }, reason: "PivotAborted", command: "abort-pivot" },
    {
      name: "in doubt: the reason of the specification",
      given: { ...complete, ownership: "moving", pivot: view({ state: "waiting", problem: { kind: "refused", message: "in doubt" } }) },
      reason: "AbortRefused",
      command: "abort-pivot",
    },
    {
      name: "the API server failed: it is tried again",
      given: { ...complete, ownership: "moving", pivot: view({ state: "waiting", problem: { kind: "failed", message: "503" } }) },
      reason: "PivotFailed",
      command: "abort-pivot",
    },
    {
      name: "still provisioned: no pivot will begin",
      given: { capi: NO_CAPI, agent: undefined },
      reason: "PivotAborted",
      command: undefined,
    },
    { name: "the child owns itself: too late", given: { ...complete, ownership: "child" }, reason: "Pivoted", command: undefined },
  ];
  it.each(rows)("$name", ({ given, reason, command }) => {
    const observed = observedChild({ objects, ...given });
    const [condition] = pivotingCondition(cluster, observed, childStateOf(cluster, observed));
    expect(condition?.reason).toBe(reason);
    const { commands } = expectOk(planCluster(cluster, observed));
    expect(commands.map(({ kind }) => kind).filter((kind) => kind.endsWith("-pivot"))).toEqual(command === undefined ? [] : [command]);
  });

  it("never runs into the deadline of a pivot", () => {
    const observed = observedChild({ ...complete, objects, pivot: view({}), now: NOON + 365 * 24 * 3_600_000 });
    expect(childStateOf(cluster, observed)).toMatchObject({ phase: "Pivoting", reason: "PivotAborted" });
  });
});
