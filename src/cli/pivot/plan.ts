/** `lattice pivot plan NAME`: what the pivot of a child moves, in which batches, what it does not move, and why it would be refused. */
import { err, ok, type Result } from "#base";
import { planNamespaceMove, type MoveOptions, type ObjectOutline } from "#pivot";
import type { KubeClient } from "#kube-client";
import { reportMoveFailure } from "../move/failure-text.ts";
import { planJson, planText } from "../move/plan-text.ts";
import type { CommandIo, ExitCode } from "../io.ts";
import { connectChild, pivotNamespace, readLatticeCluster } from "./child.ts";

export type PivotTarget = { readonly client: KubeClient; readonly name: string; readonly output: "text" | "json" };

export async function printPivotPlan(io: CommandIo, { client, name, output }: PivotTarget): Promise<Result<ExitCode, string>> {
  const cluster = await readLatticeCluster(client, name, io.signal);
  if (!cluster.ok) return cluster;
  const child = await connectChild(io, client, name);
  if (!child.ok) return child;
  const namespace = pivotNamespace(name);
  if (child.value === undefined) {
    const owner = cluster.value.status?.ownedBy === "self" ? "it owns itself already" : "it is not provisioned far enough";
    return err(`cluster ${name} has no Secret ${namespace}/${name}-kubeconfig on this cluster: ${owner}; see lattice pivot status ${name}`);
  }
  try {
    const plan = await planNamespaceMove(planOptions(io, { source: client, target: child.value, namespace, name }));
    if (!plan.ok) return ok(reportMoveFailure(io, { output }, plan.error));
    io.stdout(output === "json" ? `${JSON.stringify(planJson(namespace, plan.value), null, 2)}\n` : planText(namespace, plan.value));
    return ok(plan.value.problems.length === 0 || plan.value.unfinished !== undefined ? 0 : 1);
  } finally {
    await child.value.close();
  }
}

type Ends = Pick<MoveOptions, "source" | "target" | "namespace"> & { readonly name: string };

function planOptions(io: CommandIo, { name, ...ends }: Ends): MoveOptions {
  return {
    ...ends,
    identity: io.hostname,
    clock: io.clock,
    random: io.random,
    signal: io.signal,
    waitMs: 0,
    leaseMs: 15_000,
    onWait: () => {},
    report: () => {},
    onlyCluster: name,
    // each side has its own kubeconfig
    leftToTarget: ({ kind, metadata }: ObjectOutline) => kind === "Secret" && metadata.name === `${name}-kubeconfig`,
  };
}
