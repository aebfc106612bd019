/** The logs of Pods that run as processes, for the API server. The port of the simulation reads them. */
import type { Pod } from "#kube";
import type { PodLogs } from "#kube-server";
import type { ControllerOptions } from "./options.ts";

export function podLogsOf(controllers: boolean | ControllerOptions): PodLogs | undefined {
  const simulation = typeof controllers === "object" ? controllers.simulation : undefined;
  const processes = typeof simulation === "object" ? simulation.podProcesses : undefined;
  if (processes === undefined) return undefined;
  return {
    // the server asks for stored Pods only, which it has validated
    has: (pod) => processes.runs(pod as Pod),
    read: ({ metadata: { uid = "" } }, request, signal) => processes.readLog(uid, request, signal),
  };
}
