/**
 * The child of a cluster of DevMachines, as the in-memory backend serves it: unreachable until the first API server has started. Each machine
 * registers its Node, and takes it away when it is deleted.
 */
import { expectOk } from "#base";
import { configMaps, nodes, type KubeObject } from "#kube";
import { failedConditions } from "../../../test/builders/cluster-api/scenario.ts";
import { isControlPlane, isTrue, textAt } from "./objects.ts";
import type { CapiTestObject, CapiWorld } from "./capi-world.test-support.ts";

export class InMemoryBackend {
  readonly #world: CapiWorld;
  readonly #registered = new Set<string>();

  constructor(world: CapiWorld) {
    this.#world = world;
    world.childUp(false);
    world.observe("DevMachine", (machine) => void this.#changed(machine));
    world.observe("Machine", (machine) => void this.#machineChanged(machine));
  }

  async failNode(name: string): Promise<void> {
    const { client } = this.#world.child;
    const node = expectOk(await client.get(nodes, { name }));
    const patch = { status: { conditions: failedConditions(node, new Date(this.#world.clock.now())) } };
    expectOk(await client.patch(nodes, { name }, { type: "merge", patch }, { subresource: "status" }));
  }

  /** The real backend deletes the Node before the DevMachine is gone; this one cannot delay that, so it is earlier. */
  async #machineChanged({ metadata: { name, deletionTimestamp } }: CapiTestObject): Promise<void> {
    if (deletionTimestamp !== undefined) await this.#world.child.client.delete(nodes, { name });
  }

  async #changed(machine: CapiTestObject): Promise<void> {
    const { name } = machine.metadata;
    const hasStarted = isTrue(machine, isControlPlane(machine) ? "APIServerProvisioned" : "NodeProvisioned");
    if (!hasStarted || this.#registered.has(name)) return;
    this.#registered.add(name);
    await this.#register(machine);
    this.#world.childUp(true);
  }

  async #register(machine: CapiTestObject): Promise<void> {
    const { client } = this.#world.child;
    const { name } = machine.metadata;
    if (isControlPlane(machine)) {
      const metadata = { name: "kubeadm-config", namespace: "kube-system" };
      await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: {} });
    }
    const lastTransitionTime = new Date(this.#world.clock.now()).toISOString();
    const condition = (type: string, status: string) => ({ type, status, reason: "Kubelet", message: "", lastTransitionTime });
    const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False"));
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: { providerID: textAt(machine, "spec", "providerID") },
      status: { nodeInfo: { kubeletVersion: "v1.36.3" }, conditions: [condition("Ready", "True"), ...pressures] },
    } as unknown as KubeObject;
    const created = await client.create(nodes, node);
    if (created.ok) await client.update(nodes, { ...node, metadata: created.value.metadata }, { subresource: "status" });
  }
}
