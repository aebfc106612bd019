/**
 * A Kubernetes cluster in this process: the API for tests.
 *
 * Methods of the cluster throw when the test is wrong (a fixture, a file, a port); its clients never throw, they return Results.
 */
import { text } from "node:stream/consumers";
import { FakeClock, mapErr, type Clock, type Logger } from "#base";
import { keyText, type Json, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeClient, Transport } from "#kube-client";
import type { Simulation } from "#kube-controllers";
import { CLIENT_AUTHORITY, copyJson, inProcessClient, serverTransport, type ApiServer, type User } from "#kube-server";
import { writePrivateFile } from "#pki";
import type { ActionLog } from "./actions/index.ts";
import type { Controllers } from "./controllers.ts";
import { ClusterError, describeProblems, orThrow } from "./cluster-error.ts";
import {
  kubeconfigText,
  openEndpoint,
  withResetPath,
  type Authority,
  type Endpoint,
  type ListenOptions,
  type OpenEndpoint,
} from "./endpoint/index.ts";
import { loadFixtures, readDocuments, unknownKind, type Document } from "./fixtures/index.ts";
import type { ClusterIdentity } from "./identity/index.ts";
import { InitialState } from "./initial-state.ts";
import {
  WatchControl,
  watchInterception,
  type Interception,
  type Interceptor,
  type Interceptors,
  type InterceptMatch,
  type WatchInterception,
} from "./interceptors/index.ts";
import { objectDocuments } from "./object-documents.ts";
import type { ClusterUser, FixtureObject } from "./options.ts";
import { ADMIN, type ClusterUsers, type UserCredential } from "./users.ts";
import { waitFor } from "./wait-for.ts";

/** The parts that `start.ts` creates. */
export type ClusterParts<C extends Clock> = {
  readonly server: ApiServer;
  /** The same server with log and interceptors. */
  readonly intercepted: ApiServer;
  readonly interceptors: Interceptors;
  readonly actions: ActionLog;
  readonly users: ClusterUsers;
  readonly clock: C;
  readonly random: () => number;
  readonly logger: Logger;
  readonly authority: Authority;
  /** Absent without a data folder. */
  readonly identity: ClusterIdentity | undefined;
  readonly listening: { address: string };
};

const WAIT_MS = 5_000;
/** Controllers may still react to objects that a reset has removed; what they create is removed in the next round. */
const RESET_ROUNDS = 10;

/**
 * A running cluster. `close` stops it, and so does `await using`.
 *
 * @example
 * await using cluster = await startEmbeddedCluster();
 * await cluster.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } });
 */
export class EmbeddedCluster<C extends Clock = Clock> implements AsyncDisposable {
  /** The administrator's client. Without sockets and JSON text: it copies values in and out. */
  readonly client: KubeClient;
  readonly clock: C;
  /** Every request so far, oldest first, without those of the cluster's own controllers. */
  readonly actions: ActionLog;
  readonly #parts: ClusterParts<C>;
  readonly #clients = new Map<string, KubeClient>();
  #endpoint: Promise<OpenEndpoint> | undefined;
  #controllers: Controllers | undefined;
  #initial: InitialState | undefined;
  #closed: Promise<void> | undefined;

  constructor(parts: ClusterParts<C>) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.actions = parts.actions;
    this.client = this.clientFor(ADMIN);
  }

  /** A client of another user: one of the `users`, or any `ClusterUser`. Closed with the cluster. */
  clientFor(who: string | ClusterUser): KubeClient {
    const { intercepted, clock, random, logger, interceptors } = this.#parts;
    const user = this.#userOf(who);
    const name = JSON.stringify(user);
    const client =
      this.#clients.get(name) ?? inProcessClient(intercepted, { user, clock, random, logger, mayWait: () => !interceptors.none });
    this.#clients.set(name, client);
    return client;
  }

  /**
   * For a client that the test creates, with its own clock and retries. Requests and responses are encoded as over HTTP, without a socket.
   * `clientFor` is faster and never retries.
   */
  transportFor(who: string | ClusterUser): Transport {
    return serverTransport(this.#parts.intercepted, this.#userOf(who));
  }

  #userOf(who: string | ClusterUser): User {
    return typeof who === "string" ? this.#credential(who).user : this.#parts.users.userNamed(who);
  }

  /** The resource of a kind of the server: `cluster.resource("Widget")`, or with its apiVersion when two groups have one. */
  resource(kind: string, apiVersion?: string): Resource {
    const all = [...this.#parts.server.types.all()];
    const found = all.find(({ resource: { group, version, kind: own } }) => {
      return own === kind && (apiVersion === undefined || (group === "" ? version : `${group}/${version}`) === apiVersion);
    });
    if (found === undefined) throw new ClusterError(unknownKind({ apiVersion: apiVersion ?? "any group", kind }, all));
    return found.resource;
  }

  /** The object as it is stored now, without a request: it is not logged, and no interceptor sees it. */
  peek<T extends KubeObject>({ group, version, plural }: Resource<T>, key: ObjectKey): T | undefined {
    const { store, types } = this.#parts.server;
    const type = types.find(group, version, plural);
    const stored = type === undefined ? undefined : store.get(type.collection, keyText(key));
    return type === undefined || stored === undefined ? undefined : (copyJson(type.fromStorage(stored.object)) as unknown as T);
  }

  /** Sends any request, for paths that clients have no method for: `request("POST", "/api/v1/namespaces/a/pods/b/eviction", body)`. */
  async request(method: string, path: string, body?: Json, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
    const [bare = "", query = ""] = path.split("?", 2);
    const response = await this.#parts.intercepted.handle(
      {
        method,
        path: bare,
        query: new URLSearchParams(query),
        headers: { "content-type": "application/json", ...headers },
        body: body === undefined ? undefined : { value: structuredClone(body) },
        user: this.#parts.users.admin.user,
      },
      new AbortController().signal,
    );
    const { status, warnings, body: answer } = response;
    if (answer.kind === "json") return { code: status, warnings, body: structuredClone(answer.value) as Json };
    if (answer.kind === "byte-stream") return { code: status, warnings, body: await text(answer.chunks) };
    return { code: status, warnings, body: answer.kind === "text" ? answer.text : null };
  }

  /** Adds an interceptor. The newest is called first. */
  intercept(match: InterceptMatch, interceptor: Interceptor): Interception {
    return this.#parts.interceptors.add(match, interceptor);
  }

  /** Controls the watches that begin from now on, to end, expire or stall them later. `verb` is always "watch". */
  interceptWatches(match: Omit<InterceptMatch, "verb"> = {}): WatchInterception {
    const control = new WatchControl();
    const interception = this.intercept({ ...match, verb: "watch" }, control.interceptor);
    return watchInterception(interception, control);
  }

  clearInterceptors(): void {
    this.#parts.interceptors.clear();
  }

  /** Adds objects unchanged, as fixtures. Returns the objects as stored. */
  add(...objects: readonly FixtureObject[]): Promise<readonly KubeObject[]> {
    return this.#load(objectDocuments(objects));
  }

  /** Adds objects from a file or a folder. */
  async load(path: string): Promise<readonly KubeObject[]> {
    const read = await readDocuments(path);
    if (!read.ok) throw new ClusterError(describeProblems(read.error));
    return this.#load(read.value);
  }

  async #load(documents: readonly Document[]): Promise<readonly KubeObject[]> {
    const loaded = await loadFixtures({ server: this.#parts.server, user: this.#parts.users.admin.user, keepExisting: false }, documents);
    if (!loaded.ok) throw new ClusterError(describeProblems(loaded.error));
    return structuredClone(loaded.value);
  }

  /** The simulated nodes, to add faults: `cluster.simulation.faults.add({ kind: "image-pull", on: { image: "*:broken" } })`. */
  get simulation(): Simulation {
    const simulation = this.#controllers?.simulation;
    if (simulation === undefined) throw new ClusterError("this cluster has no simulation; start it with `controllers: true`");
    return simulation;
  }

  /** Waits until the controllers have no work left. Work that is due later (a back-off, a TTL) waits for the clock. */
  async settled(): Promise<void> {
    if (this.#controllers !== undefined) await this.#controllers.idle();
    else if (this.clock instanceof FakeClock) await this.clock.advance(0);
  }

  /**
   * Waits until the object meets the condition; throws after five seconds (or `timeoutMs`) of real time, with the object in the message.
   */
  async waitFor<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    until: (object: T | undefined) => boolean,
    { timeoutMs = WAIT_MS }: { readonly timeoutMs?: number } = {},
  ): Promise<T | undefined> {
    return orThrow(await waitFor<T>(this.#parts.server, { resource, key, until, timeoutMs }));
  }

  /** Deletes the history: a watch from an earlier version gets 410 Gone, as after a compaction of etcd. */
  forgetHistory(): void {
    const { store } = this.#parts.server;
    store.compact(store.revision);
  }

  /**
   * Restores every object as it was when the cluster had started: later objects are deleted, without finalizers, and watchers see it. Needs
   * `resettable`. Interceptors and the log of actions are unchanged.
   */
  async reset(): Promise<void> {
    if (this.#initial === undefined) throw new ClusterError("this cluster cannot be reset; start it with `resettable: true`");
    for (let round = 0; round < RESET_ROUNDS; round += 1) {
      if (orThrow(this.#initial.restore()) === 0) return;
      await this.settled();
    }
  }

  /** Listens, once; later calls return the same endpoint. */
  async listen(options: ListenOptions = {}): Promise<Endpoint> {
    const { address: _, close: _close, ...endpoint } = await (this.#endpoint ??= this.#open(options));
    return endpoint;
  }

  async #open(options: ListenOptions): Promise<OpenEndpoint> {
    const { intercepted, users, authority, identity, logger, clock, listening } = this.#parts;
    const authenticate = intercepted.authenticate ?? users.userOfToken;
    const served = this.#initial === undefined ? intercepted : withResetPath(intercepted, this.#parts.server, () => this.reset());
    const opened = await openEndpoint(options, { server: served, authority, identity, authenticate, logger, clock });
    if (!opened.ok) this.#endpoint = undefined;
    const endpoint = orThrow(opened);
    listening.address = endpoint.address;
    if (endpoint.certificateAuthority !== undefined) this.#parts.server.publishClientAuthority?.(endpoint.certificateAuthority);
    this.#initial?.keep(CLIENT_AUTHORITY);
    return endpoint;
  }

  /** A kubeconfig of the administrator, or of one of the `users`. Starts to listen if necessary. */
  async kubeconfig({ user = ADMIN, ...listening }: ListenOptions & { readonly user?: string } = {}): Promise<string> {
    const { token } = this.#credential(user);
    return kubeconfigText({ ...(await this.listen(listening)), user, token });
  }

  /** The same as a file that only its owner can read. */
  async writeKubeconfig(path: string, options: ListenOptions & { readonly user?: string } = {}): Promise<void> {
    const text = await this.kubeconfig(options);
    orThrow(mapErr(writePrivateFile(path, text), (problem) => `the kubeconfig ${problem}`));
  }

  #credential(name: string): UserCredential {
    const { users } = this.#parts;
    const credential = users.find(name);
    if (credential === undefined) throw new ClusterError(`there is no user "${name}"; there are ${users.names().join(", ")}`);
    return credential;
  }

  /** Called by `start.ts` only. */
  attachControllers(controllers: Controllers): void {
    this.#controllers = controllers;
  }

  /** Called by `start.ts` only. */
  async keepInitialState(): Promise<void> {
    await this.settled();
    this.#initial = new InitialState(this.#parts.server.store);
  }

  /** Closes controllers, clients, watches and sockets. A second call waits for the first. */
  close(): Promise<void> {
    return (this.#closed ??= this.#end());
  }

  async #end(): Promise<void> {
    await this.#controllers?.close();
    for (const client of this.#clients.values()) await client.close();
    this.#parts.server.close();
    await (await this.#endpoint)?.close();
    this.#parts.server.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * The response to `request`.
 *
 * @example const { code, body } = await cluster.request("GET", "/version");
 */
export type RawAnswer = { readonly code: number; readonly warnings: readonly string[]; readonly body: Json };

export type { User };
