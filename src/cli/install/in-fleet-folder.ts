/** Runs the fleet of a folder for one command: its clusters run until the work has ended. */
import { createLogger, err, type Result } from "#base";
import type { Fleet, OpenFolder } from "#fleet";
import type { CommandIo } from "../io.ts";
import { openRunningFleet } from "./open-running-fleet.ts";

export async function inFleetFolder<E>(
  io: CommandIo,
  opened: OpenFolder,
  work: (fleet: Fleet) => Promise<Result<void, E>>,
): Promise<Result<void, E | string>> {
  const release = io.handleRepeats?.(() => {
    opened.abandon();
    return "exit";
  });
  const logger = createLogger((level, message, fields) => {
    if (level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  const open = await openRunningFleet(io, { opened, clusters: [], repair: false, logger });
  const done = open.ok ? await work(open.value.fleet) : err(open.error);
  if (open.ok) await open.value.close();
  opened.close();
  release?.();
  return done;
}
