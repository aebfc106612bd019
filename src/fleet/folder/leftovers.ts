/**
 * Ends processes of a supervisor that was killed. They end by themselves soon after it; this waits for them, and helps one that does not.
 *
 * A process is signalled only if its number and its start time are those of the record. Where there are no start times, none is.
 */
import { sleep, UNKNOWN_PROCESS, type Clock, type ProcessControl } from "#base";
import type { FleetProcess } from "../fleet-types.ts";

const CHECK_EVERY_MS = 50;
const END_WITHIN_MS = 5_000;

export type LeftoverPorts = { readonly clock: Clock; readonly processes: ProcessControl; readonly signal: AbortSignal };

export type EndedLeftovers = { readonly ended: readonly FleetProcess[]; readonly running: readonly FleetProcess[] };

export async function endLeftovers(recorded: readonly FleetProcess[], ports: LeftoverPorts): Promise<EndedLeftovers> {
  const { processes } = ports;
  const runs = ({ pid, identity }: FleetProcess) => identity !== UNKNOWN_PROCESS && processes.identify(pid) === identity;
  const found = recorded.filter((one) => one.pid !== processes.pid && runs(one));
  let running: readonly FleetProcess[] = found;
  for (const name of ["SIGTERM", "SIGKILL"] as const) {
    for (const one of running) if (runs(one)) processes.signal(one.pid, name);
    running = await whileRunning(running, runs, ports);
  }
  return { ended: found.filter((one) => !running.includes(one)), running };
}

async function whileRunning(
  all: readonly FleetProcess[],
  runs: (one: FleetProcess) => boolean,
  { clock, signal }: LeftoverPorts,
): Promise<readonly FleetProcess[]> {
  let running = all.filter(runs);
  for (let waited = 0; running.length > 0 && waited < END_WITHIN_MS; waited += CHECK_EVERY_MS) {
    if (!(await sleep(clock, CHECK_EVERY_MS, signal))) break;
    running = running.filter(runs);
  }
  return running;
}
