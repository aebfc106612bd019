/**
 * Unmodified kubectl on two servers: runs the same command on both, and compares the output after normalizing values that differ between
 * runs and machines (ages, uids, versions, addresses).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually, runProgram, type Ran } from "../harness/index.ts";

export type Command = {
  readonly args: readonly string[];
  readonly stdin?: string;
  /** A command that must succeed on both sides before: controllers need time. */
  readonly after?: readonly string[];
  /** Why the output of the embedded server may differ; then only the exit code is compared. */
  readonly differs?: string;
  /** Lines of stdout that are ignored on both sides, and why. */
  readonly without?: { readonly lines: RegExp; readonly why: string };
  /** Lines are compared in any order: Go iterates a map. */
  readonly unordered?: boolean;
};

export type Side = { readonly kubeconfig: string; readonly kubectl: string };

/** Runs kubectl in a folder with the files of the commands. */
export class KubectlComparison {
  readonly home: string;
  readonly #namespace: string;

  constructor(namespace: string, files: readonly (readonly [name: string, text: string])[]) {
    this.home = mkdtempSync(join(tmpdir(), "lattice-kubectl-"));
    this.#namespace = namespace;
    for (const [name, text] of files) this.write(name, text);
  }

  write(name: string, text: string): string {
    const file = join(this.home, name);
    writeFileSync(file, text, { mode: 0o700 });
    return file;
  }

  async run(side: Side, args: readonly string[], stdin?: string): Promise<Ran> {
    const env = { PATH: process.env["PATH"], HOME: this.home, KUBECONFIG: side.kubeconfig, KUBE_EDITOR: join(this.home, "editor.sh") };
    const places = args.map((arg) => arg.replaceAll("@/", `${this.home}/`));
    const cache = `--cache-dir=${side.kubeconfig}-cache`;
    return runProgram(side.kubectl, [cache, `--namespace=${this.#namespace}`, ...places], { env, stdin });
  }

  /** Runs the command on both; the outputs must be equal. */
  async compare(command: Command, ours: Side, real: Side): Promise<void> {
    const [here, there] = await Promise.all([this.#on(ours, command), this.#on(real, command)]);
    if (command.differs === undefined) expect(shown(here, command)).toEqual(shown(there, command));
    else expect(here.code).toBe(there.code);
  }

  async #on(side: Side, { args, stdin, after }: Command): Promise<Ran> {
    if (after !== undefined) {
      await eventually(`kubectl ${after.join(" ")}`, async () => ((await this.run(side, after)).code === 0 ? true : undefined));
    }
    return this.run(side, args, stdin);
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

const ONCE: readonly (readonly [RegExp, string])[] = [
  [/apiserver-[a-z2-7]{26}/g, "SERVER"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "TIME"],
  [/(resourceVersion"?: ?)"\d+"/g, "$1VERSION"],
  [/\b10\.0\.0\.\d+\b */g, "ADDRESS "],
  [/127\.0\.0\.1:\d+/g, "HOST"],
  [/\b3[0-2]\d{3}\b/g, "NODEPORT"],
  [/\b\d+(s|m\d+s|ms)\b/g, "AGE"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "TOKEN"],
  [/lattice-kubectl-[^/\s]+|LIVE-\d+|MERGED-\d+|kubectl-edit-\w+/g, "FOLDER"],
  [/-[bcdfghjklmnpqrstvwxz2456789]{7,10}\b/g, "-HASH"], // the hash of a template depends on Go's printed structs
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-RANDOM"],
  [/ {2,}/g, "  "],
];

function shown({ code, stdout, stderr }: Ran, { without, unordered }: Command) {
  const lines = equalised(stdout).filter((line) => without === undefined || !without.lines.test(line));
  return { code, stdout: unordered === true ? lines.toSorted() : lines, stderr: equalised(stderr) };
}

function equalised(text: string): readonly string[] {
  const equal = ONCE.reduce((seen, [pattern, name]) => seen.replaceAll(pattern, name), text);
  return equal.split("\n").map((line) => line.trimEnd());
}
