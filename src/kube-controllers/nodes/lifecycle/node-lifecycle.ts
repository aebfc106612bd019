/**
 * Detects nodes without heartbeats: after 50 seconds the node's conditions become Unknown and it is tainted.
 *
 * Taints follow conditions in both directions: when the condition is repaired, the taint is removed.
 */
import { timestamp } from "#base";
import { jsonEqual, leases, nodes, pods as podResource, type Node, type NodeCondition, type Pod, type Taint } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { podsOnNode } from "../../pods/pods-on-node.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { NO_EXECUTE, NO_SCHEDULE, NODE_NOT_READY, NODE_UNREACHABLE, NODE_UNSCHEDULABLE } from "../../workloads/placement/taints.ts";
import { isPodReady } from "../../workloads/pods/pod-state.ts";
import { LEASE_NAMESPACE } from "../machines/node-leases.ts";
import { Heartbeats } from "./heartbeats.ts";

const GRACE_MS = 50_000;
/** For a node that has never posted a status. */
const STARTUP_GRACE_MS = 60_000;
const CHECK_INTERVAL_MS = 5_000;

export const nodeLifecycleController: KubeController = {
  name: "node-lifecycle-controller",
  start(context) {
    const { informers } = context;
    informers.of(leases);
    const podsOf = podsOnNode(informers);
    const known: Known = { podsOf, heartbeats: new Heartbeats(context.clock), unmarked: new Set() };
    const queue = context.work({ name: "node-lifecycle", pass: (name) => pass(context, known, name) });
    informers.subscribe(nodes, ({ key, before, after }) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) forget(known, key.name); // also when one of its name is created
      queue.add(key.name);
    });
  },
};

/** `unmarked`: nodes that became Unknown and have Pods that could not be marked yet. */
type Known = { readonly podsOf: (node: string) => readonly Pod[]; readonly heartbeats: Heartbeats; readonly unmarked: Set<string> };

async function pass(context: KubeControllerContext, known: Known, name: string): Promise<Pass> {
  const { client, clock, informers } = context;
  const node = informers.of(nodes).get({ name });
  if (node === undefined) return forget(known, name);
  const lease = informers.of(leases).get({ namespace: LEASE_NAMESPACE, name });
  const silentMs = known.heartbeats.silentMs(node, lease?.spec?.renewTime);
  const graceMs = readyOf(node) === undefined ? STARTUP_GRACE_MS : GRACE_MS;
  if (silentMs >= graceMs && readyOf(node)?.status !== "Unknown") return becomeUnknown(context, known, node);
  if (readyOf(node)?.status === "True") known.unmarked.delete(name); // its kubelet is back, and reports what its Pods are
  if (known.unmarked.has(name)) {
    const marked = await markPods(context, known, name);
    if (marked.kind !== "done") return marked;
  }
  const taints = taintsFor(node, timestamp(clock));
  if (!jsonEqual(taints, node.spec?.taints ?? [])) {
    const tainted = await client.update(nodes, { ...node, spec: { ...node.spec, taints } });
    if (!tainted.ok) return passOf(tainted);
  }
  return again(silentMs >= graceMs ? CHECK_INTERVAL_MS : Math.min(CHECK_INTERVAL_MS, graceMs - silentMs));
}

function forget({ heartbeats, unmarked }: Known, name: string): Pass {
  heartbeats.forget(name);
  unmarked.delete(name);
  return done;
}

async function becomeUnknown(context: KubeControllerContext, known: Known, node: Node): Promise<Pass> {
  const { name } = node.metadata;
  const conditions = unknownConditions(node, timestamp(context.clock));
  const updated = await context.client.update(nodes, { ...node, status: { ...node.status, conditions } }, { subresource: "status" });
  if (!updated.ok) return passOf(updated);
  context.record({ regarding: node, type: "Normal", reason: "NodeNotReady", note: `Node ${name} status is now: NodeNotReady` });
  known.unmarked.add(name);
  return markPods(context, known, name);
}

async function markPods(context: KubeControllerContext, { podsOf, unmarked }: Known, name: string): Promise<Pass> {
  const marked = await markPodsUnready(context, podsOf(name).filter(isPodReady));
  if (marked.ok) unmarked.delete(name);
  return passOf(marked);
}

function readyOf({ status }: Node): NodeCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

const WATCHED = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

function unknownConditions({ status, metadata }: Node, now: string): readonly NodeCondition[] {
  const known = status?.conditions ?? [];
  const others = known.filter(({ type }) => !WATCHED.some((watched) => watched === type));
  const silent = WATCHED.map((type): NodeCondition => {
    const before = known.find((condition) => condition.type === type);
    if (before === undefined) {
      const never = { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
      return { type, status: "Unknown", ...never, lastHeartbeatTime: metadata.creationTimestamp ?? now, lastTransitionTime: now };
    }
    if (before.status === "Unknown") return before;
    return {
      ...before,
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: now,
    };
  });
  return [...others, ...silent];
}

const OURS = new Set([NODE_NOT_READY, NODE_UNREACHABLE, NODE_UNSCHEDULABLE]);

/** Existing taints keep their time: evictions are counted from it. */
export function taintsFor({ spec, status }: Node, now: string): readonly Taint[] {
  const known = spec?.taints ?? [];
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "False";
  const key = ready === "Unknown" ? NODE_UNREACHABLE : NODE_NOT_READY;
  const wanted: Taint[] =
    ready === "True"
      ? []
      : [
          { key, effect: NO_SCHEDULE },
          { key, effect: NO_EXECUTE, timeAdded: now },
        ];
  if (spec?.unschedulable === true) wanted.push({ key: NODE_UNSCHEDULABLE, effect: NO_SCHEDULE });
  const same = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
  const kept = known.filter((taint) => !OURS.has(taint.key) || wanted.some((one) => same(one, taint)));
  return [...kept, ...wanted.filter((one) => !kept.some((taint) => same(one, taint)))];
}

/** Pods on a node without heartbeats get no traffic, whatever their last status. */
async function markPodsUnready({ client, clock, record }: KubeControllerContext, pods: readonly Pod[]) {
  const condition = { type: "Ready", status: "False", lastTransitionTime: timestamp(clock) };
  const answers = await Promise.all(
    pods.map((pod) => {
      record({ regarding: pod, type: "Warning", reason: "NodeNotReady", note: "Node is not ready" });
      const { namespace, name } = pod.metadata;
      return client.patch(
        podResource,
        { namespace, name },
        { type: "strategic", patch: { status: { conditions: [condition] } } },
        { subresource: "status" },
      );
    }),
  );
  return answers.find((answer) => !answer.ok && answer.error.kind !== "not-found") ?? { ok: true as const, value: undefined };
}
