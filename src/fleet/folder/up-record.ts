/** up.json: which process runs the fleet of a folder, where its control socket is, and which processes it started. */
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describeThrown, fromThrowing, nodeProcesses, UNKNOWN_PROCESS, type ProcessTable, type Result } from "#base";
import { field, parseJson } from "#kube";
import { writePrivateFile } from "#pki";
import type { FleetFolder, FleetProcess } from "../fleet-types.ts";
import { SOCKET } from "./folder-names.ts";

export type UpRecord = {
  readonly pid: number;
  /** The text of `ProcessTable.identify`. */
  readonly process: string;
  /** Absent until the fleet is open, and in records of older versions. */
  readonly socket?: string | undefined;
  readonly processes: readonly FleetProcess[];
};

const MAX_PROCESSES = 10_000;

function parseUpRecord(text: string): UpRecord | undefined {
  const parsed = parseJson(text);
  const value = parsed.ok ? parsed.value : undefined;
  const [pid, process, socket, processes] = [
    field(value, "pid"),
    field(value, "process"),
    field(value, "socket"),
    field(value, "processes"),
  ];
  if (!isPid(pid) || typeof process !== "string") return undefined;
  const list = Array.isArray(processes) ? processes.slice(0, MAX_PROCESSES).flatMap(parseProcess) : [];
  return { pid, process, socket: typeof socket === "string" ? socket : undefined, processes: list };
}

function parseProcess(value: unknown): readonly FleetProcess[] {
  const [pid, identity] = [field(value, "pid"), field(value, "identity")];
  return isPid(pid) && typeof identity === "string" ? [{ pid, identity }] : [];
}

/** Signals to 0, 1 and negative numbers reach other processes than one of the fleet. */
function isPid(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 1;
}

export function readRecord({ record }: Pick<FleetFolder, "record">): UpRecord | undefined {
  const text = fromThrowing(() => readFileSync(record, "utf8"), describeThrown);
  return text.ok ? parseUpRecord(text.value) : undefined;
}

export function writeRecord({ record }: Pick<FleetFolder, "record">, content: UpRecord): Result<void, string> {
  return writePrivateFile(record, `${JSON.stringify(content)}\n`);
}

export function removeRecord({ record }: Pick<FleetFolder, "record">): void {
  fromThrowing(() => rmSync(record, { force: true }), describeThrown); // one that remains names a process that has ended
}

/** The process that runs the fleet now; undefined: none. The record of an ended process is ignored. */
export async function runningUp(
  folder: Pick<FleetFolder, "path" | "record">,
  processes: ProcessTable = nodeProcesses,
): Promise<UpRecord | undefined> {
  const record = readRecord(folder);
  if (record === undefined || processes.identify(record.pid) !== record.process) return undefined;
  // without start times another process may have the number now; only the process of the record listens
  if (record.process === UNKNOWN_PROCESS && !(await listens(join(folder.path, SOCKET)))) return undefined;
  return record;
}

function listens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
