/** Starts the processes of a fleet in an open folder, with the control socket that its machines and other commands use. */
import { tmpdir } from "node:os";
import { ok, type Logger, type Result } from "#base";
import { controlSocketPath, openControlSocket, startFleet, type Fleet, type FleetCluster, type OpenFolder } from "#fleet";
import type { CliIo } from "../io.ts";

export type RunningFleetOptions = {
  readonly opened: OpenFolder;
  readonly clusters: readonly FleetCluster[];
  readonly repair: boolean;
  readonly logger: Logger;
};

export type RunningFleet = { readonly fleet: Fleet; /** Ends all processes. */ readonly close: () => Promise<void> };

export async function openRunningFleet(io: CliIo, options: RunningFleetOptions): Promise<Result<RunningFleet, string>> {
  const { opened, clusters, repair, logger } = options;
  const { clock, random, env, signal, program } = io;
  const { folder, management } = opened;
  const socket = controlSocketPath(folder, { temporary: tmpdir(), userId: io.userId });
  if (!socket.ok) return socket;
  const recorded = opened.record({ socket: socket.value, processes: [] });
  if (!recorded.ok) return recorded;
  const onProcesses: Parameters<typeof startFleet>[0]["onProcesses"] = (processes) => {
    const updated = opened.record({ socket: socket.value, processes });
    if (!updated.ok) logger.error("the list of processes cannot be written", { reason: updated.error });
  };
  const shared = { folder, program, clusters, management, repair, clock, random, logger, env, signal };
  const fleet = await startFleet({ ...shared, socket: socket.value, onProcesses });
  if (!fleet.ok) return fleet;
  const control = await openControlSocket({ path: socket.value, fleet: fleet.value, clock });
  if (!control.ok) {
    await fleet.value.close();
    return control;
  }
  const close = async () => {
    await control.value.close();
    await fleet.value.close();
  };
  return ok({ fleet: fleet.value, close });
}
