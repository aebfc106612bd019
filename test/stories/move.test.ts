/**
 * `lattice move` as a process between two embedded API servers: killed after each of its steps and run again, it ends as an undisturbed one, and
 * at no time are both sides unpaused.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { capiClusters, configMaps, leases, secrets, type KubeObject } from "#kube";
import { runMoveProcess, type MoveProcessOptions, type MoveProcessResult } from "../builders/move-process.ts";
import { contentsOf, danglingOwners, isUnpaused, observeInvariants, startMoveWorld, type MoveWorld } from "../builders/move-world.ts";

const LEASE = ["--lease", "5s"];
/** In their order, as the progress shows them. */
const STEPS = [
  /^checking the plan/,
  /^registering at the target/,
  /^pausing the source/,
  /^copying$/,
  /^copying [0-9]/,
  /^comparing both sides/,
  /^announcing the commit/,
  /^committing/,
  /^the target owns the clusters/,
  /^unpausing the target/,
  /^deleting at the source$/,
  /^deleting at the source [0-9]/,
  /^finishing/,
];

describe("lattice move", () => {
  let folder = "";
  let world: MoveWorld;
  const file = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lattice-move-story-"));
    world = await startMoveWorld(1);
    await world.source.writeKubeconfig(file("a"));
    await world.target.writeKubeconfig(file("b"));
  });

  afterAll(async () => {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  });

  const move = (from: string, to: string, more: Partial<MoveProcessOptions> = {}) =>
    runMoveProcess({ from: file(from), to: file(to), namespace: "c1", flags: LEASE, ...more });

  /** On a busy machine a process may lose its lease; then it reports that, and the same command continues. */
  async function finish(from: string, to: string): Promise<MoveProcessResult> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await move(from, to);
      if (result.code !== 2 || !result.stderr.includes("could not renew its lease") || attempt === 5) return result;
    }
  }

  test(
    "killed after each step and run again, it ends as an undisturbed move; never are both sides unpaused",
    { timeout: 600_000 },
    async () => {
      const expected = new Map([...(await contentsOf(world.source.client, "c1"))].filter(([name]) => name !== "Secret c1/unrelated"));
      const observer = observeInvariants(world, expected.keys());
      let [from, to] = ["a", "b"];
      const undisturbed = await finish(from, to);
      expect(undisturbed.code, undisturbed.stderr).toBe(0);
      expect(undisturbed.stdout).toContain(`moved ${expected.size} objects of namespace c1`);
      const reference = await contentsOf(world.target.client, "c1");
      for (const step of STEPS) {
        [from, to] = [to, from];
        const killed = await move(from, to, { killAt: (line) => step.test(line) });
        expect(killed.code, `killed at ${step}:\n${killed.stderr}`).toBeUndefined();
        const finished = await finish(from, to);
        expect(finished.code, `after a kill at ${step}:\n${finished.stderr}`).toBe(0);
        const [left, moved] = from === "a" ? [world.source, world.target] : [world.target, world.source];
        expect(
          [...(await contentsOf(left.client, "c1")).keys()].filter((name) => name !== "Secret c1/unrelated"),
          String(step),
        ).toEqual([]);
        const contents = await contentsOf(moved.client, "c1");
        for (const [name, object] of reference)
          expect(withoutGenerations(contents.get(name)), `${step}: ${name}`).toEqual(withoutGenerations(object));
        expect(await danglingOwners(moved.client, "c1"), String(step)).toEqual([]);
        expect(isUnpaused(moved, "c1"), String(step)).toBe(true);
      }
      expect(observer.wrong).toEqual([]);
    },
  );

  test("nothing of the move is left at the source, and the target has a record of it", async () => {
    const [owner, other] = isUnpaused(world.source, "c1") ? [world.source, world.target] : [world.target, world.source];
    for (const resource of [secrets, configMaps, leases]) {
      const list = expectOk(await other.client.list<KubeObject>(resource, { namespace: "c1" }));
      const names = list.items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("lattice-"));
      expect(names, resource.kind).toEqual([]);
    }
    const record = expectOk(await owner.client.get<KubeObject>(configMaps, { namespace: "c1", name: "lattice-move-record" }));
    expect(record).toMatchObject({ data: { state: "committed", epoch: String(STEPS.length + 1) } });
  });

  test("a second move of the same namespace is refused and names the first", { timeout: 120_000 }, async () => {
    const [from, to] = isUnpaused(world.source, "c1") ? ["a", "b"] : ["b", "a"];
    const owner = from === "a" ? world.source : world.target;
    const key = { namespace: "c1", name: "c1" };
    const block = (value: string | null) =>
      owner.client.patch(capiClusters, key, {
        type: "merge",
        patch: { metadata: { annotations: { "clusterctl.cluster.x-k8s.io/block-move": value } } },
      });
    expectOk(await block("true"));
    let isWaiting: () => void = () => {};
    const waiting = new Promise<void>((resolve) => (isWaiting = resolve));
    const first = move(from, to, {
      killAt: (line) => {
        if (line.startsWith("waiting")) isWaiting();
        return false;
      },
    });
    await Promise.race([waiting, first]);
    const second = await move(from, to);
    expect(second.code, second.stderr).toBe(1);
    expect(second.stderr).toMatch(/lattice: namespace c1 is being moved by \S+ since \S+; wait until that move has ended/);
    expectOk(await block(null));
    const finished = await first;
    expect(finished.code, finished.stderr).toBe(0);
  });

  test("an unfinished move can be undone, and the clusters stay where they were", { timeout: 120_000 }, async () => {
    const [from, to] = isUnpaused(world.source, "c1") ? ["a", "b"] : ["b", "a"];
    const [owner, other] = from === "a" ? [world.source, world.target] : [world.target, world.source];
    const before = await contentsOf(owner.client, "c1");
    const killed = await move(from, to, { killAt: (line) => line.startsWith("comparing") });
    expect(killed.code).toBeUndefined();
    expect(isUnpaused(owner, "c1")).toBe(false);
    const undone = await move(from, to, { flags: [...LEASE, "--abort"] });
    expect(undone.code, undone.stderr).toBe(0);
    expect(isUnpaused(owner, "c1")).toBe(true);
    const after = await contentsOf(owner.client, "c1");
    for (const [name, object] of before) expect(withoutGenerations(after.get(name)), name).toEqual(withoutGenerations(object));
    expect([...(await contentsOf(other.client, "c1")).keys()].filter((name) => name !== "Secret c1/unrelated")).toEqual([]);
  });
});

/** No controller runs, so none observes the generations that pausing makes. */
function withoutGenerations(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (name, inner: unknown) => (name === "observedGeneration" ? undefined : inner)));
}
