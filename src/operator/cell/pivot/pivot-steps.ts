/**
 * The two moves of a child, each from its first step to its last. Both may be killed at any point: the next run of the same function continues, by what
 * both sides have (ADR 0023).
 */
import { ok, sleep } from "#base";
import { capiNamespace } from "#cluster-compiler";
import { latticeClusters } from "#crds";
import { capiClusters, configMaps, fieldAt, secretsByMetadata, type KubeObject } from "#kube";
import type { LinkError } from "#link";
import {
  abortNamespaceMove,
  abortWithoutTarget,
  MOVE_JOURNAL,
  MOVE_RECORD,
  moveNamespace,
  readMoveState,
  type MoveReport,
  type MoveState,
} from "#pivot";
import { copyToChild } from "./copy-cluster.ts";
import {
  isConnected,
  isReleased,
  moveOptions,
  problem,
  problemOfMove,
  problemOfRequest,
  unreachable,
  type PivotContext,
  type PivotResult,
} from "./pivot-context.ts";

/** An agent completes its bootstrap right after it has connected. */
const BOOTSTRAP_MS = 30_000;
const POLL_MS = 250;

/** `copy`: writes the LatticeCluster of the child. */
export async function pivotToChild(context: PivotContext, copy = copyToChild): PivotResult<MoveReport> {
  const prepared = await prepareChild(context);
  if (!prepared.ok) return prepared;
  context.report({ step: "copy-cluster" });
  const copied = await copy(context);
  if (!copied.ok) return copied;
  const moved = await moveNamespace(moveOptions(context, "to-child"));
  return moved.ok ? moved : problemOfMove(context, moved.error);
}

/** The agent creates what the child must have itself before objects arrive. */
async function prepareChild(context: PivotContext): PivotResult<void> {
  const { cluster, link, clock, signal } = context;
  const { name } = cluster.metadata;
  context.report({ step: "prepare" });
  const until = clock.monotonic() + BOOTSTRAP_MS;
  while (isConnected(context) && link.agents().get(name)?.bootstrapComplete !== true && clock.monotonic() < until) {
    if (!(await sleep(clock, POLL_MS, signal))) return { ok: false, error: undefined };
  }
  if (!isConnected(context)) return unreachable(context);
  if (link.agents().get(name)?.bootstrapComplete !== true) return problem("failed", "the agent has not completed its bootstrap");
  const order = { kind: "pivot", cluster: name, namespace: capiNamespace(name), resources: new Uint8Array() } as const;
  const sent = await link.send(name, order, signal);
  return sent.ok ? ok(undefined) : problemOfCommand(context, sent.error);
}

function problemOfCommand(context: PivotContext, { kind, message }: LinkError): Awaited<PivotResult<never>> {
  if (context.signal.aborted || kind === "aborted") return { ok: false, error: undefined };
  if (kind === "failed") return problem("refused", `the agent cannot prepare the cluster: ${message}`);
  return kind === "not-connected" ? unreachable(context, message) : problem("failed", message);
}

/** Undefined: nothing had to be taken back. */
export async function takeBack(context: PivotContext): PivotResult<MoveReport | undefined> {
  const { cluster } = context;
  const { name } = cluster.metadata;
  if (!isConnected(context)) return unreachable(context);
  const pivot = await endPivot(context);
  if (!pivot.ok) return pivot;
  if (isReleased(cluster)) return release(context);
  if (pivot.value === "aborted") return ok(undefined);
  const children = await childrenOf(context);
  if (!children.ok) return children;
  if (children.value.length > 0) {
    const names = children.value.slice(0, 10).join(", ");
    const more = children.value.length > 10 ? ` and ${children.value.length - 10} more` : "";
    return problem(
      "has-children",
      `${name} has clusters of its own: ${names}${more}; delete them there first, or move them to another parent`,
    );
  }
  const moved = await moveNamespace(moveOptions(context, "to-parent"));
  if (!moved.ok) return problemOfMove(context, moved.error);
  return moved.value.id === undefined ? takenBackBefore(context) : moved;
}

/** The child owns its objects in the end: what was taken back already is given back. */
async function release(context: PivotContext): PivotResult<MoveReport | undefined> {
  const { client, cluster, signal } = context;
  const { name } = cluster.metadata;
  const namespace = capiNamespace(name);
  const ended = await endTakeBack(context);
  if (!ended.ok) return ended;
  const own = await readMoveState({ ...context, namespace });
  if (!own.ok) return problemOfMove(context, own.error);
  if (own.value.ownership.state !== "owner") return ended;
  const found = await client.get(capiClusters, { namespace, name }, { signal });
  if (found.ok) return pivotToChild(context, copyWhereMissing);
  return found.error.kind === "not-found" ? ended : problemOfRequest(context, `Cluster ${name} could not be read`, found.error);
}

/** The child still has its LatticeCluster, which may be newer than the one that is deleted here. */
async function copyWhereMissing(context: PivotContext): PivotResult<void> {
  const { child, cluster, signal } = context;
  const { name } = cluster.metadata;
  const own = await child.get(latticeClusters, { name }, { signal });
  if (own.ok) return ok(undefined);
  if (own.error.kind === "not-found") return copyToChild(context);
  return problemOfRequest(context, `LatticeCluster ${name} of the child could not be read`, own.error);
}

/** A take-back that has begun is undone, so that the child owns itself again, or, when this cluster owns the objects already, finished. */
async function endTakeBack(context: PivotContext): PivotResult<MoveReport | undefined> {
  const namespace = capiNamespace(context.cluster.metadata.name);
  const source = await readMoveState({ ...context, client: context.child, namespace });
  if (!source.ok) return problemOfMove(context, source.error);
  const { journal } = source.value;
  if (journal === undefined) return forgetRevoked(context, source.value);
  const aborted = await abortNamespaceMove(moveOptions(context, "to-parent"));
  if (aborted.ok) return ok(undefined);
  if (aborted.error.kind !== "refused") return problemOfMove(context, aborted.error);
  const own = await readMoveState({ ...context, namespace });
  const isCommitted = own.ok && own.value.record?.id === journal.id && own.value.record.state === "committed";
  if (!isCommitted) return problem("refused", aborted.error.message);
  const finished = await moveNamespace(moveOptions(context, "to-parent"));
  return finished.ok ? finished : problemOfMove(context, finished.error);
}

/** The last write of an abort, which a run that was killed has not made: without the journal, no commit can follow. */
async function forgetRevoked(context: PivotContext, child: MoveState): PivotResult<undefined> {
  const { client, cluster, signal } = context;
  const { name } = cluster.metadata;
  const key = { namespace: capiNamespace(name), name: MOVE_RECORD };
  const record = await client.get<KubeObject>(configMaps, key, { signal });
  if (!record.ok && record.error.kind !== "not-found") return problemOfRequest(context, "the record could not be read", record.error);
  const state = record.ok ? fieldAt(record.value, "data", "state") : "committed";
  if (!record.ok || state === "committed") return ok(undefined);
  if (state !== "revoked" || child.ownership.state !== "owner") {
    const what = `ConfigMap ${key.namespace}/${MOVE_RECORD} of this cluster is of a move that ${name} has no journal of`;
    return problem("refused", `${what}; compare the objects of both, then delete it with the copies that are here`);
  }
  const { uid = "", resourceVersion = "" } = record.value.metadata;
  const forgotten = await client.delete(configMaps, key, { signal, preconditions: { uid, resourceVersion } });
  return forgotten.ok ? ok(undefined) : problemOfRequest(context, "the record could not be deleted", forgotten.error);
}

/** The child has no objects: a run that was killed after its last step has brought them here, or there are none. */
async function takenBackBefore(context: PivotContext): PivotResult<undefined> {
  const { client, cluster, signal } = context;
  const { name } = cluster.metadata;
  const own = await client.get(capiClusters, { namespace: capiNamespace(name), name }, { signal });
  if (own.ok) return ok(undefined);
  if (own.error.kind !== "not-found") return problemOfRequest(context, `Cluster ${name} could not be read`, own.error);
  const release = "set spec.deletion.unpivot to false to delete the resource without them";
  return problem("refused", `neither this cluster nor ${name} has a Cluster ${name}; ${release}`);
}

/** A pivot that has begun is undone, or, when the child may own the objects already, finished. */
async function endPivot(context: PivotContext): PivotResult<"none" | "aborted" | "finished"> {
  const { cluster, client, signal } = context;
  const namespace = capiNamespace(cluster.metadata.name);
  const journal = await client.get(secretsByMetadata, { namespace, name: MOVE_JOURNAL }, { signal });
  if (!journal.ok)
    return journal.error.kind === "not-found" ? ok("none") : problemOfRequest(context, "the journal could not be read", journal.error);
  const aborted = await abortNamespaceMove(moveOptions(context, "to-child"));
  if (aborted.ok) return ok("aborted");
  if (aborted.error.kind !== "refused") return problemOfMove(context, aborted.error);
  const finished = await moveNamespace(moveOptions(context, "to-child"));
  return finished.ok ? ok("finished") : problemOfMove(context, finished.error);
}

/**
 * Undoes a pivot on request. While the outcome is in doubt it is refused, with the reason of the specification; a pivot whose child owns the objects
 * already is finished instead. Undefined: nothing was left to undo.
 */
export async function abortPivot(context: PivotContext): PivotResult<MoveReport | undefined> {
  const namespace = capiNamespace(context.cluster.metadata.name);
  const own = await readMoveState({ ...context, namespace });
  if (!own.ok) return problemOfMove(context, own.error);
  const { journal } = own.value;
  if (journal === undefined) return ok(undefined);
  if (!isConnected(context)) return problem("refused", abortWithoutTarget(journal));
  const aborted = await abortNamespaceMove(moveOptions(context, "to-child"));
  if (aborted.ok) return ok(undefined);
  if (aborted.error.kind !== "refused") return problemOfMove(context, aborted.error);
  const child = await readMoveState({ ...context, client: context.child, namespace });
  const isCommitted = child.ok && child.value.record?.id === journal.id && child.value.record.state === "committed";
  if (!isCommitted) return problem("refused", aborted.error.message);
  const finished = await moveNamespace(moveOptions(context, "to-child"));
  return finished.ok ? finished : problemOfMove(context, finished.error);
}

/** The names of clusters that the child is a parent of. */
async function childrenOf(context: PivotContext): PivotResult<readonly string[]> {
  const { child, cluster, signal } = context;
  const listed = await child.list(latticeClusters, {}, { signal });
  if (!listed.ok) return problemOfRequest(context, "the clusters of the child could not be listed", listed.error);
  return ok(listed.value.items.map(({ metadata }) => metadata.name).filter((name) => name !== cluster.metadata.name));
}
