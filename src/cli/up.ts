/**
 * `lattice up`, which is `npm start`: runs clusters on this machine, with an example application, the user's own services or empty. This
 * process is their supervisor; API servers and operators are processes of their own. Runs until Ctrl-C; state is kept.
 */
import { resolve } from "node:path";
import { createLogger, err, nodeProcesses, ok, PROGRAM_VERSION, type Result } from "#base";
import { fleetFolder, openFleetFolder, runningUp, type FleetFolderContent, type OpenFolder } from "#fleet";
import { reportFailure, type CommandIo, type ExitCode } from "./io.ts";
import { shortPath } from "./short-path.ts";
import { readOwnServices, type OwnFlags, type OwnServices } from "./up/own-services.ts";
import { MANAGEMENT } from "./up/laptop-plan.ts";
import { runFleet, type FleetContent } from "./up/run-fleet.ts";

export type UpFlags = OwnFlags & {
  readonly dataDir: string;
  readonly repair?: boolean;
  readonly empty?: boolean;
  readonly clusters?: string;
  readonly cell?: boolean;
};

/** Each cluster needs about 200 MB of memory. */
const MAX_CLUSTERS = 16;

export async function up(io: CommandIo, flags: UpFlags): Promise<ExitCode> {
  const path = resolve(io.cwd, flags.dataDir);
  const count = parseClusters(flags);
  if (!count.ok) return reportFailure(io, count.error);
  const running = await runningUp(fleetFolder(path));
  if (running !== undefined) return reportFailure(io, `lattice up runs in ${path} already (process ${running.pid}); lattice down stops it`);
  const own = await chooseServices(io, flags);
  if (typeof own === "number") return own;
  const { clock, signal } = io;
  const opened = await openFleetFolder({ path, cluster: MANAGEMENT, content: contentOf(flags), clock, signal, processes: nodeProcesses });
  // a signal cancels what is under way
  if (!opened.ok) return signal.aborted ? 0 : reportFailure(io, opened.error);
  const isMade = opened.value.content === "laptop" || opened.value.content === "installed";
  const misplaced = isMade ? flagForOtherContent(flags) : undefined;
  if (misplaced !== undefined) {
    opened.value.close();
    return reportFailure(
      io,
      `${path} has a management cluster with children, which start as they are; leave out ${misplaced}, or choose another folder with --data-dir`,
    );
  }
  const content: FleetContent = own ?? chosenContent(opened.value.content, flags);
  return upIn(io, opened.value, { content, clusters: count.value, cell: flags.cell === true, repair: flags.repair === true });
}

/** Of a new folder. */
function contentOf(flags: UpFlags): FleetFolderContent {
  if (flags.empty === true) return "empty";
  return flagForOtherContent(flags) === undefined ? "laptop" : "services";
}

/** A flag that is not for the laptop fleet. */
function flagForOtherContent({ empty, clusters, cell, filename }: UpFlags): string | undefined {
  const given = { "--empty": empty === true, "--clusters": clusters !== undefined, "--cell": cell === true, "-f": filename !== undefined };
  return Object.entries(given).find(([, isGiven]) => isGiven)?.[0];
}

function chosenContent(content: FleetFolderContent, { empty }: UpFlags): FleetContent {
  if (content === "laptop" || content === "installed") return content;
  return empty === true || content === "empty" ? "empty" : "shop";
}

type Start = { readonly content: FleetContent; readonly clusters: number; readonly cell: boolean; readonly repair: boolean };

async function upIn(io: CommandIo, opened: OpenFolder, start: Start): Promise<ExitCode> {
  const release = io.handleRepeats?.(() => {
    opened.abandon();
    return "exit";
  });
  const logger = createLogger((level, message, fields) => {
    if (level === "error") io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
  });
  io.stdout(`Lattice ${PROGRAM_VERSION}: services that talk only when both sides agree.\n\n${describeFolder(io, opened)}`);
  const ended = await runFleet(io, { ...start, opened, logger });
  opened.close();
  release?.();
  return ended.ok || io.signal.aborted ? 0 : reportFailure(io, ended.error);
}

/** What happened to the folder before the start. */
function describeFolder(io: CommandIo, { folder, migrated, ended }: OpenFolder): string {
  const path = shortPath(io.cwd, folder.path);
  const lines = [
    ...(ended.length === 0 ? [] : [`A lattice up in ${path} was killed; the processes that it left (${ended.length}) were ended.`]),
    ...(migrated ? [`The state in ${path} was of an older version, and is in ${path}/clusters/${MANAGEMENT} now.`] : []),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n\n`;
}

function parseClusters({ clusters, empty, filename }: UpFlags): Result<number, string> {
  if (empty === true && filename !== undefined) return err("--empty runs clusters without services; leave out --empty or -f");
  if (clusters === undefined) return ok(1);
  if (empty !== true && clusters !== "1")
    return err("--clusters: more than one need --empty; lattice up without both runs a management cluster with children");
  const count = /^[0-9]{1,3}$/.test(clusters) ? Number(clusters) : 0;
  return count >= 1 && count <= MAX_CLUSTERS ? ok(count) : err(`--clusters: "${clusters}" is not a number from 1 to ${MAX_CLUSTERS}`);
}

/** undefined: no services of the user. A number: the exit code, when the files have errors. */
async function chooseServices(io: CommandIo, flags: UpFlags): Promise<OwnServices | ExitCode | undefined> {
  if (flags.filename !== undefined) return readOwnServices(io, flags);
  const other = (["secrets", "namespace", "image"] as const).find((name) => flags[name] !== undefined);
  return other === undefined ? undefined : reportFailure(io, `--${other} is for services given with -f`);
}
