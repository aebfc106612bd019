/**
 * Binds Pods to nodes. One at a time: two concurrent decisions could both use the last resources.
 *
 * A Pod that fits nowhere gets a condition and waits until a node, a Pod or a claim changes. It is not retried on a timer.
 */
import { timestamp } from "#base";
import {
  bindings,
  jsonEqual,
  keyText,
  nodes as nodeResource,
  parseKey,
  persistentVolumeClaims,
  pods,
  type Json,
  type Node,
  type Pod,
} from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { isPodActive, isPodOver, podCondition } from "../../workloads/pods/pod-state.ts";
import { affinityTerms } from "./affinity-terms.ts";
import { fitCheck } from "./fit.ts";
import { Ledger } from "./ledger.ts";
import { blockedMessage, unschedulableMessage, type Refusal } from "./message.ts";

const SCHEDULER_NAME = "default-scheduler";
const RECHECK_MS = 1_000;

export const scheduler: KubeController = {
  name: SCHEDULER_NAME,
  start(context) {
    const { informers } = context;
    const desk = new PodScheduler(context);
    const queue = context.work({ name: "scheduler", pass: (key) => desk.pass(key), concurrency: 1 });
    const retry = () => desk.takeWaiting().forEach((key) => queue.add(key));
    informers.subscribe(pods, ({ key, before, after }) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) desk.ledger.forget(before);
      if (after !== undefined) desk.ledger.see(after);
      if (after !== undefined && isWaiting(after)) queue.add(keyText(key));
      else if (freesRoom(before, after)) retry();
      else if (isPlacedAnew(before, after)) desk.takeWaitingForPods().forEach((waiting) => queue.add(waiting));
    });
    informers.subscribe(nodeResource, ({ before, after }) => {
      if (before === undefined || after === undefined || changesRoom(before, after)) retry();
    });
    informers.subscribe(persistentVolumeClaims, retry);
  },
};

function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulerName = SCHEDULER_NAME, schedulingGates = [] } = pod.spec;
  return (nodeName ?? "") === "" && schedulerName === SCHEDULER_NAME && schedulingGates.length === 0 && isPodActive(pod);
}

function isPlaced(pod: Pod | undefined): pod is Pod {
  return pod !== undefined && (pod.spec.nodeName ?? "") !== "" && !isPodOver(pod);
}

function freesRoom(before: Pod | undefined, after: Pod | undefined): boolean {
  return isPlaced(before) && (!isPlaced(after) || before.metadata.uid !== after.metadata.uid);
}

/** It was bound, or has other labels: a Pod that wants to run near it may now find a node. */
function isPlacedAnew(before: Pod | undefined, after: Pod | undefined): boolean {
  return isPlaced(after) && (!isPlaced(before) || !jsonEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}));
}

/** Heartbeats do not affect waiting Pods. */
function changesRoom(before: Node, after: Node): boolean {
  const room = ({ metadata, spec, status }: Node) => JSON.stringify([metadata.labels, spec, status?.allocatable]);
  return room(before) !== room(after);
}

class PodScheduler {
  readonly ledger = new Ledger();
  readonly #context: KubeControllerContext;
  /** Keys of Pods that fit nowhere. */
  readonly #waiting = new Set<string>();
  /** Those of them that must run near other Pods. */
  readonly #waitingForPods = new Set<string>();

  constructor(context: KubeControllerContext) {
    this.#context = context;
  }

  takeWaiting(): readonly string[] {
    const keys = [...this.#waiting];
    this.#waiting.clear();
    this.#waitingForPods.clear();
    return keys;
  }

  takeWaitingForPods(): readonly string[] {
    const keys = [...this.#waitingForPods];
    for (const key of keys) this.#waiting.delete(key);
    this.#waitingForPods.clear();
    return keys;
  }

  async pass(key: string): Promise<Pass> {
    const { informers } = this.#context;
    const pod = informers.of(pods).get(parseKey(key));
    if (pod === undefined || !isWaiting(pod)) return done;
    const nodes = informers.of(nodeResource).list();
    const blocked = this.#blockedByClaims(pod);
    if (blocked !== undefined) return this.#refuse(key, pod, blockedMessage(nodes.length, blocked));
    const refusalOn = fitCheck(pod, { ledger: this.ledger, nodes });
    const refusals: Refusal[] = [];
    let chosen: Node | undefined;
    for (const node of nodes) {
      const refusal = refusalOn(node);
      if (refusal !== undefined) refusals.push(refusal);
      else if (chosen === undefined || this.#isLessUsed(node, chosen)) chosen = node;
    }
    return chosen === undefined ? this.#refuse(key, pod, unschedulableMessage(refusals)) : this.#bind(pod, chosen);
  }

  #isLessUsed({ metadata: a }: Node, { metadata: b }: Node): boolean {
    return (this.ledger.count(a.name) - this.ledger.count(b.name) || (a.name < b.name ? -1 : 1)) < 0;
  }

  #blockedByClaims({ metadata: { namespace }, spec }: Pod): string | undefined {
    const claims = this.#context.informers.of(persistentVolumeClaims);
    for (const { persistentVolumeClaim } of spec.volumes ?? []) {
      if (persistentVolumeClaim === undefined) continue;
      const claim = claims.get({ namespace, name: persistentVolumeClaim.claimName });
      if (claim === undefined) return `persistentvolumeclaim "${persistentVolumeClaim.claimName}" not found`;
      if (claim.status?.phase !== "Bound") return "pod has unbound immediate PersistentVolumeClaims";
    }
    return undefined;
  }

  async #bind(pod: Pod, node: Node): Promise<Pass> {
    const { client, record } = this.#context;
    const { name, namespace = "", uid = "" } = pod.metadata;
    const target = { apiVersion: "v1", kind: "Node", name: node.metadata.name };
    this.ledger.book(uid, target.name, pod);
    const bound = await client.create(bindings, { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target });
    // the response to a binding is a Status, which the client cannot parse as a Binding; the Pod is read to see whether it was bound
    if (bound.ok || bound.error.kind === "protocol") {
      record({ regarding: pod, type: "Normal", reason: "Scheduled", note: `Successfully assigned ${namespace}/${name} to ${target.name}` });
      return again(RECHECK_MS);
    }
    this.ledger.forget(pod);
    // bound by another scheduler, or deleted
    return bound.error.kind === "conflict" || bound.error.kind === "not-found" ? done : passOf(bound);
  }

  async #refuse(key: string, pod: Pod, message: string): Promise<Pass> {
    const { client, clock, record } = this.#context;
    this.#waiting.add(key);
    if (affinityTerms(pod).length > 0) this.#waitingForPods.add(key);
    const known = podCondition(pod, "PodScheduled");
    if (known?.reason === "Unschedulable" && known.message === message) return done;
    record({ regarding: pod, type: "Warning", reason: "FailedScheduling", note: message });
    const lastTransitionTime = known?.status === "False" ? (known.lastTransitionTime ?? timestamp(clock)) : timestamp(clock);
    const condition: Json = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    const { namespace, name, uid = "" } = pod.metadata;
    const patch = { metadata: { uid }, status: { conditions: [condition] } };
    const patched = await client.patch(pods, { namespace, name }, { type: "strategic", patch }, { subresource: "status" });
    return patched.ok || patched.error.kind !== "not-found" ? passOf(patched) : done;
  }
}
