import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stageUpgrade, type RunningVersion, type UpgradeView } from "./staged-upgrade.ts";

const at = (version: string, more: Partial<RunningVersion> = {}): RunningVersion => ({ version, oldest: version, complete: true, ...more });
const [OLD, NEW] = ["v1.35.3", "v1.36.3"];

describe("stageUpgrade", () => {
  type Want = { readonly controlPlane: string; readonly pools: Readonly<Record<string, string>>; readonly progress?: string };
  type Row = { name: string; given: Partial<Omit<UpgradeView, "pools">> & { pools?: Record<string, RunningVersion> }; want: Want };
  const rows: Row[] = [
    {
      name: "a new cluster gets the version of its spec everywhere",
      given: { controlPlane: undefined },
      want: { controlPlane: NEW, pools: { batch: NEW, default: NEW } },
    },
    {
      name: "the control plane comes first",
      given: { controlPlane: at(OLD), pools: { default: at(OLD), batch: at(OLD) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD, batch: OLD },
        progress: "the control plane is being upgraded to v1.36.3; pools batch, default next",
      },
    },
    {
      name: "pools wait for the last machine of the control plane",
      given: { controlPlane: at(NEW, { oldest: OLD, complete: false }), pools: { default: at(OLD), batch: at(OLD) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD, batch: OLD },
        progress: "the control plane is being upgraded to v1.36.3; pools batch, default next",
      },
    },
    {
      name: "pools wait until the control plane is available",
      given: { controlPlane: at(NEW, { complete: false }), pools: { default: at(OLD), batch: at(OLD) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD, batch: OLD },
        progress: "waiting for the control plane to be complete; pools batch, default next",
      },
    },
    {
      name: "the first pool by name is next",
      given: { controlPlane: at(NEW), pools: { default: at(OLD), batch: at(OLD) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD, batch: NEW },
        progress: "pool batch is being upgraded to v1.36.3; pool default next",
      },
    },
    {
      name: "the second pool waits for the first",
      given: { controlPlane: at(NEW), pools: { default: at(OLD), batch: at(NEW, { oldest: OLD, complete: false }) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD, batch: NEW },
        progress: "pool batch is being upgraded to v1.36.3; pool default next",
      },
    },
    {
      name: "the second pool waits for machines of the first that are not available",
      given: { controlPlane: at(NEW), pools: { default: at(OLD), batch: at(NEW, { complete: false }) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD, batch: NEW },
        progress: "waiting for pool batch to be complete; pool default next",
      },
    },
    {
      name: "the last pool is being upgraded until its last machine is replaced",
      given: { controlPlane: at(NEW), pools: { default: at(NEW, { oldest: OLD, complete: false }), batch: at(NEW) } },
      want: { controlPlane: NEW, pools: { default: NEW, batch: NEW }, progress: "pool default is being upgraded to v1.36.3" },
    },
    {
      name: "the second pool comes when the first is complete",
      given: { controlPlane: at(NEW), pools: { default: at(OLD), batch: at(NEW) } },
      want: { controlPlane: NEW, pools: { default: NEW, batch: NEW }, progress: "pool default is being upgraded to v1.36.3" },
    },
    {
      name: "nothing waits when everything has the version",
      given: { controlPlane: at(NEW), pools: { default: at(NEW, { complete: false }), batch: at(NEW) } },
      want: { controlPlane: NEW, pools: { default: NEW, batch: NEW } },
    },
    {
      name: "a new pool waits for an upgrade of the control plane, since its kubelets would be newer than the API server",
      given: { controlPlane: at(OLD), pools: { default: at(OLD) } },
      want: {
        controlPlane: NEW,
        pools: { default: OLD },
        progress: "the control plane is being upgraded to v1.36.3; pools default, batch next",
      },
    },
    {
      name: "a new pool does not wait for other pools, nor for a control plane that is being created",
      given: { controlPlane: at(NEW, { oldest: undefined, complete: false }), pools: {} },
      want: { controlPlane: NEW, pools: { default: NEW, batch: NEW } },
    },
    {
      name: "the control plane waits for workers that would be too old",
      given: { controlPlane: at(OLD), pools: { default: at("v1.32.0"), batch: at(OLD) } },
      want: {
        controlPlane: OLD,
        pools: { default: OLD, batch: OLD },
        progress:
          "pool default is being upgraded to v1.35.3; the control plane goes to v1.36.3 when no worker is more than 3 minor versions older",
      },
    },
    {
      name: "a pool that the spec has no longer counts until its last machine is gone",
      given: { controlPlane: at(OLD), pools: { default: at(OLD), batch: at(OLD), removed: at(OLD, { oldest: "v1.32.0" }) } },
      want: {
        controlPlane: OLD,
        pools: { default: OLD, batch: OLD },
        progress: "the control plane goes to v1.36.3 when no worker is more than 3 minor versions older",
      },
    },
    {
      name: "a version that cannot be read holds nothing back",
      given: { controlPlane: at(OLD), pools: { default: at("?"), batch: at(OLD) } },
      want: {
        controlPlane: NEW,
        pools: { default: "?", batch: OLD },
        progress: "the control plane is being upgraded to v1.36.3; pools batch, default next",
      },
    },
  ];
  it.each(rows)("$name", ({ given: { pools = {}, ...given }, want }) => {
    const staged = stageUpgrade({
      wanted: NEW,
      controlPlane: undefined,
      declared: ["default", "batch"],
      ...given,
      pools: new Map(Object.entries(pools)),
    });
    expect({ ...staged, pools: Object.fromEntries(staged.pools) }).toEqual({ progress: undefined, ...want });
  });
});

type Group = { version: string; machines: string[] };
const minor = (version: string) => Number(version.split(".")[1]);
const oldest = (machines: readonly string[]) => machines.toSorted((a, b) => minor(a) - minor(b))[0];
const viewOf = ({ version, machines }: Group): RunningVersion => {
  return { version, oldest: oldest(machines), complete: machines.every((one) => one === version) };
};

/** A cluster whose controllers replace one machine at a time. */
class Model {
  wanted = "v1.31.0";
  readonly controlPlane: Group = { version: this.wanted, machines: [this.wanted, this.wanted, this.wanted] };
  readonly pools: Map<string, Group>;

  constructor(names: readonly string[]) {
    this.pools = new Map(names.map((name) => [name, { version: this.wanted, machines: [this.wanted, this.wanted] }]));
  }

  /** As a user may: one minor version more than the oldest control-plane machine at most. */
  raise(): void {
    const next = minor(this.wanted) + 1;
    if (next <= minor(oldest(this.controlPlane.machines) ?? this.wanted) + 1) this.wanted = `v1.${next}.0`;
  }

  apply(): void {
    const pools = new Map([...this.pools].map(([name, pool]) => [name, viewOf(pool)]));
    const staged = stageUpgrade({ wanted: this.wanted, controlPlane: viewOf(this.controlPlane), declared: [...this.pools.keys()], pools });
    this.controlPlane.version = staged.controlPlane;
    for (const [name, version] of staged.pools) {
      const pool = this.pools.get(name);
      if (pool !== undefined) pool.version = version;
    }
  }

  /** One old machine of the n-th group is replaced. */
  replace(at: number): void {
    const groups = [this.controlPlane, ...this.pools.values()];
    const group = groups[at % groups.length];
    const index = group?.machines.findIndex((version) => version !== group.version) ?? -1;
    if (group !== undefined && index >= 0) group.machines[index] = group.version;
  }

  problems(): readonly string[] {
    const servers = this.controlPlane.machines.map(minor);
    const kubelets = [...this.pools.values()].flatMap(({ machines }) => machines.map(minor));
    return [
      ...kubelets.filter((one) => one > Math.min(...servers)).map((one) => `a kubelet 1.${one} is newer than an API server`),
      ...kubelets.filter((one) => Math.max(...servers) - one > 3).map((one) => `a kubelet 1.${one} is too old`),
      ...([...this.pools.values()].filter(({ machines, version }) => machines.some((one) => one !== version)).length > 1
        ? ["two pools are upgraded at the same time"]
        : []),
    ];
  }

  get isDone(): boolean {
    return [this.controlPlane, ...this.pools.values()].every(
      ({ version, machines }) => version === this.wanted && machines.every((one) => one === version),
    );
  }
}

describe("an upgrade in stages", () => {
  const step = fc.oneof(
    fc.constant({ kind: "raise" as const }),
    fc.constant({ kind: "apply" as const }),
    fc.nat(5).map((group) => ({ kind: "replace" as const, group })),
  );

  it("respects the version skew policy in every order of events, and ends", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom("a", "b", "c", "default"), { maxLength: 4 }),
        fc.array(step, { maxLength: 200 }),
        (names, steps) => {
          const model = new Model(names);
          for (const one of steps) {
            if (one.kind === "raise") model.raise();
            else if (one.kind === "apply") model.apply();
            else model.replace(one.group);
            expect(model.problems()).toEqual([]);
          }
          for (let round = 0; round < 100 && !model.isDone; round += 1) {
            model.apply();
            for (let group = 0; group <= names.length; group += 1) model.replace(group);
            expect(model.problems()).toEqual([]);
          }
          expect(model.isDone).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
