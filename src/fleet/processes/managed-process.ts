/** A process that is kept running: starts, restarts and ends it as `process-run.ts` decides. */
import type { Clock } from "#base";
import { newRun, stepRun, type ProcessRun, type RunAction, type RunEvent, type RunTime } from "./process-run.ts";
import { NOT_STARTABLE, type ProcessStream, type ProcessSpec, type SpawnedProcess, type SpawnProcess } from "./spawn.ts";

/** Where the output of one run is written. */
export type ProcessOutput = { readonly write: (stream: ProcessStream, chunk: Uint8Array) => void; readonly close: () => void };

export type ManagedProcessOptions = {
  readonly spec: ProcessSpec;
  /** Called at every start; `restarts`: the number of the run. */
  readonly openOutput: (restarts: number) => ProcessOutput;
  readonly spawn: SpawnProcess;
  readonly clock: Clock;
  /** Restarts before this supervisor. */
  readonly restarts?: number;
  readonly onChange: () => void;
  /** Right after a start: the first messages to the process. */
  readonly onStarted?: () => void;
  readonly onMessage: (message: unknown) => void;
};

export class ManagedProcess {
  readonly #options: ManagedProcessOptions;
  #run: ProcessRun;
  #current: SpawnedProcess | undefined;
  #problem: string | undefined;
  #cancelTimer: () => void = () => {};
  readonly #events: RunEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(options: ManagedProcessOptions) {
    this.#options = options;
    this.#run = newRun(options.restarts ?? 0);
  }

  get run(): ProcessRun {
    return this.#run;
  }

  /** Absent while no process runs. */
  get pid(): number | undefined {
    return this.#current?.pid;
  }

  /** Why the last start failed. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    this.#handle({ kind: "start", time: this.#time() });
  }

  /** False: no process runs that could receive it. */
  send(message: unknown): boolean {
    return this.#current?.send(message) ?? false;
  }

  /** SIGTERM, and SIGKILL after the grace period; 0: SIGKILL at once. Resolves when the process has ended. */
  stop(graceMs: number): Promise<void> {
    this.#handle({ kind: "stop", graceMs, time: this.#time() });
    if (this.#run.phase === "ended") return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #time(): RunTime {
    const { clock } = this.#options;
    return { at: clock.now(), monotonic: clock.monotonic() };
  }

  /** Events that occur during a step are handled after it: a start that fails at once must be seen before its failure. */
  #handle(event: RunEvent): void {
    this.#events.push(event);
    if (this.#events.length > 1) return;
    for (let next = this.#events[0]; next !== undefined; next = this.#events[0]) {
      this.#step(next);
      this.#events.shift();
    }
  }

  #step(event: RunEvent): void {
    const before = this.#run;
    const { run, actions } = stepRun(before, event);
    this.#run = run;
    for (const action of actions) this.#act(action);
    if (run.phase === "ended") this.#resolveStops();
    if (run !== before) this.#options.onChange();
  }

  #act(action: RunAction): void {
    switch (action.kind) {
      case "spawn":
        return this.#spawn();
      case "signal":
        return this.#current?.signal(action.signal);
      case "wait":
        return this.#setTimer(action.ms, () => this.#handle({ kind: "due", time: this.#time() }));
      case "grace":
        return this.#setTimer(action.ms, () => this.#handle({ kind: "grace-over" }));
      case "cancel":
        return this.#cancelTimer();
    }
  }

  #setTimer(ms: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, callback);
  }

  #spawn(): void {
    const { spawn, spec, openOutput, onMessage, onStarted } = this.#options;
    const output = openOutput(this.#run.restarts);
    this.#problem = undefined;
    const started = spawn(spec, {
      onOutput: (stream, chunk) => output.write(stream, chunk),
      onMessage,
      onExit: (exitCode, problem) => this.#exited(exitCode, problem),
      onClosed: () => output.close(),
    });
    if (started.ok) this.#current = started.value;
    if (started.ok) return onStarted?.();
    output.close();
    this.#exited(NOT_STARTABLE, started.error);
  }

  #exited(exitCode: number, problem: string | undefined): void {
    this.#current = undefined;
    this.#problem = problem;
    this.#handle({ kind: "exited", exitCode, time: this.#time() });
  }

  #resolveStops(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
