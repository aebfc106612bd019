/** `lattice operator` as a measured process, on a measured API server that has Lattice's kinds and reduced ones of the mesh. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { latticeKinds } from "#crds";
import { reducedMeshCrds } from "#controllers";
import { fieldAt, type Json, type KubeObject } from "#kube";
import { IN_DOUBT } from "../api-server/exchange.ts";
import { TOKEN } from "../api-server/server-process.ts";
import { startMeasuredApiServer, type MeasuredApiServer } from "./measured-api-server.ts";
import { MeasuredProcess } from "./measured-process.ts";

const POLL_MS = 50;
const MOST_POLLS = 800;

export class MeasuredOperator implements AsyncDisposable {
  readonly server: MeasuredApiServer;
  readonly #kubeconfig: string;
  readonly #flags: readonly string[];
  #process: MeasuredProcess | undefined;

  private constructor(server: MeasuredApiServer, kubeconfig: string, flags: readonly string[]) {
    this.server = server;
    this.#kubeconfig = kubeconfig;
    this.#flags = flags;
  }

  /** The API server alone: a story creates its objects, and starts the operator on them. */
  static async prepare(flags: readonly string[] = []): Promise<MeasuredOperator> {
    const server = await startMeasuredApiServer();
    const kubeconfig = join(server.home, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(server.url), { mode: 0o600 });
    const operator = new MeasuredOperator(server, kubeconfig, flags);
    await operator.create("", "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } });
    const definitions = [...latticeKinds.map(({ crd }) => crd()), ...reducedMeshCrds()];
    for (const crd of definitions) await operator.create("apiextensions.k8s.io/v1", "customresourcedefinitions", crd);
    await operator.until("/apis/lattice.dev/v1alpha1", (body) => Array.isArray(fieldAt(body, "resources")));
    return operator;
  }

  get process(): MeasuredProcess {
    if (this.#process === undefined) throw new Error("the operator was not started");
    return this.#process;
  }

  /** Start-up is part of the attack: hostile objects cost most when they are first read. */
  async start(): Promise<void> {
    const args = ["operator", "--kubeconfig", this.#kubeconfig, "--no-leader-elect", ...this.#flags];
    this.#process = new MeasuredProcess(args);
    await this.process.untilPrinted(/health and metrics at/);
    await this.process.reset();
  }

  async restart(): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await this.start();
  }

  async create(groupVersion: string, plural: string, object: KubeObject): Promise<void> {
    const path = collectionPath(groupVersion, plural, object.metadata.namespace);
    const answer = await this.server.exchange.request({ method: "POST", path, body: object as unknown as Json });
    if (answer === IN_DOUBT || answer.code >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${JSON.stringify(answer)}`);
  }

  async createServices(...services: readonly KubeObject[]): Promise<void> {
    for (const service of services) await this.create("lattice.dev/v1alpha1", "latticeservices", service);
  }

  async get(path: string): Promise<unknown> {
    const answer = await this.server.exchange.request({ method: "GET", path });
    return answer === IN_DOUBT ? undefined : answer.body;
  }

  /** The response once the condition holds; rejects when the operator has ended, and with the last response when there are no retries left. */
  async until(path: string, holds: (body: unknown) => boolean): Promise<unknown> {
    for (let left = MOST_POLLS; ; left -= 1) {
      const body = await this.get(path);
      if (holds(body)) return body;
      if (left === 0) throw new Error(`${path} is not as expected: ${JSON.stringify(body)?.slice(0, 4_000)}`);
      if (this.#process?.alive === false) throw new Error(`the operator ended: ${this.#process.stderr.slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  untilPhase(key: string, phase: string): Promise<unknown> {
    const [namespace = "", name = ""] = key.split("/");
    const path = `/apis/lattice.dev/v1alpha1/namespaces/${namespace}/latticeservices/${name}`;
    return this.until(path, (body) => fieldAt(body, "status", "phase") === phase);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

function collectionPath(groupVersion: string, plural: string, namespace: string | undefined): string {
  const group = groupVersion === "" ? "/api/v1" : `/apis/${groupVersion}`;
  return `${group}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}`;
}

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token: TOKEN } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}
