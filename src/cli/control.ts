/** `lattice stop` and `lattice start`: one cluster of a `lattice up` that runs elsewhere on this machine. */
import { resolve } from "node:path";
import { fleetFolder, requestControl, runningUp } from "#fleet";
import { reportError, reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { shortPath } from "./short-path.ts";

export type ControlFlags = { readonly dataDir: string; readonly output?: "text" | "json" };

export type ControlCommand = { readonly command: "stop" | "start"; readonly name: string };

/** Exit code 1: lattice up refused it, such as for an unknown name. */
export async function controlCluster(io: CliIo, request: ControlCommand, { dataDir, output = "text" }: ControlFlags): Promise<ExitCode> {
  const folder = fleetFolder(resolve(io.cwd, dataDir));
  const shown = shortPath(io.cwd, folder.path);
  const running = await runningUp(folder);
  if (running === undefined)
    return reportFailure(io, `no lattice up runs in ${shown}; start it with lattice up, or name its folder with --data-dir`);
  if (running.socket === undefined)
    return reportFailure(io, `lattice up in ${shown} (process ${running.pid}) does not accept commands yet; try again`);
  const response = await requestControl(running.socket, request, io.signal);
  if (!response.ok) return reportFailure(io, response.error);
  const result = response.value.ok ? { message: response.value.message ?? "" } : { error: response.value.error };
  if (output === "json") io.stdout(`${JSON.stringify({ cluster: request.name, ...result }, null, 2)}\n`);
  if (result.error !== undefined) return reportError(io, result.error);
  if (output === "text") io.stdout(`${result.message}\n`);
  return 0;
}
