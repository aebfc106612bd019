/** The laptop fleet as a user has it: `lattice up` without flags, its clusters as clients, and whether every one of them owns itself. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { latticeClusters, type LatticeCluster } from "#crds";
import { capiClusters, configMaps, fieldAt, findCondition, secretsByMetadata, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { MOVE_JOURNAL, MOVE_RECORD, ownershipOf } from "#pivot";
import { clientOf } from "./fleet-client.ts";
import { listedClusters } from "./fleet-process.ts";

export const LAPTOP = ["east", "edge", "mgmt", "west"] as const;
const ANSWER_WITHIN_MS = 2_000;
const LOOK_MS = 250;

/** Clients of all clusters of a folder, by name; a kubeconfig that has changed since is read again. */
export class LaptopClients {
  readonly #folder: string;
  readonly #open = new Map<string, { readonly text: string; readonly client: KubeClient }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async get(name: string): Promise<KubeClient | undefined> {
    const path = join(this.#folder, "clusters", name, "kubeconfig");
    const text = textOf(path);
    if (text === undefined) return undefined;
    const known = this.#open.get(name);
    if (known?.text === text) return known.client;
    await known?.client.close();
    const client = await clientOf(path);
    this.#open.set(name, { text, client });
    return client;
  }

  /** Of a cluster that exists. */
  async need(name: string): Promise<KubeClient> {
    const client = await this.get(name);
    if (client === undefined) throw new Error(`cluster ${name} has no kubeconfig`);
    return client;
  }

  async close(): Promise<void> {
    for (const { client } of this.#open.values()) await client.close();
  }

  /** Its own LatticeCluster; undefined: it does not answer, or has none. */
  async own(name: string): Promise<LatticeCluster | undefined> {
    const found = await (await this.get(name))?.get(latticeClusters, { name }, { timeoutMs: ANSWER_WITHIN_MS });
    return found?.ok === true ? found.value : undefined;
  }

  async ownsItself(name: string): Promise<boolean> {
    const own = await this.own(name);
    return (
      own?.status?.phase === "Ready" && own.status.ownedBy === "self" && findCondition(own.status.conditions, "Ready")?.status === "True"
    );
  }

  /** The Cluster API object of a cluster in the API server of another one, or of itself. */
  async capiCluster(server: string, name: string): Promise<KubeObject | undefined> {
    const key = { namespace: `capi-${name}`, name };
    const found = await (await this.get(server))?.get<KubeObject>(capiClusters, key, { timeoutMs: ANSWER_WITHIN_MS });
    return found?.ok === true ? found.value : undefined;
  }

  /** It has the objects and its controllers act on them. */
  async isActive(server: string, name: string): Promise<boolean> {
    const cluster = await this.capiCluster(server, name);
    return cluster !== undefined && fieldAt(cluster, "spec", "paused") !== true;
  }

  /** By the traces of moves: it was given the objects, and has not begun to move them away. */
  async isOwner(server: string, name: string): Promise<boolean> {
    const client = await this.get(server);
    const options = { timeoutMs: ANSWER_WITHIN_MS };
    const record = await client?.get<KubeObject>(configMaps, { namespace: `capi-${name}`, name: MOVE_RECORD }, options);
    if (record?.ok !== true) return false;
    const journal = await client?.get(secretsByMetadata, { namespace: `capi-${name}`, name: MOVE_JOURNAL }, options);
    if (journal?.ok !== true && journal?.error.kind !== "not-found") return false;
    return ownershipOf({ record: record.value, hasJournal: journal.ok }).state === "owner";
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** All clusters of the laptop fleet own themselves, and no other cluster is there. */
export async function isSettled(folder: string, clients: LaptopClients, names: readonly string[] = LAPTOP): Promise<boolean> {
  return (await unsettledClusters(folder, clients, names)).length === 0;
}

/** Each with the reason. */
export async function unsettledClusters(
  folder: string,
  clients: LaptopClients,
  names: readonly string[] = LAPTOP,
): Promise<readonly string[]> {
  const listed = listedClusters(folder);
  const stopped = listed.filter(({ state }) => state !== "Running").map(({ name, state }) => `${name} is ${state}`);
  const other = listed.filter(({ name }) => !names.includes(name)).map(({ name }) => `${name} is there`);
  const missing = names.filter((wanted) => !listed.some(({ name }) => name === wanted)).map((name) => `${name} is not there`);
  const wrong = [...stopped, ...other, ...missing];
  if (wrong.length > 0) return wrong;
  for (const name of names) {
    if (await clients.ownsItself(name)) continue;
    wrong.push(`${name}: ${JSON.stringify((await clients.own(name))?.status ?? "has no LatticeCluster, or does not answer")}`);
  }
  return wrong;
}

/**
 * Looks for a cluster that two API servers act on or own, until it is stopped: again and again, and at once when a watch shows that a Cluster has changed. An
 * owner never becomes one again by the same move, so that two active servers are proven by looking at the first one before and after the second.
 */
export class OwnerObserver {
  readonly wrong: string[] = [];
  looks = 0;
  /** Changes of Clusters that a watch has shown, each of which was followed by a look. */
  changes = 0;
  readonly #folder: string;
  readonly #clients: LaptopClients;
  readonly #running: Promise<void>;
  readonly #stop = new AbortController();
  /** By server: of the client that is watched with. */
  readonly #watched = new Map<string, KubeClient>();
  readonly #watches = new Set<Promise<void>>();

  constructor(folder: string, clients: LaptopClients) {
    this.#folder = folder;
    this.#clients = clients;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all(this.#watches);
  }

  /** A server that was killed is watched again when it answers. */
  async #watch(server: string): Promise<void> {
    const client = await this.#clients.get(server);
    if (client === undefined || this.#watched.get(server) === client) return;
    this.#watched.set(server, client);
    const watching = this.#changesOf(server, client).finally(() => this.#watches.delete(watching));
    this.#watches.add(watching);
  }

  async #changesOf(server: string, client: KubeClient): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted && this.#watched.get(server) === client) {
      for await (const event of client.watch<KubeObject>(capiClusters, {}, signal)) {
        if (!event.ok || event.value.type === "BOOKMARK") continue;
        this.changes += 1;
        const { name } = event.value.object.metadata;
        const servers = listedClusters(this.#folder).map((listed) => listed.name);
        await this.#look(name, server, servers);
      }
      if (!signal.aborted) await wait(LOOK_MS);
    }
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const servers = listedClusters(this.#folder).map(({ name }) => name);
      for (const server of servers) await this.#watch(server);
      for (const cluster of LAPTOP) for (const first of servers) await this.#look(cluster, first, servers);
      await wait(LOOK_MS);
    }
  }

  async #look(cluster: string, first: string, servers: readonly string[]): Promise<void> {
    this.looks += 1;
    const claims = [
      { what: "act on", holds: (server: string) => this.#clients.isActive(server, cluster) },
      { what: "own", holds: (server: string) => this.#clients.isOwner(server, cluster) },
    ];
    for (const { what, holds } of claims) {
      if (!(await holds(first))) continue;
      for (const second of servers) {
        if (second === first || !(await holds(second))) continue;
        if (await holds(first)) this.wrong.push(`${first} and ${second} both ${what} ${cluster}`);
      }
    }
  }
}
