/**
 * A separate program that owns the processes and the folder of one plane, so that nothing outlives the test that started them.
 *
 * It ends everything when its channel to the test process closes, and the channel closes however that process ends: `stop()`,
 * Ctrl-C, a crash, `kill -9`. No exit handler in the test process could handle the last one.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";

export type Order =
  | { readonly kind: "start"; readonly name: string; readonly program: string; readonly args: readonly string[]; readonly log: string }
  | { readonly kind: "stop"; readonly name: string; readonly graceMs: number };

export type Report =
  | { readonly kind: "ready" }
  | { readonly kind: "started"; readonly name: string; readonly pid: number }
  | { readonly kind: "exited"; readonly name: string; readonly how: string };

const folder = process.argv[2] ?? "";
const running = new Map<string, ChildProcess>();
let ending = false;

process.on("disconnect", end);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
process.on("message", (order: Order) => (order.kind === "start" ? start(order) : stop(order)));
mkdirSync(folder, { mode: 0o700 });
report({ kind: "ready" });

function start({ name, program, args, log }: Extract<Order, { kind: "start" }>): void {
  if (ending) return;
  const output = openSync(log, "a", 0o600);
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", output, output] });
  closeSync(output);
  running.set(name, child);
  child.once("spawn", () => report({ kind: "started", name, pid: child.pid ?? 0 }));
  child.once("error", (error) => exited(name, `could not be started: ${error.message}`));
  child.once("exit", (code, signal) => exited(name, signal === null ? `ended with code ${code}` : `was ended by ${signal}`));
}

function exited(name: string, how: string): void {
  running.delete(name);
  report({ kind: "exited", name, how });
  if (ending && running.size === 0) leave();
}

function stop({ name, graceMs }: Extract<Order, { kind: "stop" }>): void {
  const child = running.get(name);
  if (child === undefined) return report({ kind: "exited", name, how: "was not running" });
  child.kill("SIGTERM");
  const impatient = setTimeout(() => child.kill("SIGKILL"), graceMs);
  child.once("exit", () => clearTimeout(impatient));
}

/** No data is needed any more, so all programs get SIGKILL. */
function end(): void {
  if (ending) return;
  ending = true;
  for (const child of running.values()) child.kill("SIGKILL");
  if (running.size === 0) leave();
}

function leave(): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

/** The test process may have ended already; then the report is dropped. */
function report(message: Report): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
