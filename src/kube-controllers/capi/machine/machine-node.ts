/** The Node of a machine in the child: found by provider id, marked with annotations, deleted with the machine. */
import { ok, type Result } from "#base";
import { keyOf, nodes, type Node } from "#kube";
import type { KubeError } from "#kube-client";
import type { CapiWork } from "../capi-work.ts";
import { nodeNameOf, providerIdOf, type CapiObject } from "../objects.ts";
import { controllerOf } from "../../workloads/pods/owners.ts";
import type { MachineParts, NodeKnowledge } from "./machine-parts.ts";

export function nodeOf(
  work: CapiWork,
  machine: CapiObject,
  cluster: CapiObject,
): { readonly node: Node | undefined; readonly knowledge: NodeKnowledge } {
  const child = work.children.view(keyOf(cluster));
  if (child === undefined || !child.hasNodes) return { node: undefined, knowledge: "unknown" };
  const id = providerIdOf(machine);
  const name = nodeNameOf(machine);
  const node = (name === undefined ? undefined : child.nodeByName(name)) ?? (id === undefined ? undefined : child.nodeByProviderId(id));
  return { node, knowledge: child.connected ? "known" : "unknown" };
}

/** Annotations by which tools find the machine of a Node. */
export async function markNode(
  work: CapiWork,
  machine: CapiObject,
  { cluster, node, knowledge }: MachineParts,
): Promise<Result<unknown, KubeError>> {
  if (node === undefined || knowledge === "unknown") return ok(undefined);
  const owner = controllerOf(machine);
  const annotations: Record<string, string> = {
    "cluster.x-k8s.io/cluster-name": cluster.metadata.name,
    "cluster.x-k8s.io/cluster-namespace": cluster.metadata.namespace ?? "",
    "cluster.x-k8s.io/machine": machine.metadata.name,
    ...(owner === undefined ? {} : { "cluster.x-k8s.io/owner-kind": owner.kind, "cluster.x-k8s.io/owner-name": owner.name }),
  };
  const have = node.metadata.annotations ?? {};
  if (Object.entries(annotations).every(([key, value]) => have[key] === value)) return ok(undefined);
  const child = work.children.view(keyOf(cluster));
  if (child === undefined) return ok(undefined);
  const patched = await child.client.patch(nodes, keyOf(node), { type: "merge", patch: { metadata: { annotations } } });
  // the annotations are repeated with the next change of the Node; a child that is gone must not stop the machine
  return patched.ok ? patched : ok(undefined);
}
