/** Pauses and unpauses the Clusters and ClusterClasses of a move. What was paused before it stays paused on both sides. */
import { ok } from "#base";
import type { ObjectKey } from "#kube";
import { FENCE_ANNOTATION } from "../graph/names.ts";
import type { EntryKind, JournalHead, PausableEntry } from "../journal/records.ts";
import { isPaused, pausedBy, pausePatch } from "../plan/content.ts";
import { versionOf, type ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import { refusal, type Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";
import { writeHead, type StoredHead } from "./journal.ts";

const ATTEMPTS = 10;

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

/**
 * Before a pause in phase `intent`: what was paused before the move and is not paused now, a person has unpaused, because the move unpauses
 * nothing at its source in this phase. It is unpaused at the end, too.
 */
export async function noteUnpaused(place: { readonly source: ApiSide; readonly namespace: string }, head: StoredHead): Moved<void> {
  const { source, namespace } = place;
  const found = await inParallel(head.pausables, PARALLEL, async (entry) => {
    if (!entry.wasPaused) return ok(entry);
    const live = await source.get(entry.kind, { namespace, name: entry.name });
    if (!live.ok) return live;
    return ok(live.value === undefined || isPaused(live.value) ? entry : { ...entry, wasPaused: false });
  });
  if (!found.ok) return found;
  const isSame = found.value.every((entry, at) => entry === head.pausables[at]);
  return isSame ? ok(undefined) : writeHead(place, { ...head, pausables: found.value });
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
        return setOne(side, { kind, key: { namespace, name: object }, paused });
      },
    );
    if (!set.ok) return set;
  }
  return ok(undefined);
}

type OneSetting = { readonly kind: EntryKind; readonly key: ObjectKey; readonly paused: boolean };

/** The write names the version that was read: one that arrives late must not unpause what a later move has paused. */
async function setOne(side: ApiSide, { kind, key, paused }: OneSetting): Moved<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const found = await side.get(kind, key);
    if (!found.ok) return found;
    const by = found.value === undefined ? undefined : pausedBy(found.value);
    if (found.value === undefined || by === undefined || isPaused(found.value) === paused) return ok(undefined);
    const { metadata = {}, ...patch } = pausePatch(by, paused) as { readonly metadata?: object };
    const written = await side.patch(kind, key, { ...patch, metadata: { ...metadata, ...versionOf(found.value) } });
    if (!written.ok || written.value !== undefined) return written.ok ? ok(undefined) : written;
  }
  return refusal(`${kind.kind} ${key.name} of the ${side.side} changes all the time, so it cannot be ${paused ? "paused" : "unpaused"}`);
}

/**
 * Changes the version of what is not paused, so that a request of a killed run that would pause it fails when it arrives. False: something is
 * paused.
 */
export async function fencePauses({ side, namespace, head }: Pausing & { readonly head: Pick<JournalHead, "id"> }): Moved<boolean> {
  const fenced = await inParallel(toResume(head), PARALLEL, async ({ kind, name }) => {
    const key = { namespace, name };
    const found = await side.get(kind, key);
    if (!found.ok || found.value === undefined) return found.ok ? ok(true) : found;
    if (isPaused(found.value)) return ok(false);
    const mark = (value: string | null) => ({ annotations: { [FENCE_ANNOTATION]: value } });
    const marked = await side.patch(kind, key, { metadata: { ...mark(""), ...versionOf(found.value) } });
    if (!marked.ok || marked.value === undefined) return marked.ok ? ok(false) : marked;
    const cleared = await side.patch(kind, key, { metadata: mark(null) });
    return cleared.ok ? ok(true) : cleared;
  });
  return fenced.ok ? ok(fenced.value.every(Boolean)) : fenced;
}
