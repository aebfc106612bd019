/**
 * A parent and a child as two embedded clusters in one process: the parent has a provisioned cluster, the child is reached through tunnels, and its
 * agent is replaced by what it does when a pivot begins.
 */
import { join } from "node:path";
import { err, expectOk, ok, seededRandom, silentLogger, systemClock } from "#base";
import type { ChildAgent, PivotView } from "#controllers";
import { latticeClusterKind, latticeClusters, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, namespaces, secrets, type KubeObject } from "#kube";
import { createKubeClient, type ClientResult, type KubeClient } from "#kube-client";
import { tunnelTransport } from "#link";
import { MOVE_JOURNAL, MOVE_RECORD, ownershipOf, type NamespaceOwnership } from "#pivot";
import { CONNECTED } from "../../../../test/builders/observed-child.ts";
import { contentsOf, makeProvisioned, startManagementCluster, type Workers } from "../../../../test/builders/move-world.ts";
import { tunnelledChild, type TunnelledChild } from "../../../../test/builders/tunnelled-child.ts";
import { rawCluster } from "../../../../test/builders/valid-resources.ts";
import type { PivotLink } from "./pivot-context.ts";
import { PivotRunner, type PivotRunnerOptions } from "./pivot-runner.ts";

export type Side = "parent" | "child";

export const CAPI = "capi-prod";
const KUBECONFIG = { namespace: CAPI, name: "prod-kubeconfig" };

type PivotWorldOptions = { readonly logActions?: boolean; readonly folder?: string; readonly workers?: Workers };

export class PivotWorld {
  parent: EmbeddedCluster;
  child: EmbeddedCluster;
  readonly tunnels: TunnelledChild;
  agent: ChildAgent = CONNECTED;
  /** The answer of the agent to a pivot; undefined: it prepares the child. */
  refusal: string | undefined;
  readonly orders: string[] = [];
  readonly #runners: PivotRunner[] = [];
  readonly #folder: string | undefined;
  readonly #down = new Set<Side>();
  #starts = 2;

  private constructor(parent: EmbeddedCluster, child: EmbeddedCluster, tunnels: TunnelledChild, folder: string | undefined) {
    this.parent = parent;
    this.child = child;
    this.tunnels = tunnels;
    this.#folder = folder;
  }

  /** `logActions`: all requests are recorded. `folder`: the servers store their data there and can be started again. */
  static async open({ logActions = false, folder, workers = 1 }: PivotWorldOptions = {}): Promise<PivotWorld> {
    const start = (side: Side, seed: number) =>
      startManagementCluster(seed, logActions, folder === undefined ? undefined : join(folder, side));
    const [parent, child] = [await start("parent", 1), await start("child", 2)];
    for (const cluster of [parent, child]) await cluster.add(latticeClusterKind.crd());
    await makeProvisioned(parent.client, "prod", workers, CAPI);
    await parent.add(rawCluster({ cellRef: "mgmt" }, "prod"));
    return new PivotWorld(parent, child, await tunnelledChild(child), folder);
  }

  /** A server ends, and starts again with its data. */
  async restart(side: Side): Promise<void> {
    if (this.#folder === undefined) throw new Error("the servers have no data folder");
    this.#down.add(side);
    await this[side].close();
    const seed = (this.#starts += 1);
    this[side] = await startEmbeddedCluster({ seed, logActions: false, dataDir: join(this.#folder, side) });
    if (side === "child") await this.child.listen();
    this.#down.delete(side);
  }

  /** Of the server that runs now. While none runs, requests fail. */
  clientOf(side: Side): KubeClient {
    const request = <T>(send: (client: KubeClient) => ClientResult<T>): ClientResult<T> =>
      this.#down.has(side)
        ? Promise.resolve(err({ kind: "network", message: "connect ECONNREFUSED", retry: "safe" }))
        : send(this[side].client);
    return {
      ...this[side].client,
      get: (...call) => request((client) => client.get(...call)),
      list: (...call) => request((client) => client.list(...call)),
      raw: (...call) => request((client) => client.raw(...call)),
      create: (...call) => request((client) => client.create(...call)),
      update: (...call) => request((client) => client.update(...call)),
      apply: (...call) => request((client) => client.apply(...call)),
      patch: (...call) => request((client) => client.patch(...call)),
      delete: (...call) => request((client) => client.delete(...call)),
    };
  }

  async close(): Promise<void> {
    for (const runner of this.#runners) await runner.close();
    this.tunnels.close();
    await this.parent.close();
    await this.child.close();
  }

  get link(): PivotLink {
    return {
      agents: () => new Map([["prod", this.agent]]),
      send: async (cluster, order) => {
        this.orders.push(`${order.kind} ${cluster}`);
        if (!this.agent.connected) return err({ kind: "not-connected", message: `${cluster} is not connected` });
        if (this.refusal !== undefined) return err({ kind: "failed", message: this.refusal });
        await this.writeKubeconfig(this.child, "of the child");
        return ok({ effects: [] });
      },
    };
  }

  setConnected(connected: boolean): void {
    this.agent = { ...this.agent, connected };
    this.tunnels.setConnected(connected);
  }

  /** What each side writes itself. */
  async writeKubeconfig({ client }: EmbeddedCluster, text: string): Promise<void> {
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: CAPI } });
    const data = { value: Buffer.from(text).toString("base64") };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: KUBECONFIG, type: "Opaque", data };
    expectOk(await client.apply(secrets, secret as KubeObject, { fieldManager: "lattice", force: true }));
  }

  runner(more: Partial<PivotRunnerOptions> = {}, Runner = PivotRunner): PivotRunner {
    const made = new Runner({
      client: this.parent.client,
      childClient: () => this.childClient(),
      link: this.link,
      clock: systemClock,
      random: seededRandom(1),
      logger: silentLogger,
      identity: `cell-${this.#runners.length}`,
      leaseMs: 60_000,
      ...more,
    });
    this.#runners.push(made);
    return made;
  }

  childClient(): KubeClient {
    const transport = tunnelTransport("prod", this.tunnels.openTunnel);
    return createKubeClient({ transport, clock: systemClock, random: seededRandom(2) });
  }

  async cluster(change: (cluster: LatticeCluster) => LatticeCluster = (same) => same): Promise<LatticeCluster> {
    return change(expectOk(await this.parent.client.get(latticeClusters, { name: "prod" })));
  }

  /** By the traces of moves in a namespace. */
  ownership(side: Side): NamespaceOwnership {
    const record = this[side].peek<KubeObject>(configMaps, { namespace: CAPI, name: MOVE_RECORD });
    const journal = this[side].peek(secrets, { namespace: CAPI, name: MOVE_JOURNAL });
    return ownershipOf({ record, hasJournal: journal !== undefined });
  }

  /** The names of the moved objects: without the kubeconfig, and what does not belong to the cluster. */
  async objects(cluster: EmbeddedCluster): Promise<readonly string[]> {
    return [...(await contentsOf(cluster.client, CAPI)).keys()].filter((name) => !/unrelated|kubeconfig/.test(name)).toSorted();
  }
}

/** Resolves with the view when it is as wanted. */
export function untilView(runner: PivotRunner, matches: (view: PivotView) => boolean): Promise<PivotView> {
  return new Promise((resolve) => {
    let end = () => {};
    const check = () => {
      const view = runner.view("prod");
      if (view === undefined || !matches(view)) return;
      end();
      resolve(view);
    };
    end = runner.subscribe(check);
    check();
  });
}

export const isDone = ({ state }: PivotView) => state === "done";
export const isWaiting = ({ state }: PivotView) => state === "waiting";
