import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { childCluster, COMPLETE_CAPI, CONNECTED, NO_CAPI, NOON, observedChild } from "../../../test/builders/observed-child.ts";
import { childStateOf } from "./child-state.ts";
import type { ObservedChild } from "./observed.ts";
import { pivotingCondition, pivotStatusOf } from "./pivot-status.ts";
import { planCluster } from "./plan.ts";
import type { PivotView } from "./ports.ts";
import { PIVOT_ANNOTATION, PIVOT_REQUEST_ANNOTATION, pivotRequestId, pivotRequestOf, type PivotRequest } from "./pivot-request.ts";

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
      name: "moving, and the agent is away: the operator answers with the reason of the specification",
      given: { capi: COMPLETE_CAPI, agent: undefined, ownership: "moving" },
      reason: "Pivoting",
      command: "abort-pivot",
    },
    {
      name: "moving, refused, and the agent is away",
      given: {
        capi: COMPLETE_CAPI,
        agent: { ...CONNECTED, connected: false },
        ownership: "moving",
        pivot: view({ state: "waiting", problem: { kind: "refused", message: "in doubt" } }),
      },
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

  const asked = (request: "abort" | "resume", id: string) => ({
    ...rest,
    metadata: { ...metadata, annotations: { [PIVOT_ANNOTATION]: request, [PIVOT_REQUEST_ANNOTATION]: id } },
    status: { conditions: [], pivot: { request: "r1" } },
  });
  const answers: { name: string; request: "abort" | "resume"; given: Partial<ObservedChild>; want: string }[] = [
    {
      name: "an abort that runs has no answer yet",
      request: "abort",
      given: { ...complete, pivot: view({ state: "running" }) },
      want: "r1",
    },
    {
      name: "nor has one that has ended for an earlier request",
      request: "abort",
      given: { ...complete, pivot: view({ request: "r1" }) },
      want: "r1",
    },
    {
      name: "one that has ended for it is the answer",
      request: "abort",
      given: { ...complete, pivot: view({ request: "r2" }) },
      want: "r2",
    },
    {
      name: "a refusal likewise",
      request: "abort",
      given: {
        ...complete,
        ownership: "moving",
        pivot: view({ request: "r2", state: "waiting", problem: { kind: "refused", message: "in doubt" } }),
      },
      want: "r2",
    },
    { name: "while it is provisioned, no pivot begins", request: "abort", given: { capi: NO_CAPI, agent: undefined }, want: "r2" },
    { name: "the child owns itself: too late", request: "abort", given: { ...complete, ownership: "child" }, want: "r2" },
    {
      name: "a resume is read while the abort is still there",
      request: "resume",
      given: { ...complete, pivot: view({ request: "r1" }) },
      want: "r1",
    },
    {
      name: "a resume whose move has begun",
      request: "resume",
      given: { ...complete, pivot: view({ direction: "to-child", state: "queued" }) },
      want: "r2",
    },
  ];
  it.each(answers)("status.pivot.request: $name", ({ request, given, want }) => {
    const wanted = asked(request, "r2");
    const observed = observedChild({ objects, ...given });
    const status = pivotStatusOf(wanted, observed, childStateOf(wanted, observed));
    expect((status ?? wanted.status.pivot).request).toBe(want);
  });

  it("a resume does not show the problem of the abort before it", () => {
    const problem = { kind: "refused", message: "in doubt" } as const;
    const observed = observedChild({ ...complete, objects, ownership: "moving", pivot: view({ state: "waiting", problem }) });
    expect(childStateOf(asked("resume", "r2"), observed)).toMatchObject({ phase: "Pivoting", reason: "Pivoting" });
  });

  it("after a resume of a child that is still provisioned, the condition is not that of the abort", () => {
    const aborted = {
      type: "Pivoting",
      status: "False",
      reason: "PivotAborted",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    const resumed = { ...asked("resume", "r2"), status: { conditions: [aborted] } };
    const observed = observedChild({ objects, capi: NO_CAPI, agent: undefined });
    const [condition] = pivotingCondition(resumed, observed, childStateOf(resumed, observed));
    expect(condition).toMatchObject({ status: "False", reason: childStateOf(resumed, observed).reason });
    expect(pivotingCondition({ ...resumed, status: { conditions: [] } }, observed, childStateOf(resumed, observed))).toEqual([]);
  });

  it.each([
    { name: "none", given: undefined, want: undefined },
    { name: "an id", given: "0a1B-2", want: "0a1B-2" },
    { name: "a text that is no id", given: "a b", want: undefined },
    { name: "one that is too long", given: "a".repeat(65), want: undefined },
  ])("the id of a request: $name", ({ given, want }) => {
    const annotations = given === undefined ? {} : { [PIVOT_REQUEST_ANNOTATION]: given };
    expect(pivotRequestId({ metadata: { name: "prod", annotations } })).toBe(want);
  });

  it("never runs into the deadline of a pivot", () => {
    const observed = observedChild({ ...complete, objects, pivot: view({}), now: NOON + 365 * 24 * 3_600_000 });
    expect(childStateOf(cluster, observed)).toMatchObject({ phase: "Pivoting", reason: "PivotAborted" });
  });
});
