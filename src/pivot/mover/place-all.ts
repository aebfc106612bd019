/** Places copies of saved objects, owners first, and reads the target again until nothing differs. */
import { ok } from "#base";
import type { KubeObject } from "#kube";
import type { WholeNode } from "../graph/object-graph.ts";
import { batchesOf } from "../plan/batches.ts";
import { PARALLEL, type MoveContext } from "./context.ts";
import { refusal, type Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";
import { ObjectReader } from "./object-reader.ts";
import { completeCopy, placeCopy, type PlacedCopy } from "./place-copy.ts";
import { prepareNamespaces } from "./transfer.ts";

const ROUNDS = 6;

/** The copies of objects that the target may have had before. */
export type BesideCopies = {
  readonly isBeside: (node: WholeNode) => boolean;
  /** Whether the record has this uid. */
  readonly isKnown: (uid: string) => boolean;
  /** Before the marks of these copies are removed. */
  readonly record: (uids: readonly string[]) => Moved<void>;
};

/**
 * `nodes`: sorted by level. The record at the target shows that it had none of them before, so an object with the same content is a copy that
 * an earlier run has made; of the ones beside them, only what is marked or recorded.
 */
export async function placeAll(
  context: Pick<MoveContext, "target" | "report">,
  nodes: readonly WholeNode[],
  beside: BesideCopies,
): Moved<void> {
  const prepared = await prepareNamespaces(context, nodes);
  if (!prepared.ok) return prepared;
  const acknowledged = new Map<string, string>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const changes = await placeOnce(context, nodes, { round, acknowledged, beside });
    if (!changes.ok) return changes;
    if (changes.value === 0) return ok(undefined);
  }
  return refusal("the copies at the target keep changing although they are paused; find what writes them, then run the command again");
}

type Round = {
  readonly round: number;
  /** By this run: uids of copies, by those of their originals. */ readonly acknowledged: Map<string, string>;
  readonly beside: BesideCopies;
};

async function placeOnce(
  { target, report }: Pick<MoveContext, "target" | "report">,
  nodes: readonly WholeNode[],
  { round, acknowledged, beside }: Round,
): Moved<number> {
  const copies = new ObjectReader(target);
  const uids = new Map<string, string>();
  let changes = 0;
  let done = 0;
  for (const batch of batchesOf(nodes)) {
    const existing = await copies.read(batch.nodes);
    if (!existing.ok) return existing;
    const placed = await inParallel([...batch.nodes.entries()], PARALLEL, ([at, node]) =>
      placeCopy(target, node, {
        existing: existing.value[at],
        uids,
        ...(beside.isBeside(node)
          ? { acknowledged: knownUid(existing.value[at], beside), ifEqual: "left" }
          : { acknowledged: acknowledged.get(node.uid), ifEqual: "adopted" }),
      }),
    );
    if (!placed.ok) return placed;
    for (const [at, { uid, changed }] of placed.value.entries()) {
      const original = batch.nodes[at]?.uid ?? "";
      uids.set(original, uid);
      acknowledged.set(original, uid);
      changes += changed ? 1 : 0;
    }
    const recorded = await beside.record(batch.nodes.flatMap((node, at) => copyUid(placed.value[at], beside.isBeside(node))));
    if (!recorded.ok) return recorded;
    const incomplete = batch.nodes.filter((_node, at) => placed.value[at]?.incomplete === true);
    const completed = await inParallel(incomplete, PARALLEL, (node) => completeCopy(target, node, uids.get(node.uid) ?? ""));
    if (!completed.ok) return completed;
    done += batch.nodes.length;
    report({ step: round === 1 ? "transfer" : "verify", done, total: nodes.length });
  }
  return ok(changes);
}

function knownUid(existing: KubeObject | undefined, { isKnown }: BesideCopies): string | undefined {
  const { uid = "" } = existing?.metadata ?? {};
  return isKnown(uid) ? uid : undefined;
}

const copyUid = (placed: PlacedCopy | undefined, isBeside: boolean): readonly string[] =>
  placed === undefined || !isBeside || placed.left === true ? [] : [placed.uid];
