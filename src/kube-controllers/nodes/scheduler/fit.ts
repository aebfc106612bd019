/** Whether a Pod can run on a node, and if not, why: with the messages of kube-scheduler's filters, in its order. Pure. */
import { memoizeByObject } from "#base";
import type { Node, Pod } from "#kube";
import { matchesNode } from "../../workloads/placement/node-affinity.ts";
import { amounts, podRequests, type ResourceAmounts } from "../../workloads/placement/requests.ts";
import { NO_EXECUTE, NO_SCHEDULE, NODE_UNSCHEDULABLE, tolerates, untolerated } from "../../workloads/placement/taints.ts";
import type { Ledger } from "./ledger.ts";
import type { Refusal } from "./message.ts";
import { podAffinityCheck, type Surroundings } from "./pod-affinity.ts";

/** A check of one node after the other for this Pod. What is the same for all nodes is computed once. */
export function fitCheck(pod: Pod, surroundings: Surroundings): (node: Node) => Refusal | undefined {
  const { ledger } = surroundings;
  const refusedByAffinity = podAffinityCheck(pod, surroundings);
  const ports = hostPorts(pod);
  return (node) =>
    unschedulable(pod, node) ??
    tainted(pod, node) ??
    unselected(pod, node) ??
    portsTaken(ports, node, ledger) ??
    lacking(pod, node, ledger) ??
    refusedByAffinity(node);
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

function portsTaken(wanted: readonly string[], { metadata: { name } }: Node, ledger: Ledger): Refusal | undefined {
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

/** Cached: every Pod is checked on every node. */
const allocatableOf = memoizeByObject(({ status }: Node): ResourceAmounts => amounts(status?.allocatable));

function lacking(pod: Pod, node: Node, ledger: Ledger): Refusal | undefined {
  const { name } = node.metadata;
  const allocatable = allocatableOf(node);
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

function fixed(reason: string): Refusal {
  return { reasons: [reason], movable: false };
}
