/** What an agent reports about its cluster: its nodes by pool, and its state. Pure. */
import { DEFAULT_POOL, POOL_LABEL } from "#cluster-compiler";
import type { Node } from "#kube";
import type { AgentReport, AgentStateName } from "#link";

const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

export function nodeReport(nodes: readonly Node[], kubernetesVersion: string): AgentReport {
  const ready = nodes.filter(isReady);
  const pools = new Map<string, { readonly desired: number; readonly ready: number }>();
  for (const node of nodes) {
    const labels = node.metadata.labels ?? {};
    if (Object.hasOwn(labels, CONTROL_PLANE_LABEL)) continue;
    const name = labels[POOL_LABEL] ?? DEFAULT_POOL;
    const pool = pools.get(name) ?? { desired: 0, ready: 0 };
    pools.set(name, { desired: pool.desired + 1, ready: pool.ready + (isReady(node) ? 1 : 0) });
  }
  const health = { readyNodes: ready.length, totalNodes: nodes.length, conditions: [], kubernetesVersion, pools };
  return { state: stateOf(ready.length, nodes.length), health };
}

function stateOf(ready: number, total: number): AgentStateName {
  if (ready === 0) return "Provisioning";
  return ready < total ? "Degraded" : "Ready";
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}
