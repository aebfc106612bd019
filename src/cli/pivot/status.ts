/** `lattice pivot status NAME`: what both sides have recorded, who owns, and what to do next. Exit code 1: the owner is in doubt. */
import { err, ok, sleep, type Result } from "#base";
import { findCondition } from "#kube";
import { readMoveState, type MoveFailure, type MoveState } from "#pivot";
import type { KubeClient } from "#kube-client";
import type { CommandIo, ExitCode } from "../io.ts";
import { connectChild, pivotNamespace, readLatticeCluster } from "./child.ts";
import type { PivotTarget } from "./plan.ts";
import { pivotSummary, type PivotFacts } from "./summary.ts";

const CHILD_MS = 10_000;

export async function printPivotStatus(io: CommandIo, { client, name, output }: PivotTarget): Promise<Result<ExitCode, string>> {
  const cluster = await readLatticeCluster(client, name, io.signal);
  if (!cluster.ok) return cluster;
  const parent = await stateOf(io, client, name);
  if (!parent.ok) return err(parent.error.message);
  const child = await childState(io, client, name);
  const facts: PivotFacts = { cluster: cluster.value, parent: parent.value, child };
  const summary = pivotSummary(facts);
  io.stdout(output === "json" ? `${JSON.stringify(jsonOf(facts, summary), null, 2)}\n` : textOf(facts, summary));
  return ok(summary.owner === "in doubt" ? 1 : 0);
}

/** A child that answers late is one that does not answer: this command is run while something is wrong. */
async function childState(io: CommandIo, client: KubeClient, name: string): Promise<MoveState | string | undefined> {
  const child = await connectChild(io, client, name);
  if (!child.ok || child.value === undefined) return child.ok ? undefined : child.error;
  const ended = new AbortController();
  const signal = AbortSignal.any([io.signal, ended.signal]);
  try {
    const late = sleep(io.clock, CHILD_MS, signal).then(() => `it has not answered within ${CHILD_MS / 1_000} seconds`);
    const answered = stateOf({ ...io, signal }, child.value, name).then((found) => (found.ok ? found.value : found.error.message));
    return await Promise.race([answered, late]);
  } finally {
    ended.abort();
    await child.value.close();
  }
}

function stateOf({ clock, random, signal }: CommandIo, client: KubeClient, name: string): Promise<Result<MoveState, MoveFailure>> {
  return readMoveState({ client, namespace: pivotNamespace(name), clock, random, signal });
}

function textOf({ cluster, parent, child }: PivotFacts, { owner, next }: ReturnType<typeof pivotSummary>): string {
  const { name } = cluster.metadata;
  const { phase = "unknown", pivot } = cluster.status ?? {};
  const condition = findCondition(cluster.status?.conditions, "Pivoting");
  const counts = pivot?.total === undefined ? "" : `, ${pivot.moved ?? 0} of ${pivot.total} objects`;
  return [
    `cluster ${name}: phase ${phase}, owner: ${owner}\n`,
    ...(pivot?.step === undefined
      ? []
      : [`pivot: ${pivot.step}${counts}${pivot.finishedAt === undefined ? "" : `, finished ${pivot.finishedAt}`}\n`]),
    ...(condition === undefined ? [] : [`condition Pivoting: ${condition.status} (${condition.reason}): ${condition.message}\n`]),
    `parent: ${sideText(parent)}\n`,
    `child: ${typeof child === "object" ? sideText(child) : (child ?? "no kubeconfig of it on this cluster")}\n`,
    `next: ${next}\n`,
  ].join("");
}

function sideText({ journal, record, exported }: MoveState): string {
  const what = exported ? "export" : "move";
  const left = journal === undefined ? "no journal" : `journal of ${what} ${journal.id}, ${journal.phase}, since ${journal.startedAt}`;
  if (record === undefined) return `${left}, no record`;
  const ended = record.finishedAt === "" ? "" : `, finished ${record.finishedAt}`;
  return `${left}; record of move ${record.id}, ${record.state}, epoch ${record.epoch}, ${record.objects} objects${ended}`;
}

function jsonOf({ cluster, parent, child }: PivotFacts, summary: ReturnType<typeof pivotSummary>) {
  const side = ({ journal, record, exported, ownership }: MoveState) => ({
    journal:
      journal === undefined ? null : { id: journal.id, phase: journal.phase, epoch: journal.epoch, startedAt: journal.startedAt, exported },
    record: record ?? null,
    ownership,
  });
  return {
    name: cluster.metadata.name,
    ...summary,
    phase: cluster.status?.phase ?? null,
    pivot: cluster.status?.pivot ?? null,
    parent: side(parent),
    child: typeof child === "object" ? side(child) : { error: child ?? "no kubeconfig" },
  };
}
