/**
 * The way back of an import that is not committed: the copies are deleted, the record goes, and the files can be taken by another cluster. What the
 * target had before is no copy. A claim of another cluster, or of an import that has ended, stays: it is what keeps the files from a second owner.
 */
import { ok } from "#base";
import { keyOf, type KubeObject } from "#kube";
import type { SavedGraph } from "../files/saved-nodes.ts";
import { COPY_ANNOTATION } from "../graph/names.ts";
import type { WholeNode } from "../graph/object-graph.ts";
import { nextReceiveAbortStep, type ReceiveView } from "../ownership/receive-steps.ts";
import { hasContent } from "../plan/content.ts";
import { refusal, type Moved } from "./failure.ts";
import { clusterIdentity, deleteRecord, readRecord, writeRecord } from "./journal.ts";
import { ObjectReader } from "./object-reader.ts";
import { nodesOf, worldOf, type ReceiveContext } from "./receive.ts";
import { removeObjects, type RemovedObject } from "./remove-object.ts";

const MOST_STEPS = 20;

const TAKEN = "another cluster has taken these files; undo the import there";

/** `release`: called when nothing of the files is left at the target, and they are claimed for it. False: there was nothing to undo. */
export async function abortReceive(context: ReceiveContext, release: () => Moved<void>): Moved<boolean> {
  const { target, namespace, saved, report } = context;
  const world = await worldOf(context);
  if (!world.ok) return world;
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const record = await readRecord(target, namespace);
    if (!record.ok) return record;
    const copies = await copiesAt(context, world.value, new Set(record.value?.data.besideCopies));
    if (!copies.ok) return copies;
    const data = record.value?.data;
    const decision = nextReceiveAbortStep({
      id: saved.id,
      record: data === undefined ? "none" : { id: data.id, state: data.state, finished: data.finishedAt !== "" },
      targetHasCopies: copies.value.length > 0,
    });
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done" || record.value === undefined) return releaseClaim(context, { undone: steps > 0, release });
    report({ step: decision.step });
    const performed =
      decision.step === "revoke"
        ? await writeRecord(context, record.value, { ...record.value.data, state: "revoked" })
        : decision.step === "delete-copies"
          ? await removeObjects(target, copies.value.toReversed())
          : await deleteRecord(target, namespace, record.value);
    if (!performed.ok) return performed;
  }
  return refusal("the abort does not advance; run the command again");
}

async function releaseClaim(
  context: ReceiveContext,
  { undone, release }: { readonly undone: boolean; readonly release: () => Moved<void> },
): Moved<boolean> {
  const claim = await readClaim(context);
  if (!claim.ok) return claim;
  if (claim.value === "other" && !undone) return refusal(TAKEN);
  const released = mayRelease(claim.value) ? await release() : ok(undefined);
  return released.ok ? ok(undone) : released;
}

/** Whether the files are claimed for a target that has no Namespace for them, so that nothing else of an import is there. */
export async function isClaimedFor(context: Pick<ReceiveContext, "target" | "claim">): Moved<boolean> {
  const claim = await readClaim(context);
  if (!claim.ok) return claim;
  return claim.value === "other" ? refusal(TAKEN) : ok(mayRelease(claim.value));
}

const mayRelease = (claim: ReceiveView["claim"]) => claim === "ours" || claim === "revoked";

async function readClaim({ target, claim }: Pick<ReceiveContext, "target" | "claim">): Moved<ReceiveView["claim"]> {
  const identity = await clusterIdentity(target);
  return identity.ok ? claim.read(identity.value) : identity;
}

/**
 * By their mark, or by equal content: before the import the target had none of these objects. Of those beside them it may have had some, so that
 * only a uid in the record counts.
 */
async function copiesAt({ target }: ReceiveContext, world: SavedGraph, recorded: ReadonlySet<string>): Moved<readonly RemovedObject[]> {
  const nodes = nodesOf(world);
  const beside = new Set(world.beside);
  const isCopy = (node: WholeNode, found: KubeObject) =>
    beside.has(node) ? recorded.has(found.metadata.uid ?? "") : hasContent(found, node.object, node.kind.hasStatus);
  const existing = await new ObjectReader(target).read(nodes);
  if (!existing.ok) return existing;
  return ok(
    nodes.flatMap((node, at) => {
      const { object, kind, kept, uid } = node;
      const found = kept === undefined ? existing.value[at] : undefined;
      if (found === undefined) return [];
      const isOurs = found.metadata.annotations?.[COPY_ANNOTATION] === uid || isCopy(node, found);
      return isOurs ? [{ kind: kind.resource, key: keyOf(object), uid: found.metadata.uid ?? "" }] : [];
    }),
  );
}
