import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planControlPlane, type ControlPlaneMachine } from "./control-plane/control-plane-plan.ts";
import { planRollout, resolveAmount, type RolloutInput } from "./machine-deployment/rollout-plan.ts";

const healthy = (name: string, rest: Partial<ControlPlaneMachine> = {}): ControlPlaneMachine => ({
  name,
  isDeleting: false,
  isUpToDate: true,
  isHealthy: true,
  mustRemediate: false,
  isMarked: false,
  ...rest,
});

describe("a control plane", () => {
  const rows = [
    { name: "creates its first machine", input: { machines: [], initialized: false }, want: { kind: "create", as: "init" } },
    { name: "joins again after it lost all machines", input: { machines: [], initialized: true }, want: { kind: "create", as: "join" } },
    { name: "waits for the first machine", input: { machines: [healthy("a")], initialized: false }, want: { kind: "wait" } },
    { name: "grows by one", input: { machines: [healthy("a")] }, want: { kind: "create", as: "join" } },
    {
      name: "waits for an unhealthy machine",
      input: { machines: [healthy("a"), healthy("b", { isHealthy: false })] },
      want: {
        kind: "wait",
        messages: ["* waiting for control plane components to become healthy", "* waiting for etcd cluster to become healthy"],
      },
    },
    { name: "is settled", input: { machines: ["a", "b", "c"].map((name) => healthy(name)) }, want: { kind: "none" } },
    {
      name: "deletes the oldest of too many",
      input: { machines: ["a", "b", "c", "d"].map((name) => healthy(name)) },
      want: { kind: "delete", name: "a", why: "scale-down" },
    },
    {
      name: "prefers a marked machine",
      input: { machines: [healthy("a"), healthy("b"), healthy("c"), healthy("d", { isMarked: true })] },
      want: { kind: "delete", name: "d" },
    },
    {
      name: "surges before a rollout deletes",
      input: { machines: [healthy("a", { isUpToDate: false }), healthy("b"), healthy("c")] },
      want: { kind: "create" },
    },
    {
      name: "deletes the stale machine after the surge",
      input: { machines: [healthy("a", { isUpToDate: false }), healthy("b"), healthy("c"), healthy("d")] },
      want: { kind: "delete", name: "a", why: "rollout" },
    },
    {
      name: "waits for a machine that goes",
      input: { machines: [healthy("a", { isDeleting: true }), healthy("b"), healthy("c"), healthy("d")] },
      want: { kind: "wait" },
    },
    {
      name: "replaces a sick machine",
      input: { machines: [healthy("a", { mustRemediate: true, isHealthy: false }), healthy("b"), healthy("c")] },
      want: { kind: "delete", name: "a", why: "remediation" },
    },
    {
      name: "keeps a sick machine when etcd would lose its quorum",
      input: { machines: [healthy("a", { mustRemediate: true, isHealthy: false }), healthy("b", { isHealthy: false }), healthy("c")] },
      want: { kind: "wait" },
    },
    {
      name: "keeps its only machine",
      input: { machines: [healthy("a", { mustRemediate: true, isHealthy: false })] },
      want: { kind: "wait" },
    },
    {
      name: "waits while another machine goes",
      input: { machines: [healthy("a", { mustRemediate: true }), healthy("b", { isDeleting: true })] },
      want: { kind: "wait" },
    },
  ];

  test.each(rows)("$name", ({ input, want }) => {
    expect(planControlPlane({ desired: 3, maxSurge: 1, initialized: true, ...input })).toMatchObject(want);
  });

  test("never deletes a machine while another one is going or unhealthy", () => {
    const machine = fc.record({
      name: fc.uuid(),
      isDeleting: fc.boolean(),
      isUpToDate: fc.boolean(),
      isHealthy: fc.boolean(),
      mustRemediate: fc.boolean(),
      isMarked: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 9 }), fc.integer({ min: 0, max: 7 }), fc.boolean(), (machines, desired, initialized) => {
        const step = planControlPlane({ desired, maxSurge: 1, initialized, machines });
        if (step.kind !== "delete") return;
        const others = machines.filter(({ name }) => name !== step.name);
        expect(others.some(({ isDeleting }) => isDeleting)).toBe(false);
        if (step.why !== "remediation") expect(others.every(({ isHealthy }) => isHealthy)).toBe(true);
        else if (initialized) expect(others.filter(({ isHealthy }) => isHealthy).length).toBeGreaterThan(others.length / 2 - 0.5);
      }),
    );
  });
});

describe("a rollout", () => {
  const set = fc.record({ replicas: fc.integer({ min: 0, max: 6 }), available: fc.integer({ min: 0, max: 6 }) });
  const inputs = fc
    .record({
      replicas: fc.integer({ min: 0, max: 6 }),
      maxSurge: fc.integer({ min: 0, max: 3 }),
      maxUnavailable: fc.integer({ min: 0, max: 3 }),
      current: set,
      old: fc.array(set, { maxLength: 3 }),
    })
    .map(({ current, old, ...rest }): RolloutInput => {
      const view = (name: string, { replicas, available }: { replicas: number; available: number }) => ({
        name,
        replicas,
        machines: replicas,
        available: Math.min(replicas, available),
      });
      return { ...rest, onDelete: false, current: view("new", current), old: old.map((one, at) => view(`old-${at}`, one)) };
    });

  test("never has more machines than maxSurge allows because of a step up, nor fewer available ones than required because of a step down", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const plan = planRollout(input);
        const all = [input.current, ...input.old];
        const before = all.reduce((sum, one) => sum + one.replicas, 0);
        const grown = (plan.get("new") ?? input.current.replicas) - input.current.replicas;
        if (grown > 0) expect(before + grown).toBeLessThanOrEqual(Math.max(before, input.replicas + input.maxSurge));
        const lost = input.old.reduce((sum, one) => sum + Math.max(0, one.available - (plan.get(one.name) ?? one.replicas)), 0);
        const available = all.reduce((sum, one) => sum + one.available, 0);
        if (lost > 0) expect(available - lost).toBeGreaterThanOrEqual(input.replicas - input.maxUnavailable);
      }),
    );
  });

  test("ends: machines that become available move everything to the new set", () => {
    fc.assert(
      fc.property(inputs, (start) => {
        let input: RolloutInput = start.maxSurge + start.maxUnavailable === 0 ? { ...start, maxSurge: 1 } : start;
        for (let step = 0; step < 60; step += 1) {
          const plan = planRollout(input);
          const next = (one: RolloutInput["current"]) => {
            const replicas = plan.get(one.name) ?? one.replicas;
            return { ...one, replicas, machines: replicas, available: replicas };
          };
          input = { ...input, current: next(input.current), old: input.old.map(next) };
        }
        expect([input.current.replicas, ...input.old.map(({ replicas }) => replicas)]).toEqual([input.replicas, ...input.old.map(() => 0)]);
      }),
    );
  });

  test("with OnDelete old machines stay, and a deleted one is replaced by a new one", () => {
    const old = [{ name: "old", replicas: 2, machines: 1, available: 1 }];
    const plan = planRollout({
      replicas: 2,
      maxSurge: 1,
      maxUnavailable: 0,
      onDelete: true,
      old,
      current: { name: "new", replicas: 0, machines: 0, available: 0 },
    });
    expect(Object.fromEntries(plan)).toEqual({ new: 1, old: 1 });
  });

  test.each([
    { value: 2, round: "up", want: 2 },
    { value: "25%", round: "up", want: 2 },
    { value: "25%", round: "down", want: 1 },
    { value: "many", round: "up", want: undefined },
    { value: undefined, round: "up", want: undefined },
  ] as const)("$value of 7, rounded $round, is $want", ({ value, round, want }) => {
    expect(resolveAmount(value, 7, round)).toBe(want);
  });
});
