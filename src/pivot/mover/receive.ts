/**
 * Brings saved objects into a target and makes it the owner: the import of a directory, and the restore of a backup. Observe, decide by the
 * specification, perform; a run that was killed is continued by the next one, because the record at the target shows how far it came.
 */
import { ok, timestamp } from "#base";
import { describeObject, groupResourceOf, type KubeObject } from "#kube";
import { versionText } from "../graph/move-kind.ts";
import type { WholeNode } from "../graph/object-graph.ts";
import type { TargetRecordData } from "../journal/records.ts";
import type { ManifestProvider } from "../files/manifest.ts";
import type { ImportReceipt } from "../files/receipt.ts";
import { savedGraph, type SavedGraph, type SavedWorld } from "../files/saved-nodes.ts";
import { nextReceiveStep, type ReceiveStep, type ReceiveView } from "../ownership/receive-steps.ts";
import { hasContent } from "../plan/content.ts";
import { planProblems } from "../plan/problems.ts";
import { isComplete } from "./begin.ts";
import type { MoveContext } from "./context.ts";
import { stateOf } from "./copies.ts";
import { discoverKinds, discoverTarget } from "./discover.ts";
import { refusal, type Moved } from "./failure.ts";
import { clusterIdentity, ensureNamespace, readHead, readRecord, writeRecord, type ReadRecord } from "./journal.ts";
import { ObjectReader } from "./object-reader.ts";
import { areAllResumed, resumeAll } from "./pausing.ts";
import { placeAll, type BesideCopies } from "./place-all.ts";

export type SavedMove = Omit<SavedWorld, "kinds"> & {
  readonly id: string;
  /** The identity of the cluster that the files were written from. */
  readonly source: string;
  /** The least epoch of the new owner. */
  readonly epoch: number;
  readonly createdAt: string;
  /** Undefined: the files have no manifest. */
  readonly providers: readonly ManifestProvider[] | undefined;
  readonly digest: string;
  /** A backup is taken as it is: its Machines may be incomplete. */
  readonly unfinished?: "accepted";
};

/** Which cluster has taken the files. `target`: the identity of the one that asks. */
export type ClaimPort = {
  readonly read: (target: string) => Moved<ReceiveView["claim"]>;
  readonly write: (target: string, ended: boolean) => Moved<void>;
};

export type ReceiveContext = Omit<MoveContext, "source" | "waitMs"> & { readonly saved: SavedMove; readonly claim: ClaimPort };

type Run = {
  readonly context: ReceiveContext;
  readonly target: string;
  readonly world: SavedGraph;
  record: ReadRecord | undefined;
  verified: boolean;
  fenced: boolean;
};

const MOST_STEPS = 60;

export async function runReceive(context: ReceiveContext): Moved<ImportReceipt> {
  const opened = await openReceive(context);
  if (!opened.ok) return opened;
  const run = opened.value;
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const view = await observe(run);
    if (!view.ok) return view;
    const decision = nextReceiveStep(view.value);
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done") return ok(receiptOf(run));
    context.report({ step: decision.step });
    const performed = await STEPS[decision.step](run);
    if (!performed.ok) return performed;
  }
  return refusal("the import does not advance: a step has no effect on what is observed; run the command again");
}

async function openReceive(context: ReceiveContext): Moved<Run> {
  const target = await clusterIdentity(context.target);
  if (!target.ok) return target;
  if (target.value === context.saved.source)
    return refusal("this is the cluster that the files were written from; nothing has to be brought back into it");
  const head = await readHead({ source: context.target, namespace: context.namespace });
  if (!head.ok) return head;
  if (head.value !== undefined)
    return refusal("an unfinished move of this namespace leads away from this cluster; finish or abort it first");
  const world = await worldOf(context);
  if (!world.ok) return world;
  return ok({ context, target: target.value, world: world.value, record: undefined, verified: false, fenced: false });
}

export async function worldOf({ target, saved, report }: Pick<ReceiveContext, "target" | "saved" | "report">): Moved<SavedGraph> {
  report({ step: "check-target" });
  const kinds = await discoverKinds(target);
  if (!kinds.ok) return kinds;
  const world = savedGraph({ ...saved, kinds: kinds.value.kinds });
  if (world.problems.length > 0) return refusal(...world.problems);
  return world.graph.moved.length === 0 ? refusal("the files have no Cluster, so there is nothing to bring in") : ok(world);
}

async function observe(run: Run): Moved<ReceiveView> {
  const { context, world, target } = run;
  const { saved, namespace } = context;
  const record = await readRecord(context.target, namespace);
  if (!record.ok) return record;
  run.record = record.value;
  const claim = await context.claim.read(target);
  if (!claim.ok) return claim;
  const isCommitted = record.value?.data.id === saved.id && record.value.data.state === "committed";
  const resumed = isCommitted ? await areAllResumed({ side: context.target, namespace, head: world }) : ok(false);
  if (!resumed.ok) return resumed;
  const data = record.value?.data;
  return ok({
    id: saved.id,
    record: data === undefined ? "none" : { id: data.id, state: data.state, finished: data.finishedAt !== "" },
    claim: claim.value,
    verified: run.verified,
    fenced: run.fenced,
    targetResumed: resumed.value,
  });
}

type Perform = (run: Run) => Moved<void>;

const STEPS: Readonly<Record<Exclude<ReceiveStep, "done" | "check-target">, Perform>> = {
  claim: async (run) => {
    const checked = await checkTarget(run);
    if (!checked.ok) return checked;
    // the check takes its time: what has changed meanwhile is decided upon anew
    const claim = await run.context.claim.read(run.target);
    if (!claim.ok) return claim;
    return claim.value === "none" ? run.context.claim.write(run.target, false) : ok(undefined);
  },
  register: async (run) => {
    // once more: between the claim and this write a run may have been killed, and the target may have changed; a second time, it has copies
    const isOurs = run.record?.data.id === run.context.saved.id;
    const checked = isOurs ? ok(undefined) : await checkTarget(run);
    if (!checked.ok) return checked;
    const ensured = await ensureNamespace(run.context.target, run.context.namespace);
    return ensured.ok ? setRecord(run, { state: "receiving", finishedAt: "" }) : ensured;
  },
  transfer: async (run) => {
    const placed = await placeAll(run.context, nodesOf(run.world), besideCopies(run));
    if (placed.ok) run.verified = true;
    return placed;
  },
  commit: (run) => setRecord(run, { state: "committed", finishedAt: "" }),
  "resume-target": ({ context, world }) => resumeAll({ side: context.target, namespace: context.namespace, head: world }),
  finish: async (run) => {
    const finishedAt = run.record?.data.finishedAt ?? "";
    const finished =
      finishedAt === "" ? await setRecord(run, { state: "committed", finishedAt: timestamp(run.context.clock) }) : ok(undefined);
    return finished.ok ? run.context.claim.write(run.target, true) : finished;
  },
};

export const nodesOf = ({ graph, beside }: SavedGraph): readonly WholeNode[] => [...graph.moved, ...beside];

const BUILT_IN: ReadonlySet<string> = new Set(["Secret", "ConfigMap"]);

/** Everything that can be known before the first write, all reasons at once. */
async function checkTarget({ context, world }: Run): Moved<void> {
  const { target, saved } = context;
  const facts = await discoverTarget(target);
  if (!facts.ok) return facts;
  const unfinished = saved.unfinished === undefined ? {} : { unfinished: saved.unfinished };
  const providers = (saved.providers ?? []).map(providerObject);
  const problems = planProblems({ graph: world.graph, providers, unlabelled: [], target: facts.value, ...unfinished });
  const unserved = world.beside.filter(
    ({ kind }) => !BUILT_IN.has(kind.resource.kind) && !facts.value.served.has(versionText(kind.resource)),
  );
  const missing = new Set(
    unserved.map(
      ({ kind: { resource } }) =>
        `the target does not serve ${groupResourceOf(resource)}; install the definitions of Lattice there: lattice crds`,
    ),
  );
  const nodes = nodesOf(world);
  const existing = await new ObjectReader(target).read(nodes);
  if (!existing.ok) return existing;
  const beside = new Set(world.beside);
  const taken = nodes.filter((node, at) => {
    const found = existing.value[at];
    return node.kept === undefined && found !== undefined && isComplete(stateOf(found)) && !(beside.has(node) && isSame(found, node));
  });
  const taking = taken.map(({ object }) => `${describeObject(object)} exists at the target already; the target must not have it`);
  const all = [...problems, ...missing, ...taking];
  return all.length === 0 ? ok(undefined) : refusal(...all);
}

/** An identity that was written before the restore is the same cluster's. */
function isSame(found: KubeObject, { object, kind: { hasStatus } }: WholeNode): boolean {
  return hasContent(found, object, hasStatus) && hasContent(object, found, hasStatus);
}

function providerObject({ name, ...fields }: ManifestProvider): KubeObject {
  return { apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3", kind: "Provider", metadata: { name }, ...fields };
}

function besideCopies(run: Run): BesideCopies {
  const beside = new Set(run.world.beside);
  const known = new Set(run.record?.data.besideCopies);
  return {
    isBeside: (node) => beside.has(node),
    isKnown: (uid) => known.has(uid),
    record: async (uids) => {
      const { record, context } = run;
      const fresh = uids.filter((uid) => !known.has(uid));
      if (fresh.length === 0 || record === undefined) return ok(undefined);
      for (const uid of fresh) known.add(uid);
      const written = await writeRecord(context, record, { ...record.data, besideCopies: [...known] });
      if (written.ok) run.record = written.value;
      return written.ok ? ok(undefined) : written;
    },
  };
}

async function setRecord(run: Run, change: Pick<TargetRecordData, "state" | "finishedAt">): Moved<void> {
  const { context, record, world } = run;
  const { saved } = context;
  const begun =
    record?.data.id === saved.id
      ? record.data
      : {
          id: saved.id,
          epoch: Math.max(saved.epoch, (record?.data.epoch ?? 0) + 1),
          source: saved.source,
          startedAt: saved.createdAt,
          objects: world.graph.moved.length,
          digest: saved.digest,
          attempt: 0,
        };
  const data = { ...begun, attempt: begun.attempt + (change.state === "receiving" ? 1 : 0), ...change };
  const written = await writeRecord(context, record, data);
  if (!written.ok) return written;
  run.fenced = true;
  return ok(undefined);
}

function receiptOf({ context, target, record }: Run): ImportReceipt {
  const { id, digest } = context.saved;
  const { epoch = 0, objects = 0, finishedAt = "" } = record?.data ?? {};
  return { id, digest, target, epoch, objects, committedAt: finishedAt };
}
