/**
 * A cluster with the simulator of Cluster API, a child cluster in the same process, and a host of local machines that creates the Nodes of its
 * machines in the child. The clock is fake; the controllers can be stopped after any write and started anew.
 */
import { createLogger, expectOk, FakeClock, type Clock, ok, seededRandom, type Result } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, keyText, nodes, parseYaml, type Json, type KubeObject, type ObjectKey } from "#kube";
import { failure, type KubeClient, type KubeError } from "#kube-client";
import {
  startKubeControllers,
  type LocalMachineHost,
  type LocalMachineRun,
  type LocalMachineState,
  type RunningKubeControllers,
} from "#kube-controllers";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { capiController } from "./capi-controller.ts";
import { garbageCollector } from "../gc/garbage-collector.ts";

export type CapiTestObject = KubeObject & { readonly spec?: Json; readonly status?: Json };
const START_MS = 1_000;

/** Machines that take a second to start; each registers a Node in the child. */
export class FakeMachineHost implements LocalMachineHost {
  readonly runs = new Map<string, LocalMachineRun>();
  /** Every machine that was ever started, by name. */
  readonly started: LocalMachineRun[] = [];
  readonly #states = new Map<string, LocalMachineState>();
  readonly #listeners = new Set<(id: string) => void>();
  readonly #clock: Clock;
  readonly #child: () => KubeClient;
  /** Machines whose name matches fail to start. */
  failing: RegExp | undefined;
  /** Machines whose name matches start, but register no Node. */
  silent: RegExp | undefined;

  constructor(clock: Clock, child: () => KubeClient) {
    this.#clock = clock;
    this.#child = child;
  }

  ensure = (run: LocalMachineRun): void => {
    if (this.runs.has(run.id)) return;
    this.runs.set(run.id, run);
    this.started.push(run);
    this.#set(run.id, { phase: "starting" });
    this.#clock.after(START_MS, () => void this.#boot(run));
  };

  remove = (id: string): void => {
    this.runs.delete(id);
    this.#states.delete(id);
    for (const listener of this.#listeners) listener(id);
  };

  states = (): ReadonlyMap<string, LocalMachineState> => this.#states;

  subscribe = (listener: (id: string) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(id: string, state: LocalMachineState): void {
    this.#states.set(id, state);
    for (const listener of this.#listeners) listener(id);
  }

  async #boot(run: LocalMachineRun): Promise<void> {
    if (!this.runs.has(run.id)) return;
    if (this.failing?.test(run.name) === true) return this.#set(run.id, { phase: "failed", message: "kubeadm exited with 1" });
    if (this.silent?.test(run.name) !== true) await this.#register(run);
    this.#set(run.id, { phase: "running", nodeName: run.name });
  }

  async #register(run: LocalMachineRun): Promise<void> {
    const client = this.#child();
    if (run.bootstrapData.includes("kubeadm init")) {
      const metadata = { name: "kubeadm-config", namespace: "kube-system" };
      await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} });
    }
    const lastTransitionTime = new Date(this.#clock.now()).toISOString();
    const condition = (type: string, status: string) => ({
      type,
      status,
      reason: "Test",
      message: "",
      lastTransitionTime,
      lastHeartbeatTime: lastTransitionTime,
    });
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: run.name },
      spec: { providerID: `local:///${run.namespace}/${run.name}` },
      status: {
        nodeInfo: { kubeletVersion: run.version },
        conditions: [
          condition("Ready", "True"),
          ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False")),
        ],
      },
    } as unknown as KubeObject;
    const created = await client.create(nodes, node);
    if (created.ok) await client.update(nodes, { ...node, metadata: created.value.metadata }, { subresource: "status" });
  }
}

export type CapiWorldOptions = {
  readonly host?: "none";
  readonly providers?: readonly ("local" | "docker")[];
};

export class CapiWorld {
  readonly clock = new FakeClock();
  readonly parent: EmbeddedCluster;
  readonly child: EmbeddedCluster;
  readonly host: FakeMachineHost;
  readonly lines: string[] = [];
  /** Accepted writes of the controllers: "DELETE machines/c1/a". */
  readonly writes: string[] = [];
  readonly #options: CapiWorldOptions;
  #running: RunningKubeControllers | undefined;
  #childDown = new AbortController();
  readonly #ending = new AbortController();
  #isChildUp = true;
  /** The controllers lose the API server after this many writes. */
  #writesLeft = Number.POSITIVE_INFINITY;
  #random = seededRandom(7);

  private constructor(
    clusters: { readonly parent: EmbeddedCluster; readonly child: EmbeddedCluster },
    clock: FakeClock,
    options: CapiWorldOptions,
  ) {
    this.clock = clock;
    this.parent = clusters.parent;
    this.child = clusters.child;
    this.#options = options;
    this.host = new FakeMachineHost(clock, () => this.child.client);
  }

  static async start(options: CapiWorldOptions = {}): Promise<CapiWorld> {
    const clock = new FakeClock();
    const { providers = ["local", "docker"] } = options;
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } };
    const inventory = providers.flatMap((provider) => providerInventory(provider));
    const unique = new Map(inventory.map((object) => [`${object.kind} ${keyText(object.metadata)}`, object]));
    const parent = await startEmbeddedCluster({ clock, objects: [...reducedCapiCrds(), namespace, ...unique.values()] });
    const child = await startEmbeddedCluster({ clock, seed: 2 });
    const world = new CapiWorld({ parent, child }, clock, options);
    await world.begin();
    return world;
  }

  /** Starts the controllers. `afterWrites`: they lose the API server after so many writes, as in a crash. */
  async begin(afterWrites = Number.POSITIVE_INFINITY): Promise<void> {
    this.#writesLeft = afterWrites;
    const logger = createLogger((level, message, fields) => void this.lines.push(`${level} ${message} ${JSON.stringify(fields)}`));
    const localMachines = this.#options.host === "none" ? undefined : this.host;
    const openChild = () => Promise.resolve(ok(this.#childClient()));
    const controllers = [garbageCollector, capiController({ localMachines, openChild })];
    const client = this.#counting(this.parent.clientFor({ name: "controllers", groups: ["system:masters"] }));
    this.#running = expectOk(await startKubeControllers({ client, clock: this.clock, random: this.#random, logger, controllers }));
  }

  /** True after `begin(afterWrites)`: no write succeeds any more. */
  get isCrashed(): boolean {
    return this.#writesLeft <= 0;
  }

  async stop(): Promise<void> {
    await this.#running?.close();
    this.#running = undefined;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.stop();
    await Promise.all([this.parent.close(), this.child.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Advances the clock in steps and lets everything settle in between. */
  async live(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(stepMs);
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    if (this.isCrashed) {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return;
    }
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await this.#running?.idle();
  }

  /** Lives until the condition holds. */
  async until(holds: () => Promise<boolean> | boolean, ms = 120_000): Promise<void> {
    for (let passed = 0; passed <= ms; passed += 500) {
      if (await holds()) return;
      await this.live(500);
    }
    throw new Error(
      `not reached in ${ms} ms:\n${await this.summary()}\n${this.lines
        .filter((line) => !line.startsWith("debug"))
        .slice(-10)
        .join("\n")}`,
    );
  }

  childUp(up: boolean): void {
    this.#isChildUp = up;
    if (!up) this.#childDown.abort();
    else this.#childDown = new AbortController();
  }

  async apply(yaml: string): Promise<void> {
    const documents = expectOk(parseYaml(yaml)) as unknown as readonly CapiTestObject[];
    for (const document of documents) {
      expectOk(
        await this.parent.client.apply(this.parent.resource(document.kind, document.apiVersion), document, {
          fieldManager: "test",
          force: true,
        }),
      );
    }
  }

  async giveKubeconfig(cluster = "c1"): Promise<void> {
    const metadata = { name: `${cluster}-kubeconfig`, namespace: cluster, labels: { "cluster.x-k8s.io/cluster-name": cluster } };
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata,
      type: "Opaque",
      data: { value: Buffer.from("in process").toString("base64") },
    };
    await this.parent.add(secret);
  }

  async all(kind: string, namespace = "c1"): Promise<readonly CapiTestObject[]> {
    return expectOk(await this.parent.client.list<CapiTestObject>(this.parent.resource(kind), { namespace })).items;
  }

  async read(kind: string, name: string): Promise<CapiTestObject> {
    return expectOk(await this.parent.client.get<CapiTestObject>(this.parent.resource(kind), { namespace: "c1", name }));
  }

  async exists(kind: string, name: string): Promise<boolean> {
    return (await this.parent.client.get(this.parent.resource(kind), { namespace: "c1", name })).ok;
  }

  async patch(kind: string, name: string, patch: Json): Promise<void> {
    expectOk(await this.parent.client.patch(this.parent.resource(kind), { namespace: "c1", name }, { type: "merge", patch }));
  }

  async delete(kind: string, name: string): Promise<void> {
    expectOk(await this.parent.client.delete(this.parent.resource(kind), { namespace: "c1", name }));
  }

  async nodeNames(): Promise<readonly string[]> {
    return expectOk(await this.child.client.list(nodes))
      .items.map(({ metadata }) => metadata.name)
      .toSorted();
  }

  /** Calls back with every version of every object of the kind, until the world ends. */
  observe(kind: string, seen: (object: CapiTestObject) => void): void {
    const resource = this.parent.resource(kind);
    const watch = async () => {
      for await (const event of this.parent.client.watch<CapiTestObject>(resource, { namespace: "c1" }, this.#ending.signal)) {
        if (event.ok && event.value.type !== "BOOKMARK") seen(event.value.object);
      }
    };
    void watch();
  }

  /** As a move with clusterctl leaves objects: without their status. */
  async loseStatus(kind: string): Promise<void> {
    for (const object of await this.all(kind)) {
      expectOk(
        await this.parent.client.update<CapiTestObject>(this.parent.resource(kind), { ...object, status: {} }, { subresource: "status" }),
      );
    }
  }

  async summary(): Promise<string> {
    const lines: string[] = [];
    for (const kind of ["Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "Machine", "KubeadmConfig", "LocalMachine"]) {
      for (const object of await this.all(kind)) lines.push(`${kind} ${object.metadata.name}: ${JSON.stringify(object.status)}`);
    }
    return lines.join("\n");
  }

  #childClient(): KubeClient {
    const client = this.child.clientFor({ name: "parent", groups: ["system:masters"] });
    const down = <T>(): Promise<Result<T, KubeError>> => Promise.resolve(failure("unavailable", "the child cannot be reached"));
    const isUp = () => this.#isChildUp;
    const signalOf = (signal: AbortSignal) => AbortSignal.any([signal, this.#childDown.signal]);
    return {
      get: (...args) => (isUp() ? client.get(...args) : down()),
      list: (...args) => (isUp() ? client.list(...args) : down()),
      create: (...args) => (isUp() ? client.create(...args) : down()),
      update: (...args) => (isUp() ? client.update(...args) : down()),
      apply: (...args) => (isUp() ? client.apply(...args) : down()),
      patch: (...args) => (isUp() ? client.patch(...args) : down()),
      delete: (...args) => (isUp() ? client.delete(...args) : down()),
      deleteCollection: (...args) => (isUp() ? client.deleteCollection(...args) : down()),
      raw: (...args) => (isUp() ? client.raw(...args) : down()),
      watch: (resource, query, signal, onOpen) => client.watch(resource, query, signalOf(signal), onOpen),
      close: () => Promise.resolve(),
    };
  }

  #counting(client: KubeClient): KubeClient {
    const counted = async <T>(label: string, key: ObjectKey, call: () => Promise<Result<T, KubeError>>): Promise<Result<T, KubeError>> => {
      if (label === "POST events") return call();
      if (this.#writesLeft <= 0) return failure("unavailable", "crashed");
      const result = await call();
      if (result.ok) {
        this.#writesLeft -= 1;
        this.writes.push(`${label}/${keyText(key)}`);
      }
      return result;
    };
    return {
      ...client,
      get: (...args) => client.get(...args),
      list: (...args) => client.list(...args),
      raw: (...args) => client.raw(...args),
      watch: (...args) => client.watch(...args),
      close: () => client.close(),
      deleteCollection: (...args) => client.deleteCollection(...args),
      create: (resource, object, options) =>
        counted(`POST ${resource.plural}`, object.metadata, () => client.create(resource, object, options)),
      update: (resource, object, options) =>
        counted(`PUT ${resource.plural}`, object.metadata, () => client.update(resource, object, options)),
      apply: (resource, object, options) =>
        counted(`APPLY ${resource.plural}`, object.metadata, () => client.apply(resource, object, options)),
      patch: (resource, key, body, options) => counted(`PATCH ${resource.plural}`, key, () => client.patch(resource, key, body, options)),
      delete: (resource, key, options) => counted(`DELETE ${resource.plural}`, key, () => client.delete(resource, key, options)),
    };
  }
}
