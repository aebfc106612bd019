/**
 * `lattice reparent` as a process, with operators on real sockets: killed at each of its steps and run again it ends as an undisturbed one, and a cluster whose parent
 * is gone with all of its data gets another one.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { fieldAt, secrets, type KubeObject } from "#kube";
import { runReparentProcess, type ReparentProcessOptions } from "../builders/reparent-process.ts";
import { startReparentWorld, type ReparentWorld } from "../builders/reparent-world.ts";
import { decoded, untilCluster } from "../builders/two-clusters.ts";

/** In their order. */
const STEPS = [
  "creating the LatticeCluster",
  "waiting for the new parent's configuration",
  "replacing Secret lattice-parent-config",
  "setting spec.cellRef",
  "waiting until the agent is connected",
];

let world: ReparentWorld;

beforeAll(async () => {
  world = await startReparentWorld(["mgmt", "hq"]);
}, 60_000);

afterAll(() => world.close(), 60_000);

const reparent = (to: string, more: Partial<ReparentProcessOptions> = {}) =>
  runReparentProcess({ kubeconfig: world.kubeconfig("leaf"), to: world.kubeconfig(to), ...more });

async function parentOfLeaf(): Promise<string> {
  const key = { namespace: "lattice-system", name: "lattice-parent-config" };
  return decoded(fieldAt(expectOk(await world.leaf.client.get<KubeObject>(secrets, key)), "data", "cell"));
}

test("killed at each step and run again, it gives the cluster its parent", { timeout: 180_000 }, async () => {
  const killed: string[] = [];
  for (const step of STEPS) {
    const { code, stderr } = await reparent("mgmt", { killAt: (line) => line.startsWith(step) });
    // a step that an earlier run has taken, before it was killed, is not taken again
    expect([0, undefined], stderr).toContain(code);
    if (code === undefined) killed.push(step);
  }
  expect(killed.slice(0, 2)).toEqual(STEPS.slice(0, 2));
  const { code, stdout, stderr } = await reparent("mgmt");
  expect([code, stdout], stderr).toEqual([0, "leaf is a child of mgmt: its agent is connected\n"]);
  expect(await parentOfLeaf()).toBe("mgmt");
});

test("a cluster whose parent is gone with all of its data gets another one", { timeout: 180_000 }, async () => {
  await world.destroyCell("mgmt");
  const { code, stdout, stderr } = await reparent("hq", { flags: ["--from", world.kubeconfig("mgmt")] });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("leaf is a child of hq: its agent is connected\nLatticeCluster leaf stays at mgmt (mgmt does not answer), ");
  expect(await parentOfLeaf()).toBe("hq");
  const hq = world.cells.get("hq");
  if (hq === undefined) throw new Error("no cell hq");
  const adopted = await untilCluster(hq, "leaf", ({ status }) => status?.phase === "Ready");
  expect(adopted?.status?.ownedBy).toBe("self");
  const own = expectOk(await world.leaf.client.get(latticeClusters, { name: "leaf" }));
  expect(own.spec.cellRef).toBe("hq");
});
