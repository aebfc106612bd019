/** The process of one Pod: kept running by the supervisor, reported to the API server of its cluster. */
import type { Clock, Logger } from "#base";
import { ContainerLogWriter } from "#kube-controllers";
import type { LatticeProgram, OperatorProcess } from "../fleet-types.ts";
import { parseFromOperator, type PodProcessReport, type PodProcessRequest } from "../messages/messages.ts";
import { ManagedProcess, type ProcessOutput } from "../processes/managed-process.ts";
import type { SpawnProcess } from "../processes/spawn.ts";
import { isLoopbackUrl, ReadinessProbe } from "./readiness.ts";

export type PodProcessKeeperOptions = {
  readonly request: PodProcessRequest;
  readonly program: LatticeProgram;
  /** Before the Pod's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly spawn: SpawnProcess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange: () => void;
};

export class PodProcessKeeper {
  readonly #options: PodProcessKeeperOptions;
  readonly #process: ManagedProcess;
  #readiness: ReadinessProbe | undefined;
  #health: string | undefined;
  /** Which start this is: the number of its log. */
  #number = 0;

  constructor(options: PodProcessKeeperOptions) {
    this.#options = options;
    const { request, program, env, spawn, clock, onChange } = options;
    this.#process = new ManagedProcess({
      spec: { command: program.node, args: [...program.args, ...request.args], env: { ...env, ...request.env }, cwd: request.cwd },
      openOutput: (restarts) => this.#openOutput(restarts),
      spawn,
      clock,
      onChange: () => {
        if (this.#process.run.phase !== "running") this.#endReadiness();
        onChange();
      },
      onMessage: (message) => this.#receive(message),
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get phase(): PodProcessReport["phase"] {
    return this.#process.run.phase;
  }

  start(): void {
    this.#process.start();
  }

  async stop(graceMs: number): Promise<void> {
    await this.#process.stop(graceMs);
    this.#endReadiness();
  }

  report(): PodProcessReport {
    const { request } = this.#options;
    const { uid, pod, container, folder } = request;
    const { phase, started, delayMs, last } = this.#process.run;
    const { pid, problem } = this.#process;
    return {
      uid,
      pod,
      container,
      folder,
      phase,
      pid,
      startedAt: started?.at,
      delayMs,
      problem,
      last,
      restarts: this.#number,
      ready: this.#isReady,
    };
  }

  view(): OperatorProcess {
    return { pod: this.#options.request.pod, pid: this.pid, ready: this.#isReady, health: this.#health };
  }

  get #isReady(): boolean {
    return this.#readiness?.ready ?? false;
  }

  #receive(raw: unknown): void {
    const message = parseFromOperator(raw);
    if (!message.ok || !isLoopbackUrl(message.value.health)) return;
    const { clock, onChange } = this.#options;
    this.#endReadiness();
    this.#health = message.value.health;
    this.#readiness = new ReadinessProbe({ health: this.#health, clock, onChange: () => onChange() });
    onChange();
  }

  #endReadiness(): void {
    this.#readiness?.close();
    this.#readiness = undefined;
    this.#health = undefined;
  }

  /** The numbers of logs count starts also across supervisors. */
  #openOutput(restarts: number): ProcessOutput {
    const { request, clock, logger } = this.#options;
    const opened = ContainerLogWriter.next({ folder: request.folder, clock });
    this.#number = opened.ok ? opened.value.number : Math.max(this.#number, restarts);
    let failed = !opened.ok;
    if (!opened.ok) logger.warn("the log of a process is lost", { reason: opened.error });
    return {
      write: (stream, chunk) => {
        const written = opened.ok ? opened.value.write(stream, chunk) : undefined;
        if (written?.ok === false && !failed)
          logger.warn("the log of a process cannot be written; its lines are lost", { reason: written.error });
        failed = written?.ok === false;
      },
      close: () => void (opened.ok ? opened.value.close() : undefined),
    };
  }
}
