/**
 * `lattice up` without flags, with real processes: a management cluster that owns itself, made from a bootstrap cluster that is gone, two children, and a
 * child of one of them. It is stopped and started, a child is deleted, and processes are killed at random. The whole time of kills is in test/long.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeClusters, latticeServices } from "#crds";
import { secretsByMetadata } from "#kube";
import { runCli } from "../builders/cli-io.ts";
import { FleetProcess, fleetFolder, processesOf } from "../builders/fleet/fleet-process.ts";
import { isSettled, LAPTOP, LaptopClients, unsettledClusters } from "../builders/fleet/laptop-fleet.ts";
import { surviveKills } from "../builders/fleet/random-kills.ts";

/** Several times what an idle machine needs: other tests run beside this one. The limits of time are in test/long. */
const PATIENCE_MS = 280_000;
const MAX_PSS = 1.8 * 1024 ** 3;

function pssOf(pid: number): number {
  try {
    return Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

describe("the laptop fleet", () => {
  const folder = fleetFolder();
  const clients = new LaptopClients(folder.path);
  let fleet: FleetProcess;
  afterAll(async () => {
    await clients.close();
    await fleet.end();
    folder.remove();
  }, 60_000);

  const lattice = (...argv: readonly string[]) => runCli(argv, { clock: systemClock, cwd: folder.path, userId: process.getuid?.() });
  const kubeconfig = () => join(folder.path, "kubeconfig");

  /** What must be the same after a restart. */
  async function identity(): Promise<readonly string[]> {
    const texts: string[] = [];
    for (const name of LAPTOP) {
      texts.push(readFileSync(join(folder.path, "clusters", name, "kubeconfig"), "utf8"));
      texts.push((await clients.own(name))?.metadata.uid ?? "", (await clients.capiCluster(name, name))?.metadata.uid ?? "");
    }
    return texts;
  }

  test("comes up: four clusters, each of which owns itself, and no bootstrap cluster", { timeout: 300_000 }, async () => {
    fleet = new FleetProcess(folder.path, []);
    await fleet.until("the fleet is up", () => fleet.output.includes("Ctrl-C stops it"), PATIENCE_MS);
    expect(await unsettledClusters(folder.path, clients)).toEqual([]);
    expect(readdirSync(join(folder.path, "clusters")).toSorted()).toEqual(LAPTOP);
    expect(fleet.output).toMatch(/mgmt +Pivoting +comparing \d+ objects/);
    expect(fleet.output).toMatch(/^└─ west +Ready +self +connected +2\/2 +healthy$/m);
    const mgmt = await clients.need("mgmt");
    const parent = await mgmt.get(secretsByMetadata, { namespace: "lattice-system", name: "lattice-parent-config" });
    expect(parent).toMatchObject({ ok: false, error: { kind: "not-found" } });
    expect((await clients.own("mgmt"))?.spec.cellRef).toBeUndefined();
    expect((await clients.own("edge"))?.spec.cellRef).toBe("east");
    expect(processesOf(folder.path).reduce((sum, pid) => sum + pssOf(pid), 0)).toBeLessThan(MAX_PSS);
  });

  test("lattice tree shows it, also with the parent stopped, and a child is scaled meanwhile", { timeout: 300_000 }, async () => {
    expect(await lattice("tree", "--kubeconfig", kubeconfig())).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^mgmt .*\n├─ east .*\n│ {2}└─ edge .*\n└─ west .*\n4 of 4 clusters are healthy\n$/m) as string,
    });
    expect(await lattice("stop", "mgmt", "--data-dir", folder.path)).toMatchObject({ code: 0 });
    const west = await clients.need("west");
    const patch = { spec: { nodes: { workers: 2 } } };
    expectOk(await west.patch(latticeClusters, { name: "west" }, { type: "merge", patch }));
    await fleet.until("west has three nodes", async () => (await clients.own("west"))?.status?.readyNodes === 3);
    expect(await lattice("tree", "--kubeconfig", kubeconfig())).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^mgmt +Unknown .*does not answer: it is stopped; lattice start mgmt --data-dir \S+ starts it\n[^]*└─ west +Ready +self .* 3\/3 /m,
      ) as string,
    });
    expect(await lattice("start", "mgmt", "--data-dir", folder.path)).toMatchObject({ code: 0 });
    await fleet.until("all own themselves", () => isSettled(folder.path, clients));
  });

  test("Ctrl-C and start again: the same clusters, uids and kubeconfigs", { timeout: 300_000 }, async () => {
    const before = await identity();
    fleet.signalGroup("SIGINT");
    expect(await fleet.ended).toBe(0);
    fleet = new FleetProcess(folder.path, []);
    await fleet.until("the fleet is up again", () => fleet.output.includes("Ctrl-C stops it"), PATIENCE_MS);
    expect(fleet.output).toContain("The clusters start as they were left:");
    expect(await unsettledClusters(folder.path, clients)).toEqual([]);
    expect(await identity()).toEqual(before);
    const services = expectOk(await (await clients.need("west")).list(latticeServices));
    expect(services.items).toHaveLength(5);
  });

  test("a child that is deleted on its parent leaves nothing, and is not created again", { timeout: 300_000 }, async () => {
    const mgmt = await clients.need("mgmt");
    expectOk(await mgmt.delete(latticeClusters, { name: "west" }));
    const path = join(folder.path, "clusters", "west");
    await fleet.until("west is gone", async () => {
      const found = await mgmt.get(latticeClusters, { name: "west" });
      return !found.ok && found.error.kind === "not-found" && !existsSync(path) && processesOf(path).length === 0;
    });
    expect(await clients.capiCluster("mgmt", "west")).toBeUndefined();
    fleet.signalGroup("SIGINT");
    await fleet.ended;
    fleet = new FleetProcess(folder.path, []);
    await fleet.until("the rest is up again", () => fleet.output.includes("Ctrl-C stops it"), PATIENCE_MS);
    expect(await unsettledClusters(folder.path, clients, ["mgmt", "east", "edge"])).toEqual([]);
  });
});

test(
  "processes that are killed at random from the first second on: it settles, and no cluster ever has two owners",
  { timeout: 400_000 },
  async () => {
    const { wrong, log, looks } = await surviveKills({ seed: 7, forMs: 12_000, everyMs: 1_500, settledWithinMs: PATIENCE_MS });
    expect(wrong, log.join("; ")).toEqual([]);
    expect(looks).toBeGreaterThan(10);
  },
);
