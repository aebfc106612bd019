/** `lattice install` and `lattice uninstall` with real processes, killed on the way: the same command continues. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { fleetFolder, listedClusters } from "../builders/fleet/fleet-process.ts";
import { LaptopClients } from "../builders/fleet/laptop-fleet.ts";
import { managementYaml } from "../builders/install-cluster.ts";
import { runCommand } from "../builders/killed-command.ts";

const folder = fleetFolder();
const clients = new LaptopClients(folder.path);
afterAll(async () => {
  await clients.close();
  folder.remove();
}, 60_000);

/** `killWhen`: SIGKILL as soon as the output matches. */
const lattice = (argv: readonly string[], killWhen?: RegExp) => runCommand([...argv, "--data-dir", folder.path], { killWhen });

const FILE = "examples/clusters/management.yaml";
const CORRECTED = `${folder.path}.corrected.yaml`;
afterAll(() => rmSync(CORRECTED, { force: true }));

test(
  "an installation that is killed at several steps is continued, and leaves a cluster that owns itself",
  { timeout: 300_000 },
  async () => {
    const text = readFileSync(FILE, "utf8");
    writeFileSync(CORRECTED, text.replace("workers: 0", "workers: 1"));
    for (const at of [/becomes a cell/, /creates the management cluster/, /Pending|Provisioning/]) {
      expect((await lattice(["install", "-f", FILE], at)).output).toMatch(at);
      await wait(200);
    }
    let shown = "";
    for (const at of [/the changed file is applied/, /Pivoting/, /forgets its parent/]) {
      const killed = await lattice(["install", "-f", CORRECTED], at);
      shown += killed.output;
      expect(killed.output).toMatch(at);
      if (killed.code === 0) break; // it had ended
      await wait(200);
      if (at.source === "Pivoting") await expectNotUninstalled();
    }
    expect(shown).toContain("the changed file is applied in the bootstrap cluster: spec.nodes.workers: 0 -> 1");
    const done = await lattice(["install", "-f", CORRECTED]);
    expect(done.output).toContain("laptop is installed, and owns itself");
    expect(done.code).toBe(0);
    expect(readdirSync(join(folder.path, "clusters"))).toEqual(["laptop"]);
    expect(listedClusters(folder.path).map(({ name, parent }) => [name, parent])).toEqual([["laptop", undefined]]);
    // a second one changes nothing
    expect((await lattice(["install", "-f", CORRECTED])).code).toBe(0);
    const differs = await lattice(["install", "-f", FILE]);
    expect([differs.code, differs.output]).toEqual([1, expect.stringContaining("(spec.nodes.workers is 1, and 0 in the file)")]);
  },
);

/** As long as an installation has not ended. */
async function expectNotUninstalled(): Promise<void> {
  const refused = await lattice(["uninstall", "laptop"]);
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("lattice install continues it") as string });
  expect(existsSync(join(folder.path, "clusters", "laptop"))).toBe(true);
}

test("another cluster is not installed into the same folder", async () => {
  const other = await lattice(["uninstall", "prod"]);
  expect(other).toMatchObject({ code: 2, output: expect.stringContaining("has the management cluster laptop, and not prod") as string });
});

test("the reverse is killed and continued, too, and leaves nothing", { timeout: 300_000 }, async () => {
  for (const at of [/a bootstrap cluster is prepared/, /moved to the bootstrap cluster/]) {
    expect((await lattice(["uninstall", "laptop"], at)).output).toMatch(at);
    await wait(200);
  }
  const done = await lattice(["uninstall", "laptop"]);
  expect(done.output).toContain("laptop is gone");
  expect(done.code).toBe(0);
  expect(existsSync(join(folder.path, "clusters", "laptop"))).toBe(false);
  expect(readdirSync(join(folder.path, "clusters"))).toEqual([]);
});

test("another cluster is installed into the folder that is empty now", { timeout: 120_000 }, async () => {
  const file = `${folder.path}.prod.yaml`;
  writeFileSync(file, await managementYaml("prod"));
  const started = await lattice(["install", "-f", file], /a bootstrap cluster is prepared/);
  expect(started.output).toContain("a bootstrap cluster is prepared");
  await wait(200);
  // it was not created yet
  expect((await lattice(["uninstall", "prod"])).code).toBe(0);
});
