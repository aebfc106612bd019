/**
 * Reads the Cluster API objects of a namespace without pausing anything. Every kind is one list at one resourceVersion; lists of several kinds
 * are not one snapshot, so they are read again until owners are closed and two reads have the same objects.
 */
import { ok, sleep, timestamp } from "#base";
import { describeObject, isBeingDeleted, type KubeObject } from "#kube";
import type { ObjectGraph, WholeNode } from "../graph/object-graph.ts";
import { ownershipOf } from "../journal/owner.ts";
import {
  fileNameProblems,
  providersOf,
  writtenObject,
  type FilesManifest,
  type ManifestServer,
  type WrittenObject,
} from "../files/manifest.ts";
import { pausedNow } from "../files/saved-nodes.ts";
import type { SourceContext } from "./context.ts";
import { discoverGraph, discoverKinds, type SourceKinds } from "./discover.ts";
import { moveId } from "./export.ts";
import { refusal, stoppedAt, type Moved } from "./failure.ts";
import { clusterIdentity, readHead, readRecord } from "./journal.ts";

const ROUNDS = 10;
const PAUSE_MS = 500;

export type BackupRequest = {
  readonly cluster: string;
  readonly servers: readonly ManifestServer[];
  /** Objects of Lattice that are saved as well. */
  readonly beside: readonly WholeNode[];
};

export type BackupFiles = { readonly manifest: FilesManifest; readonly files: readonly WrittenObject[] };

export async function readBackup(context: SourceContext, { cluster, servers, beside }: BackupRequest): Moved<BackupFiles> {
  const source = await clusterIdentity(context.source);
  if (!source.ok) return source;
  const epoch = await ownEpoch(context);
  if (!epoch.ok) return epoch;
  const kinds = await discoverKinds(context.source);
  if (!kinds.ok) return kinds;
  const graph = await closedGraph(context, kinds.value);
  if (!graph.ok) return graph;
  const { moved } = graph.value;
  const problems = fileNameProblems([...moved, ...beside].map(({ object }) => object));
  if (problems.length > 0) return refusal(...problems);
  // a move may have begun meanwhile
  const after = await ownEpoch(context);
  if (!after.ok) return after;
  if (after.value !== epoch.value) return refusal("the owner of the clusters has changed while they were read; run the command again");
  const files = [...moved.map((node) => writtenObject(node)), ...beside.map((node) => writtenObject(node, true))];
  const manifest: FilesManifest = {
    version: 1,
    purpose: "backup",
    state: "complete",
    id: moveId({ clock: context.clock, random: context.random, seed: `${source.value} ${context.namespace}` }),
    namespace: context.namespace,
    source: source.value,
    epoch: epoch.value,
    createdAt: timestamp(context.clock),
    pausables: pausedNow(moved),
    providers: providersOf(kinds.value.providers),
    objects: files.map(({ entry }) => entry),
    cluster,
    servers,
  };
  return ok({ manifest, files });
}

/** Refused while a move is under way, or when this cluster does not own the clusters. */
async function ownEpoch({ source, namespace }: SourceContext): Moved<number> {
  const head = await readHead({ source, namespace });
  if (!head.ok) return head;
  const record = await readRecord(source, namespace);
  if (!record.ok) return record;
  const owner = ownershipOf({ record: record.value?.object, hasJournal: head.value !== undefined });
  if (owner.state === "moving")
    return refusal("a move of these clusters is unfinished, so their owner is not known; finish or abort it first");
  return ok(owner.state === "owner" ? owner.epoch : 0);
}

async function closedGraph(
  { source, namespace, clock, signal, report }: SourceContext,
  kinds: SourceKinds,
): Moved<ObjectGraph<KubeObject>> {
  let before = "";
  let problems: readonly string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 1 && !(await sleep(clock, PAUSE_MS, signal))) return stoppedAt("stopped while the objects were read");
    const graph = await discoverGraph(source, { namespace, kinds, take: (object) => object });
    if (!graph.ok) return graph;
    const { moved } = graph.value;
    if (moved.length === 0) return refusal(`namespace ${namespace} has no Cluster, so there is nothing to back up`);
    const deleting = moved.find(({ object }) => object.kind === "Cluster" && isBeingDeleted(object));
    if (deleting !== undefined) return refusal(`${describeObject(deleting.object)} is being deleted; there is nothing to back up`);
    problems = graph.value.problems;
    const uids = moved.map(({ uid }) => uid).join(" ");
    if (problems.length === 0 && uids === before) return graph;
    before = uids;
    report({ step: "read", done: moved.length, total: moved.length });
  }
  return problems.length > 0
    ? refusal(...problems)
    : refusal("objects keep being created and deleted; run the command again when fewer machines are being replaced");
}
