/**
 * The recorded life of a cluster as text that is the same on every run: the golden file.
 *
 * Controllers write at the same time, so the order of writes to different objects, and to different fields of one object, is not that of causes.
 * Each field has its own line, in a form that does not depend on how many changes one pass of a controller sees:
 * - Objects are listed by kind and role ("worker of set 1"); generated names, uids, times and addresses are replaced. Objects of one role with the
 *   same lines are shown once, with their number.
 * - A phase, or status and reason of a condition, is a sequence: the values of the chapter in the order of their first appearance, then the last
 *   one. A condition that changes forth and back twice is the same as one that does so once. Values of `isShortLived` are left out.
 * - A number of machines is shown at the beginning, at its highest, and at the end of the chapter. Numbers of ready, available and up-to-date
 *   machines have no highest value: they depend on which of two machines changes first.
 * - Other fields are shown at the end of the chapter, if they differ from its beginning. Those of objects that are gone are not shown.
 * - "order" has the steps of different objects that cause each other; "gone" has the order in which objects go: that of the last one of each role.
 */
import { finalFields, replicaFields, stateFields, type NumberField } from "./fields.ts";
import { goneOrder } from "./gone-order.ts";
import { milestones } from "./milestones.ts";
import { isRace, isShortLived } from "./races.ts";
import { StoryRoles } from "./roles.ts";
import type { StoryChapter, StoryEvent, StoryObject } from "./recorder.ts";

export function storyText(chapters: readonly StoryChapter[]): string {
  const roles = new StoryRoles(chapters);
  const known = new Map<string, StoryObject>();
  const shown = chapters.filter(({ events }) => events.length > 0).map((chapter) => chapterText(chapter, { roles, known }));
  return `${shown.join("\n\n")}\n`;
}

/** `known`: the newest version of each object, by uid. */
type Past = { readonly roles: StoryRoles; readonly known: Map<string, StoryObject> };

function chapterText({ title, events }: StoryChapter, { roles, known }: Past): string {
  const histories = new Map<string, StoryEvent[]>();
  for (const event of events) {
    const uid = event.object.metadata.uid ?? "";
    histories.set(uid, [...(histories.get(uid) ?? []), event]);
  }
  const order = milestones(events, roles, known);
  const blocks = new Map<string, number>();
  for (const [uid, history] of histories) {
    const block = blockOf(title, roles, { before: known.get(uid), history });
    if (block !== undefined) blocks.set(block, (blocks.get(block) ?? 0) + 1);
    const last = history.at(-1);
    if (last !== undefined) known.set(uid, last.object);
  }
  const lines = [...blocks].map(([block, count]) => (count === 1 ? block : block.replace("\n", ` (${count})\n`))).toSorted();
  const gone = goneOrder(events, roles);
  const orders = [["order", order] as const, ["gone", gone] as const].filter(([, steps]) => steps.length > 0);
  return [`## ${title}`, "", ...lines, ...orders.map(([name, steps]) => `\n${name}:${steps.map((step) => `\n  ${step}`).join("")}`)].join(
    "\n",
  );
}

type History = { readonly before: StoryObject | undefined; readonly history: readonly StoryEvent[] };

function blockOf(chapter: string, roles: StoryRoles, { before, history }: History): string | undefined {
  const versions = history.map(({ object }) => object);
  const last = history.at(-1);
  if (last === undefined) return undefined;
  const role = roles.of(last.object);
  const isGone = last.type === "DELETED";
  const lines = [
    ...(before === undefined ? [["object", isGone ? "created, gone" : "created"] as const] : isGone ? [["object", "gone"] as const] : []),
    ...sequences(before, versions),
    ...numbers(before, versions, isGone),
    ...(isGone ? [] : changes(before, last.object)),
  ];
  const texts = lines
    .filter(([field]) => !isRace(chapter, role, field))
    .map(([field, value]) => `  ${field}: ${roles.replaceNames(value)}`.trimEnd());
  return texts.length === 0 ? undefined : [role, ...texts.toSorted()].join("\n");
}

type Lines = readonly (readonly [field: string, value: string])[];

function sequences(before: StoryObject | undefined, versions: readonly StoryObject[]): Lines {
  const values = new Map((before === undefined ? [] : stateFields(before)).map(([field, value]) => [field, [value]]));
  for (const [field, value] of versions.flatMap(stateFields)) values.set(field, [...(values.get(field) ?? []), value]);
  const known = new Set(before === undefined ? [] : stateFields(before).map(([field]) => field));
  return [...values].flatMap(([field, all]) => {
    const shown = all.filter((value, at) => (at === 0 && known.has(field)) || !isShortLived(versions[0]?.kind ?? "", field, value));
    const first = shown.filter((value, at) => shown.indexOf(value) === at);
    const [end, last] = [shown.at(-1), first.at(-1)];
    const sequence = end === undefined || end === last ? first : [...first, end];
    return sequence.length > (known.has(field) ? 1 : 0) ? [[field, sequence.join(" → ")] as const] : [];
  });
}

function numbers(before: StoryObject | undefined, versions: readonly StoryObject[], isGone: boolean): Lines {
  const all = [...(before === undefined ? [] : [before]), ...versions].flatMap(replicaFields);
  const fields = new Map(all.map((entry) => [entry.field, [] as NumberField[]]));
  for (const entry of all) fields.get(entry.field)?.push(entry);
  return [...fields].flatMap(([field, entries]) => {
    const counts = entries.map(({ count }) => count);
    const [first = 0, end = 0] = [counts[0], counts.at(-1)];
    const most = entries[0]?.hasSurge === true ? Math.max(...counts) : first;
    const shown = [first, most, end].filter((count, at, three) => count !== three[at - 1]);
    return !isGone && (before === undefined || shown.length > 1) ? [[field, shown.join(" → ")] as const] : [];
  });
}

function changes(before: StoryObject | undefined, now: StoryObject): Lines {
  const known = new Map(before === undefined ? [] : finalFields(before));
  const current = new Map(finalFields(now));
  const removed = [...known.keys()].filter((field) => !current.has(field)).map((field) => [field, "removed"] as const);
  return [...[...current].filter(([field, value]) => known.get(field) !== value), ...removed];
}
