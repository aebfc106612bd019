/**
 * A real control plane (etcd, kube-apiserver, kube-controller-manager) as processes on loopback.
 *
 * `realPlane` resolves when the controller manager works (the first ServiceAccount exists): before that, a Pod or a
 * finalizer in a story would be a race.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { err, ok, sensitive, type Result } from "#base";
import { accessTo, logTail, type PlaneAccess, type PlaneData } from "./access.ts";
import { apiServer, controllerManager, etcd, etcdHealthUrl, urlOf, type Component, type Place, type Ports } from "./components.ts";
import { writeCredentials } from "./credentials.ts";
import { findFreePorts } from "./free-ports.ts";
import { send } from "./http.ts";
import { ProcessGroup } from "./process-group.ts";

export type PlaneOptions = {
  /** Folder with etcd, kube-apiserver, kube-controller-manager, kubectl. Without it: `LATTICE_KUBE_BIN`, which `npm run test:kube` sets. */
  readonly binaries?: string | undefined;
  /** Folder for the logs, kept after `stop`. Without it: inside the plane's own folder, which is removed. */
  readonly logs?: string | undefined;
  /** Parent folder of the plane's own folder. Without it: the system's folder for temporary files. */
  readonly under?: string | undefined;
  /** Time limit for each component to respond. */
  readonly startLimitMs?: number;
  /** "absent": only the story changes objects; not even ServiceAccounts are created. */
  readonly controllerManager?: "absent" | undefined;
};

export type RealPlane = PlaneAccess & {
  /** The part that can be sent to another thread. */
  readonly data: PlaneData;
  /** Process ids of the three components. */
  processIds(): readonly number[];
  /** Ends the API server and starts it again on the same port and the same etcd; resolves when it responds. */
  restartApiServer(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Resolves when every process has ended and the folder is removed. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type PlaneError = { readonly kind: "no-binaries" | "port-taken" | "not-started"; readonly message: string };

const START_LIMIT_MS = 120_000;
/** Less than the minute that a server with open watches takes to drain: acknowledged writes are in etcd, and the rest may fail. */
const STOP_GRACE_MS = 2_000;
const TRIES = 3;

export async function realPlane(options: PlaneOptions = {}): Promise<RealPlane> {
  const started = await startPlane(options);
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

/** The same for callers that handle the error. */
export async function startPlane(options: PlaneOptions = {}): Promise<Result<RealPlane, PlaneError>> {
  const binaries = options.binaries ?? process.env["LATTICE_KUBE_BIN"];
  if (binaries === undefined) {
    return err({
      kind: "no-binaries",
      message: "no Kubernetes binaries: run `npm run test:kube`, or set LATTICE_KUBE_BIN to their folder",
    });
  }
  for (let tries = 1; ; tries++) {
    const started = await tryToStart(binaries, options);
    if (started.ok || started.error.kind !== "port-taken" || tries === TRIES) return started;
  }
}

async function tryToStart(binaries: string, options: PlaneOptions): Promise<Result<RealPlane, PlaneError>> {
  const found = await findFreePorts(4);
  if (!found.ok) return err({ kind: "not-started", message: found.error });
  const [etcdPort = 0, etcdPeer = 0, apiServerPort = 0, managerPort = 0] = found.value;
  const ports: Ports = { etcd: etcdPort, etcdPeer, apiServer: apiServerPort, controllerManager: managerPort };
  const folder = join(options.under ?? tmpdir(), `lattice-kube-${randomBytes(6).toString("hex")}`);
  const group = await ProcessGroup.open(folder);
  if (!group.ok) return err({ kind: "not-started", message: group.error });
  const place: Place = { binaries, folder, logs: options.logs ?? join(folder, "logs"), ports };
  const plane = new Plane(group.value, place, options.startLimitMs ?? START_LIMIT_MS);
  const started = await plane.start(options.controllerManager !== "absent");
  if (!started.ok) await group.value.close();
  return started;
}

class Plane {
  readonly #group: ProcessGroup;
  readonly #place: Place;
  readonly #limitMs: number;

  constructor(group: ProcessGroup, place: Place, limitMs: number) {
    this.#group = group;
    this.#place = place;
    this.#limitMs = limitMs;
  }

  async start(managed: boolean): Promise<Result<RealPlane, PlaneError>> {
    const { folder, logs, ports, binaries } = this.#place;
    mkdirSync(logs, { recursive: true });
    const url = urlOf(ports);
    const data: PlaneData = { url, folder, logs, binaries, ...writeCredentials(folder, url) };
    const steps = [
      () => this.#startComponent("etcd", () => answers(etcdHealthUrl(ports))),
      () => this.#startComponent("kube-apiserver", () => isReady(data)),
      ...(managed ? [() => this.#startComponent("kube-controller-manager", () => hasDefaultServiceAccount(data))] : []),
    ];
    for (const step of steps) {
      const done = await step();
      if (!done.ok) return done;
    }
    return ok(this.#handle(data));
  }

  #handle(data: PlaneData): RealPlane {
    const stop = () => this.#group.close();
    return {
      ...accessTo(data),
      data,
      processIds: () => [...this.#group.pids.values()],
      restartApiServer: async (signal = "SIGTERM") => {
        const pid = this.#group.pids.get("kube-apiserver");
        if (signal === "SIGKILL" && pid !== undefined) process.kill(pid, signal);
        await this.#group.stop("kube-apiserver", STOP_GRACE_MS);
        const started = await this.#startComponent("kube-apiserver", () => isReady(data));
        if (!started.ok) throw new Error(started.error.message);
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  }

  async #startComponent(name: Component, isUp: () => Promise<boolean>): Promise<Result<void, PlaneError>> {
    const programs = { etcd, "kube-apiserver": apiServer, "kube-controller-manager": controllerManager };
    await this.#group.start(programs[name](this.#place));
    const deadline = performance.now() + this.#limitMs;
    while (performance.now() < deadline) {
      const ending = this.#group.endingOf(name);
      if (ending !== undefined) return err(this.#failure(name, ending));
      if (await isUp()) return ok(undefined);
      await delay(50);
    }
    return err(this.#failure(name, `did not respond within ${this.#limitMs / 1_000} s`));
  }

  #failure(name: Component, how: string): PlaneError {
    const tail = logTail(this.#place.logs, 20, [name]);
    const kind = /address already in use/i.test(tail) ? "port-taken" : "not-started";
    return { kind, message: `${name} ${how}\n${tail}` };
  }
}

/** A server that is not ready yet refuses the connection. */
async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

async function hasPath(data: PlaneData, path: string): Promise<boolean> {
  try {
    return (await send({ url: data.url, caPem: data.caPem, token: sensitive(data.adminToken) }, { path })).code === 200;
  } catch {
    return false;
  }
}

const isReady = (data: PlaneData) => hasPath(data, "/readyz");
const hasDefaultServiceAccount = (data: PlaneData) => hasPath(data, "/api/v1/namespaces/default/serviceaccounts/default");
