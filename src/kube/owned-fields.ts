/** The fields of a live object that a field manager owns, from `managedFields`. */
import { isJsonObject, jsonEqual, parseJson, type Json, type JsonObject } from "./json.ts";
import type { KubeObject } from "./object.ts";

/** The tree of `fieldsV1`: `f:name` is a field, `k:{…}` an item of a list. */
export type OwnedFields = JsonObject;

/** What a manager applied. */
export function ownedFields({ metadata }: KubeObject, manager: string): OwnedFields {
  const trees = (metadata.managedFields ?? []).flatMap((entry) => {
    const { manager: by, operation, subresource, fieldsV1 } = isJsonObject(entry) ? entry : {};
    return by === manager && operation === "Apply" && subresource === undefined && isJsonObject(fieldsV1) ? [fieldsV1] : [];
  });
  return trees[0] ?? {};
}

/** What is owned below a field. undefined: the field is not owned. */
export function ownedField(owned: OwnedFields, name: string): OwnedFields | undefined {
  const below = Object.hasOwn(owned, `f:${name}`) ? owned[`f:${name}`] : undefined;
  return isJsonObject(below) ? below : undefined;
}

/** What is owned below an item of a list. undefined: the item is not owned. */
export function ownedItem(owned: OwnedFields, item: Json | undefined): OwnedFields | undefined {
  for (const [key, below] of Object.entries(owned)) {
    if (!isJsonObject(below)) continue;
    const wanted = key.startsWith("k:") || key.startsWith("v:") ? parseJson(key.slice(2)) : undefined;
    if (wanted?.ok !== true) continue;
    if (key.startsWith("v:") ? jsonEqual(wanted.value, item ?? null) : hasAll(item, wanted.value)) return below;
  }
  return undefined;
}

function hasAll(item: Json | undefined, keys: Json): boolean {
  return (
    isJsonObject(item) && isJsonObject(keys) && Object.entries(keys).every(([name, value]) => jsonEqual(item[name] ?? null, value ?? null))
  );
}
