/**
 * Binds Pods to nodes. One at a time: two concurrent decisions could both use the last resources.
 *
 * A Pod that fits nowhere gets a condition and waits until a node, a Pod or a claim changes. It is not retried on a timer.
 */
import { timestamp } from "#base";
import { bindings, keyText, nodes as nodeResource, parseKey, persistentVolumeClaims, pods, type Json, type Node, type Pod } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { isPodActive, podCondition } from "../../workloads/pods/pod-state.ts";
import { refusalOf } from "./fit.ts";
import { Ledger } from "./ledger.ts";
import { blockedMessage, unschedulableMessage } from "./message.ts";

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
      else if (before !== undefined && !isWaiting(before)) retry();
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

/** Heartbeats do not affect waiting Pods. */
function changesRoom(before: Node, after: Node): boolean {
  const room = ({ metadata, spec, status }: Node) => JSON.stringify([metadata.labels, spec, status?.allocatable]);
  return room(before) !== room(after);
}

class PodScheduler {
  readonly ledger = new Ledger();
  readonly #context: KubeControllerContext;
  readonly #waiting = new Set<string>();

  constructor(context: KubeControllerContext) {
    this.#context = context;
  }

  takeWaiting(): readonly string[] {
    const keys = [...this.#waiting];
    this.#waiting.clear();
    return keys;
  }

  async pass(key: string): Promise<Pass> {
    const { informers } = this.#context;
    const pod = informers.of(pods).get(parseKey(key));
    if (pod === undefined || !isWaiting(pod)) return done;
    const nodes = informers.of(nodeResource).list();
    const blocked = this.#blockedByClaims(pod);
    if (blocked !== undefined) return this.#refuse(key, pod, blockedMessage(nodes.length, blocked));
    const surroundings = { ledger: this.ledger, nodes };
    const tried = nodes.map((node) => ({ node, refusal: refusalOf(pod, node, surroundings) }));
    const fitting = tried.flatMap(({ node, refusal }) => (refusal === undefined ? [node] : []));
    const chosen = this.#leastUsed(fitting);
    if (chosen !== undefined) return this.#bind(pod, chosen);
    return this.#refuse(key, pod, unschedulableMessage(tried.flatMap(({ refusal }) => refusal ?? [])));
  }

  #leastUsed(nodes: readonly Node[]): Node | undefined {
    return nodes.toSorted(
      (a, b) => this.ledger.count(a.metadata.name) - this.ledger.count(b.metadata.name) || (a.metadata.name < b.metadata.name ? -1 : 1),
    )[0];
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
