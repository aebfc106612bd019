/** Runs a program of this machine to its end, as a port. */
import { spawn } from "node:child_process";
import { describeThrown } from "#base";
import type { CliIo } from "../io.ts";

export type ProgramOutcome =
  | { readonly kind: "ended"; readonly code: number; readonly stdout: string; /** The last lines of its errors. */ readonly errors: string }
  | { readonly kind: "not-found" }
  | { readonly kind: "failed"; readonly why: string };

export type RunProgram = (file: string, args: readonly string[], signal: AbortSignal) => Promise<ProgramOutcome>;

const MAX_OUTPUT = 1024 * 1024;
const MAX_ERRORS = 8 * 1024;
const LAST_LINES = 10;

/** A signal ends it with SIGTERM. */
export const programRunner =
  ({ cwd, env }: Pick<CliIo, "cwd" | "env">): RunProgram =>
  (file, args, signal) =>
    new Promise((resolve) => {
      const child = spawn(file, [...args], { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGTERM" });
      let stdout = "";
      let errors = "";
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString();
        if (stdout.length > MAX_OUTPUT) child.kill("SIGKILL");
      });
      child.stderr.on("data", (chunk: Buffer) => (errors = `${errors}${chunk.toString()}`.slice(-MAX_ERRORS)));
      child.once("error", (thrown: NodeJS.ErrnoException) =>
        resolve(thrown.code === "ENOENT" ? { kind: "not-found" } : { kind: "failed", why: describeThrown(thrown) }),
      );
      child.once("close", (code, killed) =>
        resolve(
          code === null
            ? { kind: "failed", why: `it was ended by ${killed ?? "a signal"}` }
            : { kind: "ended", code, stdout, errors: lastLines(errors) },
        ),
      );
    });

function lastLines(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-LAST_LINES).join("\n");
}
