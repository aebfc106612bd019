/**
 * The laptop fleet while its processes are killed at random for a minute, from the first second on: it settles, no cluster ever has two owners, and after a
 * SIGKILL of the supervisor the next `lattice up` has all clusters Ready. test/stories/laptop-fleet.test.ts has a short version.
 */
import { expect, test } from "vitest";
import { FleetProcess, fleetFolder } from "../builders/fleet/fleet-process.ts";
import { isSettled, LaptopClients, OwnerObserver } from "../builders/fleet/laptop-fleet.ts";
import { killAtRandom } from "../builders/fleet/random-kills.ts";
import { seed } from "./settings.ts";

const SETTLED_MS = 120_000;
/** One owner is checked also where the machine is too busy for the time. */
const PATIENCE_MS = 480_000;

test(`a minute of kills with seed ${seed}: the fleet settles, and no cluster ever has two owners`, { timeout: 1_200_000 }, async () => {
  const folder = fleetFolder();
  const clients = new LaptopClients(folder.path);
  const observer = new OwnerObserver(folder.path, clients);
  const { fleet: killed, log } = await killAtRandom({ folder: folder.path, seed, forMs: 60_000, everyMs: 1_500, supervisorShare: 0 });
  let fleet = killed;
  const settled = async (after: string): Promise<number> => {
    const began = performance.now();
    await fleet.until(`all own themselves after ${after}`, () => isSettled(folder.path, clients), PATIENCE_MS);
    const tookMs = performance.now() - began;
    console.log(`settled ${Math.round(tookMs / 1_000)} s after ${after}`);
    return tookMs;
  };
  try {
    const afterKills = await settled(`seed ${seed}, ${log.length} kills: ${log.join("; ")}`);
    fleet.signal("SIGKILL");
    await fleet.ended;
    fleet = new FleetProcess(folder.path, []);
    const afterStart = await settled(`a SIGKILL of the supervisor (seed ${seed})`);
    await observer.stop();
    expect(observer.wrong, `seed ${seed}: ${log.join("; ")}`).toEqual([]);
    expect(observer.looks).toBeGreaterThan(100);
    expect(observer.changes).toBeGreaterThan(10);
    expect(Math.max(afterKills, afterStart)).toBeLessThan(SETTLED_MS);
  } finally {
    await observer.stop();
    await clients.close();
    await fleet.end();
    folder.remove();
  }
});
