/** SIGKILLs to random processes of a laptop fleet, the supervisor too, which is started again as a user would. */
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "#base";
import { FleetProcess, listedClusters, processesOf } from "./fleet-process.ts";

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

/** Of all processes of a folder, in bytes: shared pages count in parts. */
export function memoryOf(folder: string, readPss: (pid: number) => number): number {
  return processesOf(folder).reduce((sum, pid) => sum + readPss(pid), 0);
}
