/** One machine of the fleet, in the supervisor: keeps its process running until its commands have succeeded. */
import { equalInConstantTime, err, ok, type Clock, type Logger, type Result } from "#base";
import type { LatticeProgram } from "../fleet-types.ts";
import type { MachineReport } from "../messages/messages.ts";
import { LastLine } from "../processes/last-line.ts";
import { ManagedProcess, type ProcessOutput } from "../processes/managed-process.ts";
import { RotatingLog } from "../processes/rotating-log.ts";
import type { SpawnProcess } from "../processes/spawn.ts";
import { machineEnvironment } from "./machine-environment.ts";
import { deleteMachine, isCompleted, readUserData, writeMachine, type MachinePaths, type MachineRecord } from "./machine-folder.ts";

export type MachineKeeperOptions = {
  readonly record: MachineRecord;
  readonly paths: MachinePaths;
  readonly program: LatticeProgram;
  readonly env: Readonly<Record<string, string>>;
  /** Of the supervisor: kubeadm asks there for the API server. */
  readonly socket: string;
  /** Identifies the machine at the socket. */
  readonly token: string;
  readonly spawn: SpawnProcess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange: () => void;
};

const GRACE_MS = 2_000;

export class MachineKeeper {
  readonly #options: MachineKeeperOptions;
  readonly #process: ManagedProcess;
  readonly #log: RotatingLog;
  /** Of the current run, or of the last one. */
  #line = new LastLine();
  /** Of the run that failed. */
  #failedLine: LastLine | undefined;
  #record: MachineRecord;
  #completed: boolean;
  #stopped = true;
  /** Why the last run failed, until a Node is registered. */
  #failure: string | undefined;

  constructor(options: MachineKeeperOptions) {
    const { record, paths, program, env, socket, token, spawn, clock, logger } = options;
    this.#options = options;
    this.#record = record;
    this.#completed = isCompleted(paths);
    this.#log = new RotatingLog({ path: paths.log, logger });
    const args = [...program.args, "__fleet-machine", "--folder", paths.folder, "--name", record.name];
    this.#process = new ManagedProcess({
      spec: { command: program.node, args, env: machineEnvironment(env, { folder: paths.folder, socket, token }), cwd: paths.folder },
      openOutput: () => this.#openOutput(),
      spawn,
      clock,
      onChange: () => this.#changed(),
      onMessage() {},
    });
  }

  get record(): MachineRecord {
    return this.#record;
  }

  get token(): string {
    return this.#options.token;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  start(): void {
    this.#stopped = false;
    if (!this.#completed) this.#process.start();
    this.#options.onChange();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#process.stop(GRACE_MS);
    this.#options.onChange();
  }

  /** Its object is another one now, perhaps in another cluster: a Cluster API object that was moved has a new uid. */
  adopt(id: string, owner: string): Result<void, string> {
    return this.#write({ ...this.#record, id, owner });
  }

  /** Whether it was made from this data, which contains keys that only its owners have. */
  hasBootstrapData(data: string): boolean {
    const own = readUserData(this.#options.paths);
    return own.ok && equalInConstantTime(own.value, data);
  }

  /** kubeadm has registered its Node. */
  registered(nodeName: string): Result<void, string> {
    this.#failure = undefined;
    this.#failedLine = undefined;
    return this.#write({ ...this.#record, nodeName });
  }

  /** Its deletion is continued after a restart. */
  markRemoved(): Result<void, string> {
    return this.#write({ ...this.#record, removed: true });
  }

  async delete(): Promise<Result<void, string>> {
    await this.#process.stop(0);
    this.#log.close();
    const deleted = await deleteMachine(this.#options.paths);
    // a process that was killed may have written at the same time
    return deleted.ok ? deleted : deleteMachine(this.#options.paths);
  }

  report(): MachineReport {
    const { id, nodeName } = this.#record;
    const known = nodeName === undefined ? { id } : { id, nodeName };
    const { cluster } = this.#record;
    // never "stopped", which stands for a machine that was removed: this one is removed by its owner only
    if (this.#stopped) return { ...known, phase: "starting", message: `cluster ${cluster} is stopped; lattice start ${cluster} starts it` };
    if (this.#completed) return { ...known, phase: "running" };
    const failure = this.#failure === undefined ? {} : { message: this.#failure };
    if (nodeName !== undefined) return { ...known, phase: "running", ...failure };
    return { ...known, phase: this.#failure === undefined ? "starting" : "failed", ...failure };
  }

  #write(record: MachineRecord): Result<void, string> {
    const written = writeMachine(this.#options.paths, record);
    if (!written.ok) return err(written.error);
    this.#record = record;
    this.#options.onChange();
    return ok(undefined);
  }

  #changed(): void {
    const { phase, last } = this.#process.run;
    if (phase === "waiting") {
      this.#completed = isCompleted(this.#options.paths);
      if (this.#completed) void this.#process.stop(0);
      this.#failedLine = this.#completed ? undefined : this.#line;
      this.#failure = this.#completed
        ? undefined
        : (this.#process.problem ?? this.#line.text ?? `its commands ended with exit code ${last?.exitCode ?? "unknown"}`);
    }
    this.#options.onChange();
  }

  /** The end of the output may come after the end of the process. */
  #openOutput(): ProcessOutput {
    const line = new LastLine();
    this.#line = line;
    return {
      write: (_, chunk) => {
        this.#log.write(chunk);
        line.write(chunk);
      },
      close: () => {
        this.#log.close();
        if (this.#failedLine !== line || line.text === undefined || line.text === this.#failure) return;
        this.#failure = line.text;
        this.#options.onChange();
      },
    };
  }
}
