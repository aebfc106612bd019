/** SIGKILLs to random processes of a laptop fleet, the supervisor too, which is started again as a user would. */
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "#base";
import { FleetProcess, fleetFolder, listedClusters } from "./fleet-process.ts";
import { isSettled, LaptopClients, OwnerObserver } from "./laptop-fleet.ts";

export type KillOptions = {
  readonly folder: string;
  readonly seed: number;
  readonly forMs: number;
  /** Between two kills, at most. */
  readonly everyMs: number;
  /** How often the supervisor is the victim; absent: one kill in ten. */
  readonly supervisorShare?: number;
};

export type Killed = { readonly fleet: FleetProcess; /** What was killed, in order, for a failure. */ readonly log: readonly string[] };

const SUPERVISOR_SHARE = 0.1;

/** The returned process runs. */
export async function killAtRandom({ folder, seed, forMs, everyMs, supervisorShare = SUPERVISOR_SHARE }: KillOptions): Promise<Killed> {
  const random = seededRandom(seed);
  const log: string[] = [];
  let fleet = new FleetProcess(folder, []);
  const began = performance.now();
  while (performance.now() - began < forMs) {
    await wait(200 + random() * everyMs);
    const at = `${((performance.now() - began) / 1_000).toFixed(1)}s`;
    if (random() < supervisorShare || !fleet.alive) {
      log.push(`${at} supervisor`);
      fleet.signal("SIGKILL");
      await fleet.ended;
      fleet = new FleetProcess(folder, []);
      continue;
    }
    const victims = listedClusters(folder).flatMap(({ name, pids }) => pids.map((pid) => ({ name, pid })));
    const victim = victims[Math.floor(random() * victims.length)];
    if (victim === undefined) continue;
    log.push(`${at} process ${victim.pid} of ${victim.name}`);
    try {
      process.kill(victim.pid, "SIGKILL");
    } catch {
      // it has ended since
    }
  }
  return { fleet, log };
}

export type Survival = {
  /** Clusters with two owners. */
  readonly wrong: readonly string[];
  readonly log: readonly string[];
  readonly looks: number;
};

/** A new laptop fleet, killed at random while it starts. Fails when it does not settle in time. */
export async function surviveKills(options: Omit<KillOptions, "folder"> & { readonly settledWithinMs: number }): Promise<Survival> {
  const folder = fleetFolder();
  const clients = new LaptopClients(folder.path);
  const observer = new OwnerObserver(folder.path, clients);
  const { fleet, log } = await killAtRandom({ ...options, folder: folder.path });
  try {
    const what = `all own themselves after ${log.join("; ")}`;
    await fleet.until(what, () => isSettled(folder.path, clients), options.settledWithinMs);
    await observer.stop();
    return { wrong: observer.wrong, log, looks: observer.looks };
  } finally {
    await observer.stop();
    await clients.close();
    await fleet.end();
    folder.remove();
  }
}
