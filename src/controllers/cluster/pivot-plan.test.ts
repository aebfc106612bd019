import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { LatticeCluster } from "#crds";
import { childCluster, HOUR_MS, NOON, observedChild, SELF_OWNED } from "../../../test/builders/observed-child.ts";
import type { ObservedChild } from "./observed.ts";
import { annotated, AWAY, deleted, failedWith, MIRRORED, STARTING } from "./pivot-rows.test-support.ts";
import { DELETION_ANNOTATION } from "./pivot-state.ts";
import { planCluster } from "./plan.ts";
import { MIRROR_ANNOTATION, specDigest } from "./spec-mirror.ts";

const planOf = (cluster: LatticeCluster, given: Partial<ObservedChild>) => expectOk(planCluster(cluster, observedChild(given)));

describe("the plan from the pivot on", () => {
  test.each([
    {
      name: "continues a move, and applies nothing",
      cluster: childCluster(),
      given: { ownership: "moving" as const, objects: undefined },
      want: ["start-pivot"],
    },
    { name: "waits for an agent that is away", cluster: childCluster(), given: { ownership: "moving" as const, agent: AWAY }, want: [] },
    {
      name: "is empty for a child that owns itself",
      cluster: MIRRORED,
      given: { ...SELF_OWNED, agent: { ...SELF_OWNED.agent, health: { ...SELF_OWNED.agent.health, specDigest: specDigest(MIRRORED) } } },
      want: [],
    },
    { name: "copies the spec of a child that was changed", cluster: MIRRORED, given: SELF_OWNED, want: ["mirror-spec"] },
    {
      name: "copies nothing over the edit of a user",
      cluster: annotated(MIRRORED, { [MIRROR_ANNOTATION]: "b".repeat(64) }),
      given: SELF_OWNED,
      want: [],
    },
    {
      name: "copies nothing from a child that is away",
      cluster: MIRRORED,
      given: { ...SELF_OWNED, agent: { ...SELF_OWNED.agent, connected: false } },
      want: [],
    },
    {
      name: "writes its kubeconfig before the objects are taken back",
      cluster: deleted(childCluster()),
      given: { ...SELF_OWNED, hasKubeconfig: false },
      want: ["write-kubeconfig"],
    },
    {
      name: "makes the namespace again",
      cluster: deleted(childCluster()),
      given: { ...SELF_OWNED, hasNamespace: false, hasKubeconfig: false },
      want: ["create-namespace"],
    },
    { name: "takes the objects back", cluster: deleted(childCluster()), given: SELF_OWNED, want: ["start-unpivot"] },
    {
      name: "takes nothing back from a child that is away",
      cluster: deleted(childCluster()),
      given: { ...SELF_OWNED, agent: AWAY },
      want: [],
    },
    { name: "waits for the cell", cluster: deleted(childCluster()), given: { ...SELF_OWNED, ...STARTING }, want: [] },
    {
      name: "unpauses a Cluster first that was taken back by a move that has not ended",
      cluster: deleted(childCluster()),
      given: { resume: "a" },
      want: ["resume-own"],
    },
    {
      name: "unpauses it also when the cluster was marked before",
      cluster: annotated(deleted(childCluster()), { [DELETION_ANNOTATION]: "true" }),
      given: { resume: "a" },
      want: ["resume-own"],
    },
    { name: "marks a cluster before its Cluster is deleted", cluster: deleted(childCluster()), given: {}, want: ["mark-deletion"] },
    {
      name: "then deletes it",
      cluster: annotated(deleted(childCluster()), { [DELETION_ANNOTATION]: "true" }),
      given: {},
      want: ["remove-access", "delete-namespace"],
    },
    {
      name: "releases a cluster",
      cluster: deleted(childCluster({ deletion: { unpivot: false } })),
      given: SELF_OWNED,
      want: ["remove-access", "delete-namespace"],
    },
  ])("$name", ({ cluster, given, want }) => {
    const plan = planOf(cluster, given);
    expect(plan.commands.map(({ kind }) => kind)).toEqual(want);
    expect(plan.apply).toEqual([]);
  });

  test("goes on applying the spec while a pivot is refused, and tries again when it is due", () => {
    const objects = {
      namespace: "capi-prod",
      first: [],
      rest: [{ apiVersion: "v1", kind: "KubeadmControlPlane", metadata: { name: "prod" } }],
      usedTemplates: new Set<string>(),
    };
    const plan = planOf(childCluster(), { objects, pivot: failedWith("refused", "no provider") });
    expect(plan.apply).toHaveLength(1);
    expect(plan.outcome).toEqual({ kind: "stalled", reason: "PivotRefused", message: "no provider", afterMs: 7_000 });
    const late = { ...failedWith("failed"), startedAt: NOON - 7 * HOUR_MS, progressAt: NOON - HOUR_MS };
    expect(planOf(childCluster(), { objects, pivot: late })).toMatchObject({
      commands: [{ kind: "start-pivot" }],
      outcome: { kind: "stalled", reason: "PivotTimedOut", afterMs: 7_000 },
    });
  });
});
