/** Rounds of: start a fleet, send SIGINT to its process group at a random time of its start or run, and look at what is left behind. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom } from "#base";
import { FleetProcess, fleetFolder, listedClusters, processesOf } from "./fleet-process.ts";

/** A fleet of one cluster runs after about two seconds; some signals come later. */
const LATEST_MS = 4_000;
const TERMINAL_REPEATS = 0.3;
/** The only files that a stopped fleet has in its folder. */
const KEPT = new Set(["lattice-local-cluster", "clusters", "fleet.json", "kubeconfig"]);

export async function interruptRounds({ seed, rounds }: { readonly seed: number; readonly rounds: number }): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const folder = fleetFolder();
  const wrong: string[] = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const at = Math.floor(random() * LATEST_MS);
      const twice = random() < TERMINAL_REPEATS;
      const found = await interruptOnce(folder.path, at, twice);
      wrong.push(...found.map((text) => `round ${round} (after ${at} ms${twice ? ", twice" : ""}): ${text}`));
    }
    return wrong;
  } finally {
    folder.remove();
  }
}

async function interruptOnce(folder: string, at: number, twice: boolean): Promise<readonly string[]> {
  const fleet = new FleetProcess(folder, ["--empty", "--clusters", "1"]);
  await wait(at);
  fleet.signalGroup("SIGINT");
  if (twice) fleet.signalGroup("SIGINT");
  const started = performance.now();
  const code = await fleet.ended;
  const tookMs = performance.now() - started;
  const left = processesOf(folder);
  const wrong = [
    ...(code === 0 || code === 130 ? [] : [`exit code ${code}: ${fleet.output}`]),
    ...(tookMs < 10_000 ? [] : [`it ended after ${Math.round(tookMs)} ms`]),
    ...left.map((pid) => `process ${pid} still runs`),
    ...filesLeft(folder).map((name) => `${name} is left behind`),
    ...listedClusters(folder).flatMap(({ name, pids }) => pids.map((pid) => `fleet.json lists process ${pid} of ${name}`)),
  ];
  for (const pid of left) process.kill(pid, "SIGKILL");
  return wrong;
}

/** Records, locks and sockets that should be gone; `data/` of a cluster has a lock of its own. */
function filesLeft(folder: string): readonly string[] {
  try {
    const top = readdirSync(folder).filter((name) => !KEPT.has(name));
    const locks = readdirSync(join(folder, "clusters"), { recursive: true, encoding: "utf8" }).filter((name) =>
      /(^|\/)(lock|.*\.sock)$/.test(name),
    );
    return [...top, ...locks];
  } catch {
    return []; // the signal came before the folder was made
  }
}
