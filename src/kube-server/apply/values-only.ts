/**
 * Whether a write only changed values of fields that only the writer owns: no added or removed fields or list items, no other kind of value.
 * False in doubtful cases.
 *
 * Shared parts of both objects are skipped, so the cost depends on the size of the change. Both objects must be valid.
 */
import { isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { EMPTY_SET, type FieldSet } from "./field-set.ts";
import { elementOfItem } from "./list-items.ts";
import { ownField } from "./own-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { fieldType, shapeOf, untypedAtomic, type ListSchema, type MapSchema, type TypeSchema } from "./schema.ts";

export type Change = "nothing" | "values" | "more";

type Pair<T extends Json> = { readonly before: T; readonly after: T };
type Owners = { readonly own: FieldSet; readonly others: readonly FieldSet[] };

export function valuesOnly(type: TypeSchema, pair: Pair<JsonObject>, own: FieldSet, others: readonly FieldSet[]): Change {
  return type.map === undefined || type.map.atomic ? "more" : mapChange(type.map, pair, { own, others });
}

function mapChange(map: MapSchema, { before, after }: Pair<JsonObject>, owners: Owners): Change {
  let [change, count]: [Change, number] = ["nothing", 0];
  for (const name in after) {
    const [was, is] = [ownField(before, name), after[name]];
    if (is === undefined) continue;
    count += 1;
    if (was === is) continue;
    if (was === undefined) return "more";
    const below = changeAt(
      { type: fieldType(map, name) ?? untypedAtomic, element: fieldElement(name) },
      { before: was, after: is },
      owners,
    );
    if (below === "more") return "more";
    if (below === "values") change = "values";
  }
  return count === sizeOf(before) ? change : "more";
}

function sizeOf(object: JsonObject): number {
  let size = 0;
  for (const name in object) if (object[name] !== undefined) size += 1;
  return size;
}

type Place = { readonly type: TypeSchema; readonly element: PathElement };

function changeAt({ type, element }: Place, { before, after }: Pair<Json>, owners: Owners): Change {
  const shape = shapeOf(type, after);
  if (before === null || after === null || shapeOf(type, before) !== shape) return "more";
  if (shape === "map" && type.map?.atomic === false) {
    if (!isJsonObject(before) || !isJsonObject(after)) return "more";
    return mapChange(type.map, { before, after }, below(owners, element));
  }
  if (shape === "list" && type.list !== undefined && type.list.kind !== "atomic") {
    return listChange(type.list, { before, after }, below(owners, element));
  }
  if (jsonEqual(before, after)) return "nothing";
  return isOwnAlone(owners, element) ? "values" : "more";
}

function listChange(list: ListSchema, { before, after }: Pair<Json>, owners: Owners): Change {
  if (jsonEqual(before, after)) return "nothing";
  if (list.kind !== "map" || !Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return "more";
  const [old, now]: readonly [readonly Json[], readonly Json[]] = [before, after];
  const seen = new Set<PathElement>();
  for (const [at, item] of now.entries()) {
    const [was, is] = [elementOfItem(list, old[at] ?? null), elementOfItem(list, item)];
    // duplicates are owned as a whole
    if (!was.ok || !is.ok || was.value !== is.value || seen.has(is.value)) return "more";
    seen.add(is.value);
    const change = changeAt({ type: list.element, element: is.value }, { before: old[at] ?? null, after: item }, owners);
    if (change === "more") return "more";
  }
  return "values";
}

function below({ own, others }: Owners, element: PathElement): Owners {
  const inside = others.flatMap((set) => set.get(element)?.children ?? []);
  return { own: own.get(element)?.children ?? EMPTY_SET, others: inside };
}

function isOwnAlone({ own, others }: Owners, element: PathElement): boolean {
  return own.get(element)?.member === true && !others.some((set) => set.get(element)?.member === true);
}
