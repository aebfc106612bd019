/** What a user does to have a child: the only cluster of a fleet becomes a cell, then a LatticeCluster is created there. */
import { expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { configMaps, findCondition, type Condition, type ConfigMap } from "#kube";
import type { KubeClient } from "#kube-client";
import { freePorts } from "../two-clusters.ts";
import type { FleetProcess } from "./fleet-process.ts";

/** `client`: of the cluster `mgmt` of the fleet. */
export class FleetCell {
  readonly #fleet: FleetProcess;
  readonly #client: KubeClient;

  constructor(fleet: FleetProcess, client: KubeClient) {
    this.#fleet = fleet;
    this.#client = client;
  }

  async read(name: string): Promise<LatticeCluster | undefined> {
    const found = await this.#client.get(latticeClusters, { name });
    return found.ok ? found.value : undefined;
  }

  async condition(name: string, type: string): Promise<Condition | undefined> {
    return findCondition((await this.read(name))?.status?.conditions, type);
  }

  /** Resolves when the cluster is ready. */
  async becomeCell(): Promise<void> {
    const identity: ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "lattice-identity", namespace: "lattice-system" },
      data: { cluster: "mgmt" },
    };
    const [grpcPort, bootstrapPort, proxyPort] = await freePorts(3);
    const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
    expectOk(await this.#client.create(configMaps, identity));
    await this.create("mgmt", { nodes: { controlPlane: 1, workers: 0 }, endpoints });
    await this.#fleet.until("the own cluster is ready", async () => (await this.condition("mgmt", "Ready"))?.status === "True");
  }

  async create(name: string, spec: object): Promise<void> {
    const provider = { type: "local", kubernetes: { version: "v1.36.3" } };
    const object = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name }, spec: { provider, ...spec } };
    expectOk(await this.#client.create(latticeClusters, object as unknown as LatticeCluster));
  }

  /** Resolves when the child owns itself and all its nodes are reported. */
  async untilPivoted(name: string, nodes: number): Promise<void> {
    const fleet = this.#fleet;
    await fleet.until("the agent is connected", async () => (await this.condition(name, "AgentConnected"))?.status === "True");
    await fleet.until("the child owns itself", async () => (await this.condition(name, "Ready"))?.reason === "SelfManaged");
    await fleet.until("all nodes are reported", async () => (await this.read(name))?.status?.readyNodes === nodes);
  }
}
