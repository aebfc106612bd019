/**
 * The recorded life of a cluster as text that is the same on every run: the golden file.
 *
 * Controllers write at the same time, so the order of writes to different objects, and of writes to different fields of one object, is not
 * that of causes. The rule:
 * - Each chapter lists objects by kind and role ("worker of set 1"); generated names, uids, times and addresses are left out. Objects of one role
 *   with the same lines are shown once, with their number.
 * - A phase and the status and reason of a condition are sequences: all values of the chapter, in order. A value that a controller may or may
 *   not show, depending on how many changes one pass sees, is left out: `isPassing` has the list.
 * - Numbers of replicas are reduced to turning points: 0, 1, 2 and 0, 2 are both "0 → 2".
 * - Metadata, messages and other fields are shown as they are at the end of the chapter, if they differ from those at its beginning.
 * - The order in which objects are gone is that of the last object of each role.
 */
import { fieldAt, type Json } from "#kube";
import { finalFields, replicaFields, stateFields } from "./fields.ts";
import { goneOrder } from "./gone-order.ts";
import { StoryRoles } from "./roles.ts";
import type { StoryChapter, StoryObject } from "./recorder.ts";

type History = { readonly role: string; readonly states: Map<string, string[]>; readonly counts: Map<string, number[]>; first?: StoryObject; last?: StoryObject; isNew: boolean; isGone: boolean };

export function storyText(chapters: readonly StoryChapter[]): string {
  const roles = new StoryRoles(chapters);
  const known = new Map<string, StoryObject>();
  const parts: string[] = [];
  for (const { title, events } of chapters) {
    if (events.length === 0) continue;
    const histories = new Map<string, History>();
    for (const { type, object } of events) {
      const key = `${object.kind} ${object.metadata.uid ?? ""}`;
      const before = known.get(key);
      const history = histories.get(key) ?? openHistory(roles.of(object), before);
      histories.set(key, history);
      note(history, object);
      if (type === "DELETED") history.isGone = true;
      known.set(key, object);
    }
    const gone = goneOrder(events, roles);
    parts.push([`## ${title}`, "", ...linesOf([...histories.values()], roles), ...(gone.length === 0 ? [] : ["", `gone: ${gone.join(" → ")}`])].join("\n"));
  }
  return `${parts.join("\n\n")}\n`;
}

function openHistory(role: string, before: StoryObject | undefined): History {
  const history: History = { role, states: new Map(), counts: new Map(), isNew: before === undefined, isGone: false };
  if (before === undefined) return history;
  history.first = before;
  for (const [field, value] of stateFields(before)) history.states.set(field, [value]);
  for (const [field, count] of replicaFields(before)) history.counts.set(field, [count]);
  return history;
}

function note(history: History, object: StoryObject): void {
  history.last = object;
  for (const [field, value] of stateFields(object)) {
    const values = history.states.get(field) ?? [];
    if (values.at(-1) !== value) history.states.set(field, [...values, value]);
  }
  for (const [field, count] of replicaFields(object)) {
    const counts = history.counts.get(field) ?? [];
    if (counts.at(-1) !== count) history.counts.set(field, [...counts, count]);
  }
}

/** Drops the values between two turning points. */
function turningPoints(counts: readonly number[]): readonly number[] {
  return counts.filter((count, at) => {
    const [before, after] = [counts[at - 1], counts[at + 1]];
    return before === undefined || after === undefined || count > before !== after > count;
  });
}

function linesOf(histories: readonly History[], roles: StoryRoles): readonly string[] {
  const blocks = new Map<string, number>();
  for (const history of histories) {
    const lines = linesOfHistory(history, roles);
    if (lines.length === 0) continue;
    const block = [history.role, ...lines].join("\n");
    blocks.set(block, (blocks.get(block) ?? 0) + 1);
  }
  return [...blocks].map(([block, count]) => (count === 1 ? block : block.replace("\n", ` (${count})\n`))).toSorted();
}

function linesOfHistory({ states, counts, first, last, isNew, isGone }: History, roles: StoryRoles): readonly string[] {
  const known = states.size === 0 ? 0 : 1;
  const lines: string[] = [];
  if (isNew || isGone) lines.push(`  ${isNew ? "created" : ""}${isNew && isGone ? ", " : ""}${isGone ? "gone" : ""}`);
  for (const [field, values] of states) {
    const all = values.filter((value, at) => !isPassing(field, value) || (first !== undefined && at === 0));
    const shown = all.filter((value, at) => value !== all[at - 1]);
    if (shown.length > (first !== undefined && states.get(field)?.[0] === firstValue(first, field) ? 1 : 0)) lines.push(`  ${field}: ${shown.join(" → ")}`);
  }
  for (const [field, numbers] of counts) {
    const shown = turningPoints(numbers);
    if (shown.length > known) lines.push(`  ${field}: ${shown.join(" → ")}`);
  }
  if (last !== undefined && !isGone) {
    const before = new Map(first === undefined ? [] : finalFields(first));
    for (const [field, value] of finalFields(last)) if (before.get(field) !== value) lines.push(`  ${field}: ${roles.replaceNames(value)}`);
  }
  return lines.toSorted();
}

const firstValue = (object: StoryObject, field: string): string | undefined => new Map(stateFields(object)).get(field);

function isPassing(_field: string, value: string): boolean {
  return value.startsWith("Unknown");
}

export const valueAt = (object: StoryObject, ...path: readonly string[]): Json | undefined => fieldAt(object, ...path);
