/**
 * Opens the folder of a fleet for this process: creates it, or checks that it is one of Lattice; takes its lock; ends what a killed supervisor
 * left; moves the state of the older layout. A folder that the caller does not accept stays as it is.
 */
import { lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { acquireProcessLock, andThen, describeThrown, err, fromThrowing, map, ok, type ProcessLock, type Result } from "#base";
import { createFolder } from "#pki";
import type { FleetFolder, FleetProcess } from "../fleet-types.ts";
import { findFleet, isEmptyInstallation, type FoundFleet } from "./find-fleet.ts";
import { isDraft, listed, LOCK, otherFilesIn, SOCKET } from "./folder-names.ts";
import { fleetFolder } from "./layout.ts";
import { endLeftovers, type LeftoverPorts } from "./leftovers.ts";
import { readMarker, writeMarker, type FleetFolderContent, type Marker } from "./marker.ts";
import { migrateOlderLayout } from "./migrate.ts";
import { readRecord, removeRecord, runningUp, writeRecord, type UpRecord } from "./up-record.ts";

const FOLDER_MODE = 0o700;
const OTHERS_WRITE = 0o002;

export type OpenFolder = {
  readonly folder: FleetFolder;
  /** Processes of a killed supervisor that were ended. */
  readonly ended: readonly FleetProcess[];
  /** State of the older layout was moved. */
  readonly migrated: boolean;
  readonly content: FleetFolderContent;
  /** The name of the management cluster. */
  readonly management: string;
  /** Replaces what is recorded of the fleet. */
  readonly setContent: (content: FleetFolderContent) => Result<void, string>;
  /** No fleet was in it before. */
  readonly isNew: boolean;
  /** Replaces the record of this process. */
  readonly record: (content: Pick<UpRecord, "socket" | "processes">) => Result<void, string>;
  /** Removes the record and the lock. Other processes of the fleet have ended. */
  readonly close: () => void;
  /** The same in a hurry: kills the recorded processes first. */
  readonly abandon: () => void;
};

export type OpenFolderOptions = LeftoverPorts & {
  readonly path: string;
  /** The management cluster of a new fleet, which gets the state of the older layout, and of an installation in place of one whose clusters are deleted. */
  readonly cluster: string;
  /** Of a new fleet; an older one stays as it is. */
  readonly content?: FleetFolderContent;
  /** An error for a fleet that is not the caller's: nothing is written then. By default, every fleet is accepted. */
  readonly accept?: (found: FoundFleet) => Result<void, string>;
  readonly write?: typeof writeRecord;
};

type ClaimOptions = Omit<OpenFolderOptions, "path" | "cluster" | "content" | "accept">;

export async function openFleetFolder(options: OpenFolderOptions): Promise<Result<OpenFolder, string>> {
  const folder = fleetFolder(options.path);
  const { accept = () => ok(undefined) } = options;
  const accepted = andThen(findFleet(folder), accept);
  if (!accepted.ok) return accepted;
  const prepared = await prepareFolder(folder);
  if (!prepared.ok) return prepared;
  const claimed = await claimFolder(folder, options);
  if (!claimed.ok) return claimed;
  // another process may have made a fleet before this one had the lock
  const found = andThen(findFleet(folder), (fleet) => map(accept(fleet), () => fleet));
  const opened = andThen(found, (fleet) => openFound(claimed.value, fleet, options));
  if (!opened.ok) claimed.value.close();
  return opened;
}

function openFound(claimed: OpenFolder, found: FoundFleet, options: OpenFolderOptions): Result<OpenFolder, string> {
  const { folder } = claimed;
  const { isNew } = found;
  const content = isNew && found.content === "services" ? (options.content ?? "services") : found.content;
  const isRenamed = options.content === "installed" && isEmptyInstallation(found);
  const management = isNew || isRenamed ? options.cluster : found.management;
  const setContent = (next: FleetFolderContent) => writeMarker(folder.path, { content: next, management });
  return andThen(migrateOlderLayout(folder, options.cluster), (migrated) =>
    map(setContent(content), () => ({ ...claimed, migrated, content, management, isNew, setContent })),
  );
}

/** It exists afterwards, and has a marker. */
async function prepareFolder({ path }: FleetFolder): Promise<Result<Marker, string>> {
  const made = createFolder(path, FOLDER_MODE);
  if (!made.ok) return made;
  // it contains the kubeconfig of an administrator
  const info = fromThrowing(() => statSync(path), describeThrown);
  if (info.ok && (info.value.mode & OTHERS_WRITE) !== 0) return err(`every user can write to ${path}; run chmod o-w ${path} first`);
  const others = await otherFilesIn(path);
  if (!others.ok) return others;
  if (others.value.length > 0)
    return err(`${path} contains other files (${listed(others.value)}); choose an empty folder, or one that does not exist`);
  const marker = readMarker(path);
  if (!marker.ok || marker.value.kind !== "absent") return marker;
  const written = writeMarker(path, marker.value);
  // another process that starts at the same time may have written it, and removed the draft of this one
  const again = written.ok ? marker : readMarker(path);
  return again.ok && (written.ok || again.value.kind === "current") ? again : map(written, () => marker.value);
}

/** The lock and the record of a folder that exists. Ends the processes of the record before. */
export async function claimFolder(folder: FleetFolder, options: ClaimOptions): Promise<Result<OpenFolder, string>> {
  const { clock, processes, write = writeRecord } = options;
  const running = await runningUp(folder, processes);
  if (running !== undefined) return err(runsAlready(folder, running.pid));
  const lock = acquireProcessLock({ path: join(folder.path, LOCK), clock, processes });
  if (!lock.ok) {
    const { error } = lock;
    if (error.kind === "locked") return err(runsAlready(folder, error.pid > 0 ? error.pid : readRecord(folder)?.pid));
    return err(`the folder ${folder.path} cannot be written: ${error.message}`);
  }
  const left = readRecord(folder)?.processes ?? [];
  const own = { pid: processes.pid, process: processes.identify(processes.pid) ?? "" };
  // keeps the processes of the killed supervisor, in case that this one is killed before they have ended
  const recorded = write(folder, { ...own, processes: left });
  if (!recorded.ok) {
    lock.value.release();
    return recorded;
  }
  const { ended, running: stuck } = await endLeftovers(left, options);
  removeStale(folder);
  if (stuck.length > 0) {
    lock.value.release(); // the record stays, for the next attempt
    return err(`processes of an earlier lattice up still run: ${stuck.map(({ pid }) => pid).join(", ")}; end them first`);
  }
  return ok(openFolder(folder, { lock: lock.value, own, options, ended }));
}

function runsAlready({ path }: FleetFolder, pid: number | undefined): string {
  return `lattice up runs in ${path} already${pid === undefined ? "" : ` (process ${pid})`}; lattice down stops it`;
}

type Held = {
  readonly lock: ProcessLock;
  readonly own: Pick<UpRecord, "pid" | "process">;
  readonly options: ClaimOptions;
  readonly ended: readonly FleetProcess[];
};

function openFolder(folder: FleetFolder, { lock, own, options, ended }: Held): OpenFolder {
  const { processes: table, write = writeRecord } = options;
  let last: readonly FleetProcess[] = [];
  const close = () => {
    removeRecord(folder);
    lock.release();
  };
  return {
    folder,
    ended,
    migrated: false,
    content: "services",
    management: "",
    setContent: () => ok(undefined),
    isNew: false,
    record: ({ socket, processes }) => {
      last = processes;
      return write(folder, { ...own, socket, processes });
    },
    close,
    abandon: () => {
      for (const { pid, identity } of last) if (table.identify(pid) === identity) table.signal(pid, "SIGKILL");
      removeStale(folder);
      close();
    },
  };
}

/** What processes that were killed left: drafts of files, and the control socket. The caller has the lock. */
function removeStale({ path }: FleetFolder): void {
  const names = fromThrowing(() => readdirSync(path), describeThrown);
  for (const name of names.ok ? names.value.filter(isDraft) : [])
    fromThrowing(() => rmSync(join(path, name), { recursive: true, force: true }), describeThrown);
  const socket = join(path, SOCKET);
  fromThrowing(() => {
    if (lstatSync(socket).isSocket()) rmSync(socket);
  }, describeThrown);
}
