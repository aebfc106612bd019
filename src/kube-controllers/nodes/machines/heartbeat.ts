/**
 * Registers the simulated nodes and sends their heartbeats: a Lease that is renewed, and the Node's conditions when they differ from
 * those of a healthy node. The Lease is the only write of a settled cluster; `heartbeatMs` is its interval.
 */
import { ok, timestamp, type Result } from "#base";
import { leases, nodes, type Node } from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import type { SimulatedNode, Speeds } from "../options.ts";
import type { Machines } from "./machines.ts";
import { healthyConditions, nodeObject, nodeStatus, saysHealthy } from "./node-object.ts";

export const LEASE_NAMESPACE = "kube-node-lease";
const LEASE_SECONDS = 40;

export type HeartbeatOptions = { readonly machines: Machines; readonly speeds: Speeds };

export function nodeHeartbeat({ machines, speeds }: HeartbeatOptions): KubeController {
  return {
    name: "node-heartbeat",
    start(context) {
      const { informers, signal } = context;
      const queue = context.work({ name: "node-heartbeat", pass: (name) => beat(context, machines, name, speeds.heartbeatMs) });
      const enqueue = () => machines.all.forEach(({ name }) => queue.add(name));
      informers.subscribe(nodes, ({ key, after }) => {
        if (machines.runs(key.name) && (after === undefined || !saysHealthy(after))) queue.add(key.name);
      });
      const end = machines.subscribe(enqueue);
      signal.addEventListener("abort", end, { once: true });
      enqueue();
    },
  };
}

async function beat(context: KubeControllerContext, machines: Machines, name: string, heartbeatMs: number): Promise<Pass> {
  const machine = machines.get(name);
  if (machine === undefined || !machines.runs(name)) return done;
  const registered = await register(context, machine);
  if (!registered.ok) return passOf(registered);
  const healthy = await reportHealthy(context, machine, registered.value, machines.addressOf(name));
  if (!healthy.ok) return passOf(healthy);
  const renewed = await renew(context, registered.value);
  return renewed.ok ? again(heartbeatMs) : passOf(renewed);
}

async function register({ client, informers, record }: KubeControllerContext, machine: SimulatedNode): Promise<Result<Node, KubeError>> {
  const known = informers.of(nodes).get({ name: machine.name });
  if (known !== undefined) return saysHealthy(known) ? ok(known) : client.get(nodes, { name: machine.name });
  const created = await client.create(nodes, nodeObject(machine));
  if (!created.ok) return created.error.kind === "already-exists" ? client.get(nodes, { name: machine.name }) : created;
  record({ regarding: created.value, type: "Normal", reason: "Starting", note: "Starting kubelet." });
  return created;
}

/** A merge patch: it replaces the conditions, and keeps taints and labels. */
async function reportHealthy(
  { client, clock }: KubeControllerContext,
  machine: SimulatedNode,
  node: Node,
  address: string,
): Promise<Result<unknown, KubeError>> {
  if (saysHealthy(node)) return ok(undefined);
  const conditions = healthyConditions(node.status?.conditions ?? [], timestamp(clock));
  const patch = { status: nodeStatus(machine, address, conditions) } as never;
  return client.patch(nodes, { name: machine.name }, { type: "merge", patch }, { subresource: "status" });
}

async function renew({ client, clock }: KubeControllerContext, node: Node): Promise<Result<unknown, KubeError>> {
  const { name, uid = "" } = node.metadata;
  const renewTime = new Date(clock.now()).toISOString().replace(/Z$/, "000Z");
  const key = { namespace: LEASE_NAMESPACE, name };
  const renewed = await client.patch(leases, key, { type: "merge", patch: { spec: { renewTime } } });
  if (renewed.ok || renewed.error.kind !== "not-found") return renewed;
  return client.create(leases, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...key, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
  });
}
