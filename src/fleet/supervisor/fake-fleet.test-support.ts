/** A fleet without processes: a test plays their part. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLogger, FakeClock, ok } from "#base";
import type { ClusterView, FleetCluster, FleetProcess } from "../fleet-types.ts";
import { fleetFolder } from "../folder/layout.ts";
import type { FromApiServer } from "../messages/messages.ts";
import type { ProcessHandlers, ProcessSpec, SpawnProcess } from "../processes/spawn.ts";
import { openFleet } from "./start-fleet.ts";

const never = new AbortController().signal;

/** Processes without processes. They end at SIGTERM. */
export class FakeProcess {
  readonly received: unknown[] = [];
  readonly signals: string[] = [];
  readonly pid: number;
  readonly spec: ProcessSpec;
  readonly handlers: ProcessHandlers;
  alive = true;

  constructor(pid: number, spec: ProcessSpec, handlers: ProcessHandlers) {
    this.pid = pid;
    this.spec = spec;
    this.handlers = handlers;
  }

  send(message: FromApiServer | { kind: "listening"; health: string }): void {
    this.handlers.onMessage(message);
  }

  end(exitCode: number): void {
    if (!this.alive) return;
    this.alive = false;
    this.handlers.onExit(exitCode);
    this.handlers.onClosed();
  }
}

export class FakeFleet {
  readonly path: string;
  readonly clock = new FakeClock();
  readonly lines: string[] = [];
  readonly started: FakeProcess[] = [];
  processes: readonly FleetProcess[] = [];
  socket: string | undefined = "/control.sock";
  ignoresTerm = false;

  constructor(path: string) {
    this.path = path;
  }

  readonly spawn: SpawnProcess = (spec, handlers) => {
    const process = new FakeProcess(1_000_000 + this.started.length, spec, handlers);
    this.started.push(process);
    const signal = (name: string) => {
      process.signals.push(name);
      if (name === "SIGKILL" || !this.ignoresTerm) queueMicrotask(() => process.end(name === "SIGKILL" ? 137 : 0));
    };
    return ok({ pid: process.pid, send: (message) => process.received.push(message) > 0, signal });
  };

  open(clusters: readonly FleetCluster[] = [{ name: "mgmt" }, { name: "cluster-2", parent: "mgmt" }], management?: string) {
    return openFleet(
      {
        folder: fleetFolder(this.path),
        program: { node: "/node", args: ["/lattice.js"] },
        clusters,
        management,
        repair: false,
        clock: this.clock,
        random: () => 0.5,
        logger: createLogger((level, message) => this.lines.push(`${level} ${message}`)),
        env: { HOME: "/home/a", PATH: "/bin", NODE_OPTIONS: "--x" },
        signal: never,
        socket: this.socket,
        onProcesses: (processes) => (this.processes = processes),
      },
      this.spawn,
    );
  }

  living(command: string): readonly FakeProcess[] {
    return this.started.filter(({ alive, spec }) => alive && spec.args.includes(command));
  }

  /** All API servers report that they are ready. */
  ready(): void {
    for (const server of this.living("__fleet-api-server")) {
      const folder = server.spec.cwd;
      writeFileSync(join(folder, "kubeconfig"), `kubeconfig of ${folder}`);
      server.send({ kind: "ready", url: "https://127.0.0.1:1" });
    }
  }

  fleetFile(): { clusters: Partial<ClusterView>[] } {
    return JSON.parse(readFileSync(join(this.path, "fleet.json"), "utf8")) as { clusters: Partial<ClusterView>[] };
  }
}
