/** Runs a program to its end with text input and output. A non-zero exit code is a result, not an error: stories check it. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly stdin?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly limitMs?: number | undefined;
};

/** The exit code of a shell for a missing program, and that of timeout(1). */
const NOT_STARTED = 127;
const TOO_LONG = 124;

export async function runProgram(path: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { stdin, limitMs = 60_000, ...settings } = options;
  const child = spawn(path, args, { ...settings, stdio: ["pipe", "pipe", "pipe"] });
  let overdue = false;
  const timer = setTimeout(() => (overdue = child.kill("SIGKILL")), limitMs);
  const ended = new Promise<{ code: number; note: string }>((resolve) => {
    child.once("error", (error) => resolve({ code: NOT_STARTED, note: error.message }));
    child.once("close", (code) =>
      resolve(overdue ? { code: TOO_LONG, note: `no end after ${limitMs} ms` } : { code: code ?? 1, note: "" }),
    );
  });
  // a program that ends without reading its input breaks the pipe; its exit code is the result
  child.stdin.on("error", () => {});
  child.stdin.end(stdin ?? "");
  const [{ code, note }, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  clearTimeout(timer);
  return { code, stdout, stderr: note === "" ? stderr : `${stderr}${path}: ${note}\n` };
}
