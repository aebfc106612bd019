/**
 * The process of a machine: writes the files of its bootstrap data and runs its commands, once. It ends when they have ended.
 *
 * The commands have its process group, so that they can be ended together. The marker of success is written after the last command: the file
 * of Cluster API is written by one of the first.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { describeThrown, err, fromThrowing, map, ok, type Result } from "#base";
import { createFolder } from "#pki";
import type { LatticeProgram } from "../fleet-types.ts";
import { parseCloudConfig, type MachineCloudConfig, type MachineFile } from "./cloud-config.ts";
import { commandEnvironment, PROCESS_VARIABLE } from "./machine-environment.ts";
import { isCompleted, isOwnName, machinePathsAt, readMachine, type MachinePaths } from "./machine-folder.ts";
import { machineScript, shellQuoted } from "./machine-script.ts";
import { reRootPath } from "./re-root.ts";

export type RunMachineOptions = {
  readonly folder: string;
  readonly program: LatticeProgram;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** A line of the log. */
  readonly print: (line: string) => void;
  /** The machine ends: its commands are ended with it. */
  readonly signal: AbortSignal;
};

const FOLDER_MODE = 0o700;
const PROGRAM_MODE = 0o700;
const PROGRAMS = ["kubeadm", "kubectl", "curl"] as const;
const SUCCESS = "/run/cluster-api/bootstrap-success.complete";
const SIGNALLED = 128;

/** The exit code of the commands; one that failed has printed why. */
export async function runMachine(options: RunMachineOptions): Promise<Result<number, string>> {
  const paths = machinePathsAt(options.folder);
  if (isCompleted(paths)) return ok(0);
  const record = readMachine(paths);
  if (!record.ok) return record;
  const text = fromThrowing(() => readFileSync(paths.userData, "utf8"), describeThrown);
  if (!text.ok) return err(`the bootstrap data cannot be read: ${text.error}`);
  const config = parseCloudConfig(text.value, record.value.name);
  if (!config.ok) return config;
  for (const key of config.value.ignored)
    options.print(`${key} of the bootstrap data is ignored: a local machine has only write_files and runcmd`);
  const prepared = prepare(paths, config.value, options.program);
  if (!prepared.ok) return prepared;
  const code = await runScript(paths, options);
  if (options.signal.aborted) return err("the machine was stopped");
  return code === 0 ? map(complete(paths), () => 0) : ok(code);
}

function prepare(paths: MachinePaths, { files, commands }: MachineCloudConfig, program: LatticeProgram): Result<void, string> {
  for (const file of files) {
    const written = writeCloudFile(paths, file);
    if (!written.ok) return written;
  }
  for (const name of PROGRAMS) {
    const written = write(join(paths.programs, name), Buffer.from(programText(program, name)), PROGRAM_MODE);
    if (!written.ok) return written;
  }
  return write(paths.script, Buffer.from(machineScript(commands)), PROGRAM_MODE);
}

/** What is appended is not appended again by another attempt. */
function writeCloudFile({ folder }: MachinePaths, { path, content, mode, append }: MachineFile): Result<void, string> {
  const target = reRootPath(folder, path);
  if (isOwnName(target.slice(folder.length + 1).split("/")[0] ?? ""))
    return err(`write_files: ${path} is reserved for Lattice; use another path`);
  if (!append || !existsSync(target)) return write(target, content, mode);
  const known = fromThrowing(() => readFileSync(target), describeThrown);
  if (!known.ok) return err(`${path} cannot be read: ${known.error}`);
  const isThere = known.value.subarray(Math.max(0, known.value.length - content.length)).equals(content);
  return isThere ? ok(undefined) : write(target, Buffer.concat([known.value, content]), mode);
}

function write(path: string, content: Uint8Array, mode: number): Result<void, string> {
  const made = createFolder(dirname(path), FOLDER_MODE);
  if (!made.ok) return made;
  return fromThrowing(
    () => {
      writeFileSync(path, content, { mode });
      chmodSync(path, mode); // of a file that existed
    },
    (thrown) => `${path} cannot be written: ${describeThrown(thrown)}`,
  );
}

function programText({ node, args }: LatticeProgram, name: string): string {
  return `#!/bin/sh\nexec ${[node, ...args, name, "--"].map(shellQuoted).join(" ")} "$@"\n`;
}

/**
 * The commands must not outlive the process of the machine. The supervisor ends their group after it, and it ends them after the supervisor;
 * when both were killed, only the shell is left to notice it.
 */
const WATCHED = `
(while kill -0 "$${PROCESS_VARIABLE}"; do sleep 1; done; kill -s KILL -- "-$${PROCESS_VARIABLE}") >/dev/null 2>&1 &
watch=$!
/bin/sh "$0"
code=$?
kill "$watch"
exit "$code"
`;

function runScript(paths: MachinePaths, { env, pid, signal }: RunMachineOptions): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", WATCHED, paths.script], {
      cwd: paths.folder,
      env: commandEnvironment(env, pid),
      stdio: ["ignore", "inherit", "inherit"],
    });
    const end = () => void child.kill("SIGKILL");
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    const ended = (code: number) => {
      signal.removeEventListener("abort", end);
      resolve(code);
    };
    child.once("error", () => ended(SIGNALLED - 1));
    child.once("exit", (code, name) => ended(code ?? SIGNALLED + (name === null ? 0 : constants.signals[name])));
  });
}

function complete(paths: MachinePaths): Result<void, string> {
  const success = reRootPath(paths.folder, SUCCESS);
  const marked = existsSync(success) ? ok(undefined) : write(success, Buffer.from("success\n"), 0o640);
  return marked.ok ? write(paths.completed, Buffer.from(""), 0o600) : marked;
}
