/**
 * A bootstrap cluster of kind (https://kind.sigs.k8s.io), which goes at the end. `kind get clusters` says whether it exists. A file says that it is being created: one whose
 * creation was interrupted exists, and cannot be used, so that it is deleted and created again.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { andThen, describeThrown, err, fromThrowing, map, ok, sha256Hex, silentLogger, type Result } from "#base";
import { writePrivateFile } from "#pki";
import { connect, type Connection } from "../cluster.ts";
import type { CliIo } from "../io.ts";
import type { BootstrapSource } from "./bootstrap-source.ts";
import { stateFolder } from "./deleted-clusters.ts";
import type { RunProgram } from "./run-program.ts";

/** kind appends "-control-plane", and a host name has at most 63 characters. */
const MOST_NAME = 48;
const READY_WITHIN = "5m";
/** A program that does not answer counts as absent. */
const VERSION_WITHIN_MS = 10_000;

export function kindName(cluster: string): string {
  const name = `lattice-${cluster}`;
  return name.length <= MOST_NAME ? name : `${name.slice(0, MOST_NAME - 9)}-${sha256Hex(name).slice(0, 8)}`;
}

/** Undefined: it can be used. */
export async function kindProblem(run: RunProgram, signal: AbortSignal): Promise<string | undefined> {
  const answer = await run("kind", ["version"], AbortSignal.any([signal, AbortSignal.timeout(VERSION_WITHIN_MS)]));
  if (answer.kind === "not-found") return "there is no program kind on PATH; install it (https://kind.sigs.k8s.io)";
  const failed = failureOf("kind version", answer);
  return failed.ok ? undefined : failed.error;
}

export class KindSource implements BootstrapSource {
  readonly #io: CliIo;
  readonly #run: RunProgram;
  readonly #name: string;
  #connection: Connection | undefined;

  constructor(io: CliIo, cluster: string, run: RunProgram) {
    this.#io = io;
    this.#run = run;
    this.#name = kindName(cluster);
  }

  get kubeconfig(): string {
    return join(stateFolder(this.#io), `${this.#name}.kubeconfig`);
  }

  get #creating(): string {
    return join(stateFolder(this.#io), `${this.#name}.creating`);
  }

  readonly find = async (signal: AbortSignal): Promise<Result<Connection | undefined, string>> => {
    if (existsSync(this.#creating)) return ok(undefined);
    if (this.#connection !== undefined) return ok(this.#connection);
    const exists = await this.#exists(signal);
    if (!exists.ok) return exists;
    // a run that was killed after the deletion has left it
    if (!exists.value) return map(removeFile(this.kubeconfig), () => undefined);
    const text = await this.#kind(["get", "kubeconfig", "--name", this.#name], signal);
    if (!text.ok) return text;
    const written = this.#write(this.kubeconfig, text.value);
    if (!written.ok) return written;
    const connected = await connect(this.#io, { kubeconfig: this.kubeconfig }, { logger: silentLogger });
    if (connected.ok) this.#connection = connected.value;
    return connected;
  };

  readonly create = async (signal: AbortSignal): Promise<Result<void, string>> => {
    const exists = await this.#exists(signal);
    if (!exists.ok) return exists;
    if (exists.value && !existsSync(this.#creating)) return ok(undefined);
    const begun = this.#write(this.#creating, "");
    if (!begun.ok) return begun;
    const cleared = exists.value ? await this.#delete(signal) : ok("");
    if (!cleared.ok) return cleared;
    const flags = ["--name", this.#name, "--kubeconfig", this.kubeconfig, "--wait", READY_WITHIN];
    const created = await this.#kind(["create", "cluster", ...flags], signal);
    return created.ok ? removeFile(this.#creating) : created;
  };

  readonly remove = async (signal: AbortSignal): Promise<Result<void, string>> => {
    await this.close();
    const removed = await this.#delete(signal);
    if (!removed.ok) return removed;
    return andThen(removeFile(this.kubeconfig), () => removeFile(this.#creating));
  };

  /** With a kubeconfig of its own: without it, kind changes the user's. */
  #delete(signal: AbortSignal): Promise<Result<string, string>> {
    return this.#kind(["delete", "cluster", "--name", this.#name, "--kubeconfig", this.kubeconfig], signal);
  }

  async #exists(signal: AbortSignal): Promise<Result<boolean, string>> {
    const listed = await this.#kind(["get", "clusters"], signal);
    return listed.ok ? ok(listed.value.split("\n").some((line) => line.trim() === this.#name)) : listed;
  }

  async #kind(args: readonly string[], signal: AbortSignal): Promise<Result<string, string>> {
    const shown = `kind ${args.slice(0, 2).join(" ")}`;
    return failureOf(shown, await this.#run("kind", args, signal));
  }

  #write(path: string, text: string): Result<void, string> {
    const folder = stateFolder(this.#io);
    const made = fromThrowing(() => mkdirSync(folder, { recursive: true, mode: 0o700 }), describeThrown);
    return andThen(made, () => writePrivateFile(path, text));
  }

  async close(): Promise<void> {
    await this.#connection?.client.close();
    this.#connection = undefined;
  }
}

function failureOf(shown: string, outcome: Awaited<ReturnType<RunProgram>>): Result<string, string> {
  if (outcome.kind === "not-found") return err("there is no program kind on PATH any more");
  if (outcome.kind === "failed") return err(`${shown}: ${outcome.why}`);
  return outcome.code === 0 ? ok(outcome.stdout) : err(`${shown} failed with exit code ${outcome.code}: ${outcome.errors}`);
}

function removeFile(path: string): Result<void, string> {
  return fromThrowing(() => rmSync(path, { force: true }), describeThrown);
}
