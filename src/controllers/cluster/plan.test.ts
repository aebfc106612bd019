import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { LatticeCluster } from "#crds";
import {
  childCluster,
  COMPLETE_CAPI,
  HOUR_MS,
  NO_CAPI,
  NOON,
  observedChild,
  provisioningStatus,
  SELF_OWNED,
} from "../../../test/builders/observed-child.ts";
import { CELL_VIEW } from "../../../test/builders/observed-child.ts";
import type { ObservedChild } from "./observed.ts";
import { planCluster } from "./plan.ts";

const object = (kind: string, name: string) => ({ apiVersion: "v1", kind, metadata: { name } });
const objects = {
  namespace: "capi-prod",
  first: [
    object("Namespace", "capi-prod"),
    object("Cluster", "prod"),
    object("LocalMachineTemplate", "a"),
    object("LocalMachineTemplate", "b"),
  ],
  rest: [object("KubeadmControlPlane", "prod"), { object: object("MachineDeployment", "prod-default"), once: { spec: { replicas: 2 } } }],
  usedTemplates: new Set(["LocalMachineTemplate capi-prod/old"]),
};
const planOf = (given: Partial<ObservedChild>, cluster: LatticeCluster = childCluster()) =>
  expectOk(planCluster(cluster, observedChild({ objects, ...given })));
const deleted = (cluster: LatticeCluster): LatticeCluster => ({
  ...cluster,
  metadata: { ...cluster.metadata, deletionTimestamp: "2026-01-01T11:00:00Z" },
});

describe("the plan of a child", () => {
  test("writes the tokens after the Cluster and before the control plane, then plans again", () => {
    const plan = planOf({ hasToken: false, capi: NO_CAPI, agent: undefined });
    expect(plan).toMatchObject({
      apply: objects.first
        .slice(0, 2)
        .map((one) => [one])
        .concat([objects.first.slice(2)]),
      prune: false,
      again: true,
      commands: [
        { kind: "write-secrets", place: { name: "prod", namespace: "capi-prod", cell: CELL_VIEW }, expiresAt: NOON + 45 * 60_000 },
      ],
    });
  });

  test("begins with the namespace", () => {
    expect(planOf({ hasNamespace: false, hasToken: false, capi: NO_CAPI, agent: undefined })).toEqual({
      apply: [],
      commands: [{ kind: "create-namespace", namespace: "capi-prod", cluster: "prod" }],
      again: true,
    });
  });

  test("issues tokens that cannot register when a complete child lost a Secret", () => {
    expect(planOf({ hasKubeconfig: false }).commands).toMatchObject([{ kind: "write-secrets", expiresAt: NOON }]);
  });

  test("applies everything in the compiler's order and keeps templates that are in use", () => {
    const plan = planOf({});
    expect(plan.apply).toEqual([
      ...objects.first.slice(0, 2).map((one) => [one]),
      objects.first.slice(2),
      ...objects.rest.map((one) => [one]),
    ]);
    expect(plan.prune).toMatchObject({ keep: objects.usedTemplates });
    expect(plan.commands).toMatchObject([{ kind: "start-pivot", cluster: { metadata: { name: "prod" }, spec: { cellRef: "mgmt" } } }]);
    expect(plan.outcome).toMatchObject({ kind: "waiting", reason: "Pivoting" });
  });

  test("sets the parent of a child that has none", () => {
    expect(planOf({}, childCluster({ cellRef: undefined })).commands).toMatchObject([
      { kind: "set-cell-ref", cluster: "prod", cell: "mgmt" },
      { kind: "start-pivot", cluster: { spec: { cellRef: "mgmt" } } },
    ]);
  });

  test("of a child that owns itself is repeated every five minutes, at a time of its own, also when all agents returned at once", () => {
    const cluster = childCluster();
    const names = Array.from({ length: 3_000 }, (_, at) => `child-${at}`);
    const afterMs = (name: string, now: number) => {
      const { outcome } = planOf({ ...SELF_OWNED, now }, { ...cluster, metadata: { ...cluster.metadata, name } });
      return outcome?.kind === "waiting" ? outcome.afterMs : Number.NaN;
    };
    const due = names.map((name) => afterMs(name, NOON));
    expect([Math.min(...due) >= 1_000, Math.max(...due) <= 301_000]).toEqual([true, true]);
    // ten in a second on average
    const inTenSeconds = Array.from({ length: 31 }, (_, slot) => due.filter((ms) => Math.floor(ms / 10_000) === slot).length);
    expect(Math.max(...inTenSeconds)).toBeLessThan(200);
    // a pass between two of them does not change the time of the next
    const [name = ""] = names.filter((_, at) => (due[at] ?? 0) > 100_000);
    expect(afterMs(name, NOON + 60_000)).toBe(afterMs(name, NOON) - 60_000);
    expect(afterMs(name, NOON + afterMs(name, NOON))).toBe(300_000);
  });

  test("extends the token with the deadline, until it is spent", () => {
    const access = { spent: false, revoked: false, expiresAt: NOON, certificates: [] };
    const waitingChild = { agent: undefined, capi: { ...COMPLETE_CAPI, progressAt: NOON } };
    expect(planOf({ ...waitingChild, access }).commands).toEqual([
      { kind: "extend-access", cluster: "prod", expiresAt: NOON + 45 * 60_000 },
    ]);
    expect(planOf({ ...waitingChild, access: { ...access, spent: true } }).commands).toEqual([]);
    expect(planOf({ ...waitingChild, access: { ...access, expiresAt: NOON + 45 * 60_000 } }).commands).toEqual([]);
  });

  test.each([
    {
      name: "with a problem",
      given: { problem: { reason: "CellStarting" as const, message: "x", terminal: false }, capi: NO_CAPI, objects: undefined },
      want: { kind: "waiting", reason: "CellStarting", afterMs: 2_000 },
    },
    {
      name: "with a problem that does not concern it, because it runs already",
      given: { problem: { reason: "CellStarting" as const, message: "x", terminal: false }, objects: undefined },
      want: { kind: "waiting", reason: "CellStarting", afterMs: 60_000 },
    },
    {
      name: "with a problem of its user",
      given: { problem: { reason: "NotACell" as const, message: "x", terminal: false }, capi: NO_CAPI, objects: undefined },
      want: { kind: "stalled", reason: "NotACell", afterMs: 60_000 },
    },
    {
      name: "after its deadline",
      cluster: childCluster({}, provisioningStatus("True", "InProgress", NOON - 7 * HOUR_MS)),
      given: { agent: undefined },
      want: { kind: "stalled", reason: "ProvisioningTimedOut" },
    },
  ])("applies nothing $name", ({ cluster, given, want }) => {
    expect(planOf(given, cluster)).toMatchObject({ apply: [], commands: [], outcome: want });
  });

  test("deletes the Cluster first, then the rest, then access and namespace", () => {
    const cluster = deleted(childCluster({ deletion: { timeout: "2h" } }));
    const unregistered = { spent: false, revoked: false, expiresAt: NOON, certificates: [] };
    expect(planOf({ access: unregistered }, cluster)).toEqual({
      apply: [],
      deletes: { order: [["Cluster"]], stuckAfterMs: 2 * HOUR_MS },
      commands: [
        { kind: "remove-access", cluster: "prod" },
        { kind: "delete-namespace", namespace: "capi-prod", cluster: "prod" },
      ],
    });
  });

  test("deletes nothing while the cell starts: whether the child has registered is not known yet", () => {
    const problem = { reason: "CellStarting" as const, message: "starting", terminal: false };
    const plan = planOf({ problem, cell: undefined, access: undefined, agent: undefined }, deleted(childCluster()));
    expect(plan).toEqual({
      apply: [],
      commands: [],
      outcome: { kind: "waiting", reason: "CellStarting", afterMs: 2_000, message: "starting" },
    });
  });
});
