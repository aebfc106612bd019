/**
 * Runs a credential plugin, as a port. The environment is an argument; that of this process is not inherited.
 *
 * Its standard output is treated as a secret; its standard error is shown to the user.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { describeThrown, fromThrowing, sensitive, type Sensitive } from "#base";

export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether it may read from the terminal. */
  readonly interactive: boolean;
};

export type CommandOutcome =
  | { readonly kind: "exited"; readonly code: number | undefined; readonly stdout: Sensitive<string>; readonly stderr: string }
  | { readonly kind: "not-found" }
  | { readonly kind: "failed"; readonly message: string };

export type RunCommand = (command: Command, signal: AbortSignal) => Promise<CommandOutcome>;

const MAX_OUTPUT = 1024 * 1024;

export const runCommand: RunCommand = (command, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: "failed", message: "it was stopped" });
    const started = fromThrowing(() => start(command), describeThrown);
    if (!started.ok) return resolve({ kind: "failed", message: started.error });
    const child = started.value;
    const stdout = collect(child.stdout, () => settle({ kind: "failed", message: "it printed more than 1 MiB" }));
    const stderr = collect(child.stderr, () => settle({ kind: "failed", message: "it printed more than 1 MiB" }));
    const onAbort = () => settle({ kind: "failed", message: "it was stopped" });
    const settle = (outcome: CommandOutcome) => {
      signal.removeEventListener("abort", onAbort);
      end(child, !command.interactive);
      resolve(outcome);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    child.once("error", (thrown) =>
      settle(isMissing(thrown) ? { kind: "not-found" } : { kind: "failed", message: describeThrown(thrown) }),
    );
    child.once("close", (code) => settle({ kind: "exited", code: code ?? undefined, stdout: sensitive(stdout()), stderr: stderr() }));
  });

type Running = ChildProcessByStdio<null, Readable, Readable>;

/** In its own process group, so that its children end with it; except with a terminal, which another group cannot read. */
function start({ command, args, env, interactive }: Command): Running {
  return interactive
    ? spawn(command, [...args], { env, stdio: ["inherit", "pipe", "pipe"] })
    : spawn(command, [...args], { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
}

/** The pipes are closed too: children of the command may keep them open for ever. */
function end(child: Running, wholeGroup: boolean): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    // false: it has already ended
    fromThrowing(
      () => process.kill(wholeGroup ? -Number(child.pid) : Number(child.pid), "SIGKILL"),
      () => false,
    );
  }
  child.stdout.destroy();
  child.stderr.destroy();
}

function collect(stream: Readable, onTooMuch: () => void): () => string {
  const pieces: Buffer[] = [];
  let size = 0;
  stream.on("data", (piece: Buffer) => {
    size += piece.byteLength;
    if (size > MAX_OUTPUT) return onTooMuch();
    pieces.push(piece);
  });
  return () => Buffer.concat(pieces).toString("utf8");
}

function isMissing(thrown: Error): boolean {
  return "code" in thrown && thrown.code === "ENOENT";
}
