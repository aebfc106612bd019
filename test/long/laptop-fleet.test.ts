/** The limits of the laptop fleet: how long its start, its restart and a deletion take, and a minute of random SIGKILLs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters } from "#crds";
import { FleetProcess, fleetFolder, processesOf } from "../builders/fleet/fleet-process.ts";
import { isSettled, LaptopClients } from "../builders/fleet/laptop-fleet.ts";
import { surviveKills } from "../builders/fleet/random-kills.ts";
import { seed } from "./settings.ts";

const UP_MS = 60_000;
const AGAIN_MS = 30_000;
const DELETED_MS = 60_000;
const SETTLED_MS = 120_000;

test(
  "four clusters own themselves within a minute, start again within 30 seconds, and a child goes within a minute",
  { timeout: 300_000 },
  async () => {
    const folder = fleetFolder();
    const clients = new LaptopClients(folder.path);
    let fleet = new FleetProcess(folder.path, []);
    try {
      await fleet.until("four clusters own themselves", () => isSettled(folder.path, clients), UP_MS);
      fleet.signalGroup("SIGINT");
      await fleet.ended;
      fleet = new FleetProcess(folder.path, []);
      await fleet.until("they do again", () => isSettled(folder.path, clients), AGAIN_MS);
      expectOk(await (await clients.need("mgmt")).delete(latticeClusters, { name: "west" }));
      const path = join(folder.path, "clusters", "west");
      await fleet.until("west is gone", () => !existsSync(path) && processesOf(path).length === 0, DELETED_MS);
    } finally {
      await clients.close();
      await fleet.end();
      folder.remove();
    }
  },
);

test("a minute of random SIGKILLs: settled within two minutes, and never two owners", { timeout: 400_000 }, async () => {
  const { wrong, log } = await surviveKills({ seed, forMs: 60_000, everyMs: 3_000, settledWithinMs: SETTLED_MS });
  expect(wrong, `seed ${seed}: ${log.join("; ")}`).toEqual([]);
});
