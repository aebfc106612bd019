/**
 * Evicts Pods from nodes with NoExecute taints that they do not tolerate, or tolerate only for a while.
 *
 * As in kube-controller-manager, the time is counted from when this process first observed the Pod on the tainted node, and not from the
 * time in the taint: after the whole cluster was down, a node gets time to report before its Pods are evicted.
 */
import { timestamp } from "#base";
import { keyText, nodes, parseKey, pods as podResource, type Node, type Pod, type Taint, type Toleration } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { podsOnNode } from "../../pods/pods-on-node.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { NO_EXECUTE, tolerates } from "../../workloads/placement/taints.ts";

/** By uid of a Pod: since when it is on a tainted node, by the monotonic clock. */
type Since = Map<string, number>;

export const taintEvictionController: KubeController = {
  name: "taint-eviction-controller",
  start(context) {
    const { informers } = context;
    const podsOf = podsOnNode(informers);
    const since: Since = new Map();
    const queue = context.work({ name: "taint-eviction", pass: (key) => pass(context, since, key) });
    informers.subscribe(nodes, ({ key, before, after }) => {
      if (executing(before).length === 0 && executing(after).length === 0) return;
      for (const { metadata } of podsOf(key.name)) queue.add(keyText(metadata));
    });
    informers.subscribe(podResource, ({ key, before, after }) => {
      const { uid } = before?.metadata ?? {};
      if (uid !== undefined && uid !== after?.metadata.uid) since.delete(uid);
      const node = after?.spec.nodeName;
      if (node !== undefined && executing(informers.of(nodes).get({ name: node })).length > 0) queue.add(keyText(key));
    });
  },
};

function executing(node: Node | undefined): readonly Taint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === NO_EXECUTE);
}

async function pass(context: KubeControllerContext, observed: Since, key: string): Promise<Pass> {
  const { informers, clock } = context;
  const pod = informers.of(podResource).get(parseKey(key));
  if (pod?.spec.nodeName === undefined || pod.metadata.deletionTimestamp !== undefined) return done;
  const { uid = "" } = pod.metadata;
  const toleratedMs = tolerationMs(executing(informers.of(nodes).get({ name: pod.spec.nodeName })), pod.spec.tolerations ?? []);
  if (toleratedMs === undefined) {
    observed.delete(uid);
    return done;
  }
  const now = clock.monotonic();
  const since = observed.get(uid) ?? now;
  observed.set(uid, since);
  const leftMs = since + toleratedMs - now;
  return leftMs > 0 && toleratedMs > 0 ? again(leftMs) : evict(context, pod);
}

/** How long a Pod may stay: undefined for ever, 0 if it does not tolerate all taints. The shortest toleration counts. */
export function tolerationMs(taints: readonly Taint[], tolerations: readonly Toleration[]): number | undefined {
  const used = taints.map((taint) => tolerations.filter((toleration) => tolerates(toleration, taint)));
  if (used.some((matching) => matching.length === 0)) return 0;
  const seconds = used.flat().flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  return seconds.length === 0 ? undefined : Math.max(0, Math.min(...seconds)) * 1_000;
}

async function evict({ client, clock, record }: KubeControllerContext, pod: Pod): Promise<Pass> {
  const { namespace = "", name, uid = "", generation } = pod.metadata;
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: timestamp(clock),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  record({ regarding: pod, type: "Normal", reason: "TaintManagerEviction", note: `Marking for deletion Pod ${namespace}/${name}` });
  const patch = { metadata: { uid }, status: { conditions: [condition] } };
  const reported = await client.patch(podResource, { namespace, name }, { type: "strategic", patch }, { subresource: "status" });
  if (!reported.ok) return reported.error.kind === "not-found" ? done : passOf(reported);
  return passOf(await client.delete(podResource, { namespace, name }, { preconditions: { uid } }));
}
