/**
 * Explains the effect of a strategic patch on each list: how the list was merged, and which elements were added, changed, removed or kept. It
 * compares the documents before and after, so it reports the actual changes.
 */
import { fieldNames, fieldOf, isList, isObject, jsonEqual, type Json, type JsonObject } from "../json.ts";
import type { FieldMerge, PatchSchema } from "../schema/port.ts";
import { DELETE_FROM_PRIMITIVE_LIST, SET_ELEMENT_ORDER } from "./directives.ts";

/** The effect of a patch on one list. */
export type ListStory = {
  /** The path of the list: `spec.containers[web].env`. */
  readonly path: string;
  /** "merged by name", "united", "replaced". */
  readonly treatment: string;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
};

/**
 * The effect on every list of a patch, outer lists before the lists inside their elements.
 *
 * @example
 * explainLists(pod, { spec: { containers: [{ name: "web", image: "nginx:2" }] } }, patched, podSchema)
 * // [{ path: "spec.containers", treatment: "merged by name", added: [], changed: ["web"], removed: [], kept: ["log"] }]
 */
export function explainLists(original: JsonObject, patch: JsonObject, result: JsonObject, schema: PatchSchema): readonly ListStory[] {
  return storiesIn({ before: original, patch, after: result, path: "" }, schema);
}

type Place = { readonly before: JsonObject; readonly patch: JsonObject; readonly after: JsonObject; readonly path: string };

function storiesIn(place: Place, schema: PatchSchema): readonly ListStory[] {
  const names = new Set(fieldNames(place.patch).map(listName));
  return [...names].flatMap((name) => {
    const [before, after] = [fieldOf(place.before, name), fieldOf(place.after, name)];
    const path = place.path === "" ? name : `${place.path}.${name}`;
    if (isList(before) || isList(after)) return listStories(place, name, path, schema);
    const patch = fieldOf(place.patch, name);
    const field = schema.objectField(name);
    if (!isObject(before) || !isObject(patch) || !isObject(after) || !field.ok) return [];
    return storiesIn({ before, patch, after, path }, field.value.schema);
  });
}

/** The list of a field or of a directive: a patch may name a list only in a directive. */
function listName(name: string): string {
  const isDirective = name.startsWith(`${SET_ELEMENT_ORDER}/`) || name.startsWith(`${DELETE_FROM_PRIMITIVE_LIST}/`);
  return isDirective ? name.slice(name.indexOf("/") + 1) : name;
}

function listStories(place: Place, name: string, path: string, schema: PatchSchema): readonly ListStory[] {
  const field = schema.listField(name);
  if (!field.ok) return [];
  const before = byName(fieldOf(place.before, name), field.value);
  const after = byName(fieldOf(place.after, name), field.value);
  const common = [...after.keys()].filter((key) => before.has(key));
  const isSame = (key: string): boolean => jsonEqual(before.get(key), after.get(key));
  const story: ListStory = {
    path,
    treatment: treatmentOf(field.value),
    added: [...after.keys()].filter((key) => !before.has(key)),
    changed: common.filter((key) => !isSame(key)),
    removed: [...before.keys()].filter((key) => !after.has(key)),
    kept: common.filter(isSame),
  };
  const patched = field.value.strategy === "merge" ? byName(fieldOf(place.patch, name), field.value) : new Map<string, Json>();
  const inner = common.flatMap((key) => {
    const [old, change, now] = [before.get(key), patched.get(key), after.get(key)];
    if (!isObject(old) || !isObject(change) || !isObject(now)) return [];
    return storiesIn({ before: old, patch: change, after: now, path: `${path}[${key}]` }, field.value.schema);
  });
  return [story, ...inner];
}

function treatmentOf(field: FieldMerge): string {
  if (field.strategy !== "merge") return "replaced";
  return field.mergeKey === "" ? "united" : `merged by ${field.mergeKey}`;
}

/** Elements by name: their merge key, or the scalar itself. */
function byName(list: Json | undefined, field: FieldMerge): ReadonlyMap<string, Json> {
  return new Map((isList(list) ? list : []).map((item) => [nameOf(item, field), item]));
}

function nameOf(item: Json, field: FieldMerge): string {
  const key = isObject(item) && field.mergeKey !== "" ? fieldOf(item, field.mergeKey) : undefined;
  const shown = key ?? item;
  return typeof shown === "string" ? shown : JSON.stringify(shown);
}
