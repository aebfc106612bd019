/**
 * Evicts the Pods of a Node before its machine goes, so that their controllers replace them elsewhere at once: the operator of a cluster that replaces its
 * own machines runs on one of them. Pods of DaemonSets stay, and a PodDisruptionBudget delays the drain.
 */
import { defineResource, isBeingDeleted, nodes, pods, type KubeObject, type Pod } from "#kube";
import type { KubeClient } from "#kube-client";
import { controllerOf } from "../../workloads/pods/owners.ts";

/** Whether Pods are left. A Node that cannot be read is not drained. */
export async function drainNode(client: KubeClient, name: string): Promise<boolean> {
  const listed = await client.list(pods, { fieldSelector: `spec.nodeName=${name}` });
  if (!listed.ok) return false;
  const left = listed.value.items.filter(isEvicted);
  if (left.length === 0) return false;
  await client.patch(nodes, { name }, { type: "merge", patch: { spec: { unschedulable: true } } });
  for (const pod of left) if (!isBeingDeleted(pod)) await evict(client, pod);
  return true;
}

/** One that has ended needs no other Node, and one of a DaemonSet would be made again on this one. */
function isEvicted(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase !== "Succeeded" && phase !== "Failed" && controllerOf(pod)?.kind !== "DaemonSet";
}

/** A refusal is repeated with the next pass. */
async function evict(client: KubeClient, { metadata: { name, namespace } }: Pod): Promise<void> {
  const evictions = defineResource<KubeObject>({
    group: "",
    version: "v1",
    kind: "Eviction",
    plural: `pods/${name}/eviction`,
    namespaced: true,
  });
  const eviction: KubeObject = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  };
  await client.create(evictions, eviction);
}
