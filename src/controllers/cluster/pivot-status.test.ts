import { describe, expect, test } from "vitest";
import { millisecondsOf } from "#base";
import { waiting } from "#controller-runtime";
import type { LatticeCluster, LatticeClusterStatus } from "#crds";
import type { NewCondition } from "#kube";
import {
  childCluster,
  HOUR_MS,
  NO_CAPI,
  NOON,
  observedChild,
  provisioningStatus,
  SELF_OWNED,
  timeOf,
} from "../../../test/builders/observed-child.ts";
import type { ObservedChild } from "./observed.ts";
import { annotated, AWAY, BACK, deleted, failedWith, MIRRORED, RUNNING, selfStatus } from "./pivot-rows.test-support.ts";
import type { PivotView } from "./ports.ts";
import { MIRROR_ANNOTATION } from "./spec-mirror.ts";
import { statusOfCluster } from "./status.ts";

const outcome = waiting("SelfManaged", 1, "the cluster owns itself");
const statusOf = (cluster: LatticeCluster, given: Partial<ObservedChild>) => statusOfCluster(cluster, observedChild(given), { outcome });
const conditionsOf = (status: { readonly conditions?: readonly NewCondition[] }) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]));

describe("the status from the pivot on", () => {
  test("of a child that owns itself is what its agent reports", () => {
    const pools = new Map([["default", { desired: 2, ready: 1 }]]);
    const agent = { ...SELF_OWNED.agent, health: { ...SELF_OWNED.agent.health, pools } };
    const status = statusOf(MIRRORED, { ...SELF_OWNED, agent });
    expect(status).toMatchObject({ phase: "Ready", ownedBy: "self", readyNodes: 3, pools: { default: { desired: 2, ready: 1 } } });
    expect(conditionsOf(status)).toEqual({
      Accepted: "True Valid",
      Provisioning: "False Provisioned",
      InfrastructureReady: "Unknown Pivoted",
      ControlPlaneAvailable: "Unknown Pivoted",
      WorkersAvailable: "Unknown Pivoted",
      AgentConnected: "True Connected",
      CertificatesValid: "True CertificateValid",
      Pivoting: "False Pivoted",
      SpecIgnored: "False SpecMirrored",
      Ready: "True SelfManaged",
    });
  });

  test("has the progress of a move, with the time of its first attempt", () => {
    const cluster = childCluster({}, { pivot: { startedAt: timeOf(NOON - HOUR_MS) } });
    expect(statusOf(cluster, { ownership: "moving", pivot: RUNNING })).toMatchObject({
      phase: "Pivoting",
      pivot: { step: "transfer", moved: 3, total: 9, startedAt: timeOf(NOON - HOUR_MS) },
    });
    const done: PivotView = { ...RUNNING, state: "done", step: "done", finishedAt: NOON, epoch: 1, report: "9 objects" };
    expect(statusOf(childCluster(), { ...SELF_OWNED, pivot: done })["pivot"]).toEqual({
      step: "done",
      moved: 3,
      total: 9,
      startedAt: timeOf(RUNNING.startedAt),
      finishedAt: timeOf(NOON),
      epoch: 1,
      report: "9 objects",
    });
  });

  test("notes the end of a move that an earlier process has finished, once", () => {
    const unnoted = childCluster({}, { ...selfStatus, pivot: { step: "delete-source", startedAt: timeOf(NOON - HOUR_MS) } });
    const { pivot } = statusOf(unnoted, SELF_OWNED) as LatticeClusterStatus;
    expect(pivot).toMatchObject({ step: "done", finishedAt: timeOf(NOON), epoch: 1 });
    expect(statusOf(childCluster({}, { ...selfStatus, ...(pivot === undefined ? {} : { pivot }) }), SELF_OWNED)).not.toHaveProperty(
      "pivot",
    );
    expect(millisecondsOf(pivot?.startedAt ?? "")).toBe(NOON - HOUR_MS);
  });

  test.each([
    { name: "refused", cluster: childCluster(), given: { pivot: failedWith("refused") }, want: "False PivotRefused" },
    { name: "running", cluster: childCluster(), given: { ownership: "moving" as const, pivot: RUNNING }, want: "True Pivoting" },
    { name: "taken back", cluster: deleted(childCluster()), given: { ...SELF_OWNED, pivot: BACK }, want: "True Unpivoting" },
    { name: "not taken back", cluster: deleted(childCluster()), given: { ...SELF_OWNED, agent: AWAY }, want: "False ChildUnreachable" },
    { name: "not yet begun", cluster: childCluster(), given: { agent: undefined, capi: NO_CAPI }, want: undefined },
    {
      name: "timed out",
      cluster: childCluster({}, { pivot: { startedAt: timeOf(NOON - 9 * HOUR_MS) } }),
      given: { pivot: failedWith("failed") },
      want: "False PivotTimedOut",
    },
    {
      name: "of a deleted cluster",
      cluster: deleted(childCluster({}, provisioningStatus("False", "Provisioned", NOON))),
      given: {},
      want: undefined,
    },
  ])("has a condition Pivoting: $name", ({ cluster, given, want }) => {
    expect(conditionsOf(statusOf(cluster, given))["Pivoting"]).toBe(want);
  });

  test("names the command for an edit that is not applied", () => {
    const edited = annotated(MIRRORED, { [MIRROR_ANNOTATION]: "b".repeat(64) });
    const ignored = statusOf(edited, SELF_OWNED).conditions?.find(({ type }) => type === "SpecIgnored");
    expect(ignored).toMatchObject({ status: "True", reason: "SpecEdited" });
    expect(ignored?.message).toContain("kubectl edit latticecluster prod");
    expect(ignored?.message).toContain("kubectl annotate latticecluster prod lattice.dev/mirrored-spec-");
    expect(conditionsOf(statusOf(edited, { ownership: "moving" }))["SpecIgnored"]).toBe("False SpecMirrored");
  });
});
