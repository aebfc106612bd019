/** Evicts Pods from nodes with NoExecute taints that they do not tolerate, or tolerate only for a while. */
import { timestamp } from "#base";
import { keyText, nodes, parseKey, pods as podResource, type Node, type Pod, type Taint, type Toleration } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { NO_EXECUTE, tolerates } from "../../workloads/placement/taints.ts";
import { timeOf } from "../../workloads/pods/pod-state.ts";

export const taintEvictionController: KubeController = {
  name: "taint-eviction-controller",
  start(context) {
    const { informers } = context;
    const pods = informers.of(podResource);
    const queue = context.work({ name: "taint-eviction", pass: (key) => pass(context, key) });
    informers.subscribe(nodes, ({ key, before, after }) => {
      if (executing(before).length === 0 && executing(after).length === 0) return;
      for (const { metadata, spec } of pods.list()) if (spec.nodeName === key.name) queue.add(keyText(metadata));
    });
    informers.subscribe(podResource, ({ key, after }) => {
      const node = after?.spec.nodeName;
      if (node !== undefined && executing(informers.of(nodes).get({ name: node })).length > 0) queue.add(keyText(key));
    });
  },
};

function executing(node: Node | undefined): readonly Taint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === NO_EXECUTE);
}

async function pass(context: KubeControllerContext, key: string): Promise<Pass> {
  const { informers, clock } = context;
  const pod = informers.of(podResource).get(parseKey(key));
  if (pod?.spec.nodeName === undefined || pod.metadata.deletionTimestamp !== undefined) return done;
  const taints = executing(informers.of(nodes).get({ name: pod.spec.nodeName }));
  const evictAt = evictionTime(taints, pod.spec.tolerations ?? [], clock.now());
  if (evictAt === undefined) return done;
  return evictAt > clock.now() ? again(evictAt - clock.now()) : evict(context, pod);
}

/** Undefined: it may stay. The shortest toleration counts, from the time of the first taint. */
export function evictionTime(taints: readonly Taint[], tolerations: readonly Toleration[], now: number): number | undefined {
  if (taints.length === 0) return undefined;
  const used = taints.map((taint) => tolerations.filter((toleration) => tolerates(toleration, taint)));
  if (used.some((matching) => matching.length === 0)) return now;
  const seconds = used.flat().flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  if (seconds.length === 0) return undefined;
  const since = Math.min(...taints.map(({ timeAdded }) => (timeAdded === undefined ? now : timeOf(timeAdded))));
  return since + Math.max(0, Math.min(...seconds)) * 1_000;
}

async function evict({ client, clock, record }: KubeControllerContext, pod: Pod): Promise<Pass> {
  const { namespace = "", name, uid = "" } = pod.metadata;
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: timestamp(clock),
  };
  record({ regarding: pod, type: "Normal", reason: "TaintManagerEviction", note: `Marking for deletion Pod ${namespace}/${name}` });
  const patch = { metadata: { uid }, status: { conditions: [condition] } };
  const reported = await client.patch(podResource, { namespace, name }, { type: "strategic", patch }, { subresource: "status" });
  if (!reported.ok) return reported.error.kind === "not-found" ? done : passOf(reported);
  return passOf(await client.delete(podResource, { namespace, name }, { preconditions: { uid } }));
}
