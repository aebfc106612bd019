/**
 * The child of a cluster of DevMachines, as the in-memory backend serves it: unreachable until the first API server has started; each machine
 * registers its Node, and takes it away when it is deleted.
 */
import { configMaps, nodes, type KubeObject } from "#kube";
import { isControlPlane, isTrue, textAt } from "./objects.ts";
import type { CapiTestObject, CapiWorld } from "./capi-world.test-support.ts";

export class InMemoryBackend {
  readonly #world: CapiWorld;
  readonly #registered = new Set<string>();

  constructor(world: CapiWorld) {
    this.#world = world;
    world.childUp(false);
    world.observe("DevMachine", (machine) => void this.#changed(machine));
  }

  async failNode(name: string): Promise<void> {
    const now = new Date(this.#world.clock.now()).toISOString();
    const conditions = [{ type: "Ready", status: "False", reason: "KubeletNotReady", message: "stopped", lastTransitionTime: now }];
    await this.#world.child.client.patch(nodes, { name }, { type: "strategic", patch: { status: { conditions } } }, { subresource: "status" });
  }

  async #changed(machine: CapiTestObject): Promise<void> {
    const { name, deletionTimestamp } = machine.metadata;
    if (deletionTimestamp !== undefined) {
      this.#registered.delete(name);
      return void (await this.#world.child.client.delete(nodes, { name }));
    }
    const started = isTrue(machine, isControlPlane(machine) ? "APIServerProvisioned" : "NodeProvisioned");
    if (!started || this.#registered.has(name)) return;
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
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: { providerID: textAt(machine, "spec", "providerID") },
      status: {
        nodeInfo: { kubeletVersion: "v1.36.3" },
        conditions: [condition("Ready", "True"), ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False"))],
      },
    } as unknown as KubeObject;
    const created = await client.create(nodes, node);
    if (created.ok) await client.update(nodes, { ...node, metadata: created.value.metadata }, { subresource: "status" });
  }
}
