/**
 * The connections to child clusters, one per `<cluster>-kubeconfig` Secret: a client, a probe every ten seconds, and the Nodes as a watch. Nothing
 * else reaches a child.
 *
 * A connection that fails keeps its last Nodes. Callers compare `lastSuccess` with their grace period, so that a child that cannot be reached
 * never looks like a child without Nodes.
 */
import { err, MetricsRegistry, ok, silentLogger, type Result } from "#base";
import { Informer } from "#controller-runtime";
import { keyText, nodes as nodeResource, parseKey, secrets, type Node, type ObjectKey } from "#kube";
import type { KubeClient } from "#kube-client";
import type { KubeControllerContext } from "../context.ts";
import { again, done, type Pass } from "../work.ts";
import type { CapiCaches } from "./caches.ts";
import { kubeconfigSecret } from "./names.ts";
import { openByKubeconfig, type OpenChild } from "./open-child.ts";
import { textAt } from "./objects.ts";
import { secretText } from "./secret-data.ts";

const PROBE_MS = 10_000;
/** Until the first success: a new child appears at some time. */
const CONNECT_MS = 2_000;
const TIMEOUT_MS = 5_000;
const BY_PROVIDER_ID = "capi/by-provider-id";

export type ChildView = {
  /** The last probe succeeded. */
  readonly connected: boolean;
  readonly client: KubeClient;
  /** Milliseconds since 1970. */
  readonly lastSuccess: number | undefined;
  /** Failed probes in a row. */
  readonly failures: number;
  /** The Nodes are listed. */
  readonly hasNodes: boolean;
  readonly nodes: () => readonly Node[];
  readonly nodeByProviderId: (id: string) => Node | undefined;
  readonly nodeByName: (name: string) => Node | undefined;
};

type Connection = {
  readonly version: string;
  readonly client: KubeClient;
  readonly nodes: Informer<Node>;
  readonly stopping: AbortController;
  watching: boolean;
  lastSuccess: number | undefined;
  failures: number;
};

export type ChildEvents = {
  /** The child became reachable or unreachable. */
  readonly onState: (cluster: ObjectKey) => void;
  readonly onNode: (cluster: ObjectKey, node: Node) => void;
};

export class Children {
  readonly #context: KubeControllerContext;
  readonly #caches: CapiCaches;
  readonly #events: ChildEvents;
  readonly #openChild: OpenChild;
  readonly #connections = new Map<string, Connection>();

  constructor(context: KubeControllerContext, caches: CapiCaches, events: ChildEvents, openChild: OpenChild = openByKubeconfig) {
    this.#context = context;
    this.#caches = caches;
    this.#events = events;
    this.#openChild = openChild;
    context.signal.addEventListener("abort", () => this.#closeAll(), { once: true });
  }

  view(cluster: ObjectKey): ChildView | undefined {
    const connection = this.#connections.get(keyText(cluster));
    if (connection === undefined) return undefined;
    const { client, nodes, lastSuccess, failures } = connection;
    return {
      client,
      lastSuccess,
      failures,
      connected: lastSuccess !== undefined && failures === 0,
      hasNodes: nodes.health().synced,
      nodes: () => nodes.list(),
      nodeByProviderId: (id) => nodes.byIndex(BY_PROVIDER_ID, id)[0],
      nodeByName: (name) => nodes.get({ name }),
    };
  }

  /** The pass of a cluster's connection: opens, probes or closes it. */
  async refresh(key: string, signal: AbortSignal): Promise<Pass> {
    const cluster = parseKey(key);
    const secret = this.#caches.secrets.get({ namespace: cluster.namespace, name: kubeconfigSecret(cluster.name) });
    const version = secret?.metadata.resourceVersion;
    if (this.#caches.get("clusters", cluster) === undefined || version === undefined) {
      this.#close(key);
      return done;
    }
    if (this.#connections.get(key)?.version !== version) {
      this.#close(key);
      const opened = await this.#open(cluster, version);
      // the message has no part of the kubeconfig
      if (!opened.ok) return { kind: "failed", error: opened.error };
      if (signal.aborted) this.#closeAll();
    }
    return this.#probe(key, signal);
  }

  async #open(cluster: ObjectKey, version: string): Promise<Result<void, string>> {
    const { client: parent, clock, random } = this.#context;
    const name = kubeconfigSecret(cluster.name);
    const read = await parent.get(secrets, { namespace: cluster.namespace, name });
    if (!read.ok) return err(read.error.message);
    const text = secretText(read.value, "value");
    const opened = await this.#openChild(text ?? "", { clock, random });
    if (!opened.ok) return err(`Secret ${name}: ${opened.error}`);
    const client = opened.value;
    this.#connections.set(keyText(cluster), this.#connection(cluster, version, client));
    return ok(undefined);
  }

  #connection(cluster: ObjectKey, version: string, client: KubeClient): Connection {
    const { clock, random } = this.#context;
    const nodes = new Informer<Node>({
      client,
      resource: nodeResource,
      clock,
      random,
      logger: silentLogger,
      metrics: new MetricsRegistry(),
    });
    nodes.addIndex(BY_PROVIDER_ID, (node) => [textAt(node, "spec", "providerID") ?? ""]);
    nodes.subscribe(({ before, after }) => {
      const node = after ?? before;
      if (node !== undefined) this.#events.onNode(cluster, node);
    });
    return { version, client, nodes, stopping: new AbortController(), watching: false, lastSuccess: undefined, failures: 0 };
  }

  async #probe(key: string, signal: AbortSignal): Promise<Pass> {
    const connection = this.#connections.get(key);
    if (connection === undefined) return done;
    const wasConnected = connection.lastSuccess !== undefined && connection.failures === 0;
    const answer = await connection.client.raw("/version", { signal, timeoutMs: TIMEOUT_MS });
    if (this.#connections.get(key) !== connection) return done;
    if (answer.ok) {
      connection.lastSuccess = this.#context.clock.now();
      connection.failures = 0;
      this.#watch(connection);
    } else {
      connection.failures += 1;
    }
    if (answer.ok !== wasConnected || !answer.ok) this.#events.onState(parseKey(key));
    return again(connection.lastSuccess === undefined ? CONNECT_MS : PROBE_MS);
  }

  #watch(connection: Connection): void {
    if (connection.watching) return;
    connection.watching = true;
    void connection.nodes.run(connection.stopping.signal);
  }

  #close(key: string): void {
    const connection = this.#connections.get(key);
    if (connection === undefined) return;
    this.#connections.delete(key);
    connection.stopping.abort();
    void connection.client.close();
  }

  #closeAll(): void {
    for (const key of Array.from(this.#connections.keys())) this.#close(key);
  }
}
