/** `lattice __fleet-api-server`: the process of one cluster's API server, a child of `lattice up`. Its output is a log file. */
import { resolve } from "node:path";
import { createLogger } from "#base";
import { clusterFolderAt, serveCluster } from "#fleet";
import { createLogSink } from "#operator";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";

export type FleetApiServerFlags = { readonly folder: string; readonly name: string };

export async function runFleetApiServer(io: CliIo, { folder, name }: FleetApiServerFlags): Promise<ExitCode> {
  const { clock, random, signal, supervisor: channel } = io;
  if (channel === undefined)
    return reportFailure(io, "__fleet-api-server is started by lattice up, and not by hand; use lattice api-server");
  const logger = createLogger(createLogSink({ level: "info", format: "text", write: io.stderr, now: () => clock.now() }), {
    cluster: name,
  });
  const served = await serveCluster({ folder: clusterFolderAt(resolve(io.cwd, folder)), channel, clock, random, logger, signal });
  return served.ok ? 0 : reportFailure(io, served.error);
}
