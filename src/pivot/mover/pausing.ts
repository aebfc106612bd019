/** Pauses and unpauses the Clusters and ClusterClasses of a move. What was paused before it stays paused on both sides. */
import { ok } from "#base";
import type { JournalHead, PausableEntry } from "../journal/records.ts";
import { isPaused, pausedBy, pausePatch } from "../plan/content.ts";
import type { ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import type { Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";

type Pausing = { readonly side: ApiSide; readonly namespace: string; readonly head: Pick<JournalHead, "pausables"> };

/** Whether all that exist are paused. */
export async function areAllPaused({ side, namespace, head }: Pausing): Moved<boolean> {
  const states = await inParallel(head.pausables, PARALLEL, async ({ kind, name }) => {
    const found = await side.get(kind, { namespace, name });
    return found.ok ? ok(found.value === undefined || isPaused(found.value)) : found;
  });
  return states.ok ? ok(states.value.every(Boolean)) : states;
}

/** Whether what was not paused before the move is not paused. */
export async function areAllResumed({ side, namespace, head }: Pausing): Moved<boolean> {
  const states = await inParallel(toResume(head), PARALLEL, async ({ kind, name }) => {
    const found = await side.get(kind, { namespace, name });
    return found.ok ? ok(found.value === undefined || !isPaused(found.value)) : found;
  });
  return states.ok ? ok(states.value.every(Boolean)) : states;
}

export function pauseAll({ side, namespace, head }: Pausing): Moved<void> {
  return setAll({ side, namespace, entries: head.pausables, paused: true });
}

export function resumeAll({ side, namespace, head }: Pausing): Moved<void> {
  return setAll({ side, namespace, entries: toResume(head), paused: false });
}

const toResume = ({ pausables }: Pick<JournalHead, "pausables">) => pausables.filter(({ wasPaused }) => !wasPaused);

type Setting = { readonly side: ApiSide; readonly namespace: string; readonly entries: readonly PausableEntry[]; readonly paused: boolean };

/** ClusterClasses are resumed before the Clusters that use them, and paused after them. */
async function setAll({ side, namespace, entries, paused }: Setting): Moved<void> {
  const kinds = paused ? ["Cluster", "ClusterClass"] : ["ClusterClass", "Cluster"];
  for (const name of kinds) {
    const set = await inParallel(
      entries.filter(({ kind }) => kind.kind === name),
      PARALLEL,
      ({ kind, name: object }) => {
        const by = pausedBy({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata: { name: object } });
        return by === undefined ? Promise.resolve(ok(undefined)) : side.patch(kind, { namespace, name: object }, pausePatch(by, paused));
      },
    );
    if (!set.ok) return set;
  }
  return ok(undefined);
}
