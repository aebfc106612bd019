/** Whether a Pod can run on a node, and if not, why: with the messages of kube-scheduler's filters, in its order. Pure. */
import { matches, requirementsOf, type Node, type Pod, type PodAffinityTerm } from "#kube";
import { matchesNode } from "../../workloads/placement/node-affinity.ts";
import { amounts, podRequests } from "../../workloads/placement/requests.ts";
import { NO_EXECUTE, NO_SCHEDULE, NODE_UNSCHEDULABLE, tolerates, untolerated } from "../../workloads/placement/taints.ts";
import type { Ledger } from "./ledger.ts";

/** `movable`: other Pods prevent it. Otherwise no eviction would help. */
export type Refusal = { readonly reasons: readonly string[]; readonly movable: boolean };

export type Surroundings = { readonly ledger: Ledger; readonly nodes: readonly Node[] };

export function refusalOf(pod: Pod, node: Node, surroundings: Surroundings): Refusal | undefined {
  return (
    unschedulable(pod, node) ??
    tainted(pod, node) ??
    unselected(pod, node) ??
    portsTaken(pod, node, surroundings.ledger) ??
    lacking(pod, node, surroundings.ledger) ??
    unfriendly(pod, node, surroundings)
  );
}

function unschedulable({ spec }: Pod, node: Node): Refusal | undefined {
  const taint = { key: NODE_UNSCHEDULABLE, effect: NO_SCHEDULE };
  const refused = node.spec?.unschedulable === true && !(spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));
  return refused ? fixed("node(s) were unschedulable") : undefined;
}

function tainted({ spec }: Pod, node: Node): Refusal | undefined {
  const taint = untolerated(node.spec?.taints ?? [], spec.tolerations ?? [], [NO_SCHEDULE, NO_EXECUTE]);
  return taint === undefined ? undefined : fixed("node(s) had untolerated taint(s)");
}

function unselected({ spec }: Pod, node: Node): Refusal | undefined {
  return matchesNode(spec, node) ? undefined : fixed("node(s) didn't match Pod's node affinity/selector");
}

function portsTaken(pod: Pod, { metadata: { name } }: Node, ledger: Ledger): Refusal | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = new Set(ledger.podsOn(name).flatMap(hostPorts));
  const clash = wanted.some((port) => taken.has(port));
  return clash ? { reasons: ["node(s) didn't have free ports for the requested pod ports"], movable: true } : undefined;
}

function hostPorts({ spec }: Pod): readonly string[] {
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, protocol = "TCP" }) => (hostPort === undefined || hostPort === 0 ? [] : [`${protocol}/${hostPort}`])),
  );
}

function lacking(pod: Pod, node: Node, ledger: Ledger): Refusal | undefined {
  const { name } = node.metadata;
  const allocatable = amounts(node.status?.allocatable);
  const used = ledger.used(name);
  const limit = allocatable.get("pods");
  const reasons = limit !== undefined && BigInt(ledger.count(name) + 1) * 1_000_000_000n > limit ? ["Too many pods"] : [];
  let movable = true;
  for (const [resource, asked] of podRequests(pod)) {
    const whole = allocatable.get(resource) ?? 0n;
    if (asked === 0n || asked + (used.get(resource) ?? 0n) <= whole) continue;
    reasons.push(`Insufficient ${resource}`);
    if (asked > whole) movable = false;
  }
  return reasons.length === 0 ? undefined : { reasons, movable };
}

/** Required (anti-)affinity to other Pods. Both directions for "anti": an existing Pod may exclude the new one. */
function unfriendly(pod: Pod, node: Node, surroundings: Surroundings): Refusal | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const near = (term: PodAffinityTerm, owner: Pod) => (other: Pod) => isMeant(term, owner, other);
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    // the first Pod of its group may run on any node with the topology label: otherwise none could start
    const found =
      domainPods(term, node, surroundings).some(near(term, pod)) ||
      (isFirst(term, pod, surroundings) && labelOf(node, term.topologyKey) !== undefined);
    if (!found) return fixed("node(s) didn't match pod affinity rules");
  }
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (domainPods(term, node, surroundings).some(near(term, pod)))
      return { reasons: ["node(s) didn't match pod anti-affinity rules"], movable: true };
  }
  const refused = choosyPods(surroundings).some(({ other, at }) =>
    (other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
      (term) => isMeant(term, other, pod) && sameDomain(term, at, node),
    ),
  );
  return refused ? { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], movable: true } : undefined;
}

function isMeant({ labelSelector, namespaces = [] }: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  const { namespace = "" } = other.metadata;
  const inNamespace = namespaces.length === 0 ? namespace === owner.metadata.namespace : namespaces.includes(namespace);
  return inNamespace && labelSelector !== undefined && matches(requirementsOf(labelSelector), other.metadata.labels);
}

function isFirst(term: PodAffinityTerm, pod: Pod, { ledger, nodes }: Surroundings): boolean {
  return isMeant(term, pod, pod) && !nodes.some(({ metadata }) => ledger.podsOn(metadata.name).some((other) => isMeant(term, pod, other)));
}

function domainPods(term: PodAffinityTerm, node: Node, { ledger, nodes }: Surroundings): readonly Pod[] {
  return nodes.filter((other) => sameDomain(term, other, node)).flatMap(({ metadata }) => ledger.podsOn(metadata.name));
}

/** Most Pods have no affinity, and need no check. */
function choosyPods({ ledger, nodes }: Surroundings): readonly { readonly other: Pod; readonly at: Node }[] {
  return nodes.flatMap((at) =>
    ledger.podsOn(at.metadata.name).flatMap((other) => (other.spec.affinity === undefined ? [] : [{ other, at }])),
  );
}

function sameDomain({ topologyKey }: PodAffinityTerm, a: Node, b: Node): boolean {
  const value = labelOf(a, topologyKey);
  return value !== undefined && value === labelOf(b, topologyKey);
}

function labelOf({ metadata: { labels = {} } }: Node, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function fixed(reason: string): Refusal {
  return { reasons: [reason], movable: false };
}
