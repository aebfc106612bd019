/**
 * `lattice move` between two embedded API servers of another process: its time and its largest memory. Linux only, because of /proc.
 *
 * Without a limit the heap of Node grows with what is allocated, not with what is held, so the size of its heap is limited: a move that held more than
 * that would end with an error.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../../scripts/process/project.ts";
import type { MoveServersReply, MoveServersRequest } from "./move-servers-child.ts";

export type MeasuredMove = { readonly objects: number; readonly seconds: number; readonly megabytes: number };

const LOOK_MS = 50;
/** Of long-lived objects. A mover that held the contents of both sides ended with 96 MB at 10,000 objects. */
export const HEAP_MB = 48;
const YOUNG_MB = 4;

export async function measureMove(program: string, machines: number): Promise<MeasuredMove> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-bench-move-"));
  const servers = fork(join(projectRoot, "bench/support/move-servers-child.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  try {
    const { from, to } = await ask(servers, { name: "big", machines, folder });
    return await runMove(["--kubeconfig", from, "--to-kubeconfig", to, "-n", "big"], program);
  } finally {
    servers.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

function ask(servers: ChildProcess, request: MoveServersRequest): Promise<MoveServersReply> {
  return new Promise((resolve, reject) => {
    servers.once("message", (reply) => resolve(reply as MoveServersReply));
    servers.once("exit", (code) => reject(new Error(`the API servers of the bench ended with code ${code}`)));
    servers.send(request);
  });
}

async function runMove(places: readonly string[], program: string): Promise<MeasuredMove> {
  const limits = [`--max-old-space-size=${HEAP_MB}`, `--max-semi-space-size=${YOUNG_MB}`];
  const child = spawn(process.execPath, [...limits, program, "move", ...places, "--lease", "10m", "-o", "json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let [text, kilobytes] = ["", 0];
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const looking = setInterval(() => (kilobytes = Math.max(kilobytes, largestMemory(child.pid ?? 0))), LOOK_MS);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(looking);
  if (code !== 0) throw new Error(`lattice move ended with code ${String(code)}`);
  const { objects, totalMs } = JSON.parse(text) as { readonly objects: number; readonly totalMs: number };
  return { objects, seconds: totalMs / 1_000, megabytes: kilobytes / 1_024 };
}

/** In kB; 0 when the process has ended. */
function largestMemory(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
