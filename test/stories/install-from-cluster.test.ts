/**
 * `lattice install` and `lattice uninstall` with a bootstrap cluster that a kubeconfig leads to: it has neither Lattice nor Cluster API before, and has neither afterwards.
 * The command is killed at its steps, and the same command continues. The cluster is an embedded API server in a process of its own, with local machines.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BareClusterProcess } from "../builders/fleet/bare-cluster-process.ts";
import { clientOf } from "../builders/fleet/fleet-client.ts";
import { LaptopClients } from "../builders/fleet/laptop-fleet.ts";
import { installedNames, managementYaml } from "../builders/install-cluster.ts";
import { runCommand, runKilledAt, type RanCommand } from "../builders/killed-command.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-seed-"));
const fleet = join(folder, "fleet");
const seed = new BareClusterProcess(fleet, "seed");
const clients = new LaptopClients(fleet);
const kubeconfig = (name: string) => join(fleet, "clusters", name, "kubeconfig");
/** A kubeconfig of the management cluster that outlives it. */
const saved = join(folder, "mgmt.kubeconfig");
let before: readonly string[] = [];

beforeAll(async () => {
  await seed.kubeconfig;
  before = await seedNames();
  writeFileSync(join(folder, "mgmt.yaml"), await managementYaml("mgmt"));
}, 120_000);
afterAll(async () => {
  await clients.close();
  await seed.end();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function seedNames(): Promise<readonly string[]> {
  const client = await clientOf(kubeconfig("seed"));
  const names = await installedNames(client);
  await client.close();
  return names;
}

/** `killWhen`: SIGKILL as soon as the output matches. */
function lattice(argv: readonly string[], killWhen?: RegExp): Promise<RanCommand> {
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: "" };
  return runCommand([...argv, "--bootstrap-kubeconfig", kubeconfig("seed")], { env, killWhen });
}

test("a killed installation is continued, and leaves the bootstrap cluster as it was", { timeout: 600_000 }, async () => {
  const argv = ["install", "-f", join(folder, "mgmt.yaml"), "--management-kubeconfig", kubeconfig("mgmt")];
  const steps = [/is prepared/, /becomes a cell/, /creates the management cluster/, /Pivoting/, /forgets its parent/, /cleaned up/];
  const done = await runKilledAt(steps, (step) => lattice(argv, step));
  expect([done.code, done.output]).toEqual([0, expect.stringContaining("mgmt is installed, and owns itself")]);
  expect(await seedNames()).toEqual(before);
  expect(await clients.isOwner("mgmt", "mgmt")).toBe(true);
  // a second one changes nothing
  expect((await lattice(argv)).code).toBe(0);
  expect(await seedNames()).toEqual(before);
});

test("the reverse is killed and continued, too, and a run after its end ends as well", { timeout: 600_000 }, async () => {
  copyFileSync(kubeconfig("mgmt"), saved);
  const argv = ["uninstall", "mgmt", "--management-kubeconfig", saved];
  const steps = [/is prepared/, /moved to the bootstrap cluster/, /machines of the management cluster are deleted/, /cleaned up/];
  const done = await runKilledAt(steps, (step) => lattice(argv, step));
  expect([done.code, done.output]).toEqual([0, expect.stringContaining("mgmt is gone")]);
  expect(existsSync(join(fleet, "clusters", "mgmt"))).toBe(false);
  expect(await seedNames()).toEqual(before);
  // one that was killed after its last request is run again
  expect((await lattice(argv)).code).toBe(0);
});
