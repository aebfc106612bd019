/**
 * The heartbeats of the simulated nodes: a Lease that is renewed, and the Node's status when it differs from that of a healthy node. The
 * Lease is the only write of a settled cluster; `heartbeatMs` is its interval.
 *
 * A Node may be deleted and created again at any time: every write names the uid of the Node that it is for.
 */
import { ok, timestamp, type Result } from "#base";
import { nodes, type Json, type Node } from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import type { Speeds } from "../options.ts";
import { isSimulated, type Machine } from "./machine.ts";
import type { Machines } from "./machines.ts";
import { internalAddress, isRegistered, isReported, missingLabels, nodeStatus } from "./node-object.ts";
import { NodeLeases } from "./node-leases.ts";

export type HeartbeatOptions = { readonly machines: Machines; readonly speeds: Speeds };

export function nodeHeartbeat({ machines, speeds }: HeartbeatOptions): KubeController {
  return {
    name: "node-heartbeat",
    reportsAs: "kubelet",
    start(context) {
      const kubelets = new NodeKubelets(context, machines);
      const beats = context.work({ name: "node-heartbeat", pass: (name) => kubelets.beat(name, speeds.heartbeatMs) });
      const removals = context.work({ name: "node-removal", pass: (key) => kubelets.removeLease(key) });
      const end = machines.subscribe((name) => beats.add(name));
      context.informers.subscribe(nodes, ({ key, before, after }) => {
        if (before !== undefined && before.metadata.uid !== after?.metadata.uid) {
          machines.forget(before);
          if (isSimulated(before)) removals.add(`${before.metadata.uid ?? ""}/${key.name}`);
        }
        if (after === undefined) return;
        machines.observe(after);
        const machine = machines.get(key.name);
        if (machine !== undefined && !isReported(after, machine)) beats.add(key.name);
      });
      context.signal.addEventListener("abort", end, { once: true });
    },
  };
}

class NodeKubelets {
  readonly #context: KubeControllerContext;
  readonly #machines: Machines;
  readonly #leases: NodeLeases;
  /** By node name: the problems that were recorded as events. */
  readonly #problems = new Map<string, string>();

  constructor(context: KubeControllerContext, machines: Machines) {
    this.#context = context;
    this.#machines = machines;
    this.#leases = new NodeLeases(context);
  }

  async beat(name: string, heartbeatMs: number): Promise<Pass> {
    const machine = this.#machines.get(name);
    const node = this.#context.informers.of(nodes).get({ name });
    if (machine === undefined || node?.metadata.uid !== machine.uid) return this.#forget(name);
    this.#recordProblems(node, machine);
    if (!this.#machines.runs(name)) return done;
    const address = this.#machines.addressOf(name);
    const reported = await this.#report(node, machine, address);
    if (!reported.ok) return this.#passOf(reported);
    const renewed = await this.#leases.renew(machine);
    return renewed.ok ? again(heartbeatMs) : this.#passOf(renewed);
  }

  /** Deletes the Lease of a deleted Node, so that none is left where no garbage collector runs. */
  async removeLease(key: string): Promise<Pass> {
    const [uid = "", name = ""] = key.split("/");
    return passOf(await this.#leases.remove(name, uid));
  }

  #forget(name: string): Pass {
    this.#problems.delete(name);
    return done;
  }

  #recordProblems(node: Node, { name, problems }: Machine): void {
    const text = problems.join("\n");
    if (text === (this.#problems.get(name) ?? "")) return;
    this.#problems.set(name, text);
    for (const note of problems) this.#context.record({ regarding: node, type: "Warning", reason: "InvalidSimulationSetting", note });
  }

  async #report(cached: Node, machine: Machine, address: string): Promise<Result<unknown, KubeError>> {
    const { client, clock, record } = this.#context;
    const isCurrent = (node: Node) => isReported(node, machine) && internalAddress(node) === address;
    if (isCurrent(cached)) return ok(undefined);
    const { name, uid } = machine;
    const read = await client.get(nodes, { name });
    if (!read.ok || read.value.metadata.uid !== uid || isCurrent(read.value)) return read;
    const node = read.value;
    if (!isRegistered(node)) {
      const registered = await this.#register(node, uid);
      if (!registered.ok) return registered;
      record({ regarding: node, type: "Normal", reason: "Starting", note: "Starting kubelet." });
    }
    // a merge patch: it replaces the conditions, and keeps taints and labels
    const patch = { metadata: { uid }, status: nodeStatus(node, machine, address, timestamp(clock)) } as unknown as Json;
    return client.patch(nodes, { name }, { type: "merge", patch }, { subresource: "status" });
  }

  async #register(node: Node, uid: string): Promise<Result<unknown, KubeError>> {
    const labels = missingLabels(node);
    if (Object.keys(labels).length === 0) return ok(undefined);
    const { name } = node.metadata;
    return this.#context.client.patch(nodes, { name }, { type: "merge", patch: { metadata: { uid, labels } } });
  }

  /** The Node is deleted, or another one has its name: the change arrives through the watch. */
  #passOf(answer: Result<unknown, KubeError>): Pass {
    return !answer.ok && answer.error.kind === "not-found" ? done : passOf(answer);
  }
}
