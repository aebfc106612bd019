/**
 * The fields of a live object that Lattice owns, from `managedFields`. A field that only the cluster has is a difference when Lattice owns it
 * and would remove it; any other field is a server default or belongs to another manager.
 */
import { isJsonObject, jsonEqual, parseJson, type Json, type JsonObject, type KubeObject } from "#kube";

/** The tree of `fieldsV1`: `f:name` is a field, `k:{…}` an item of a list. */
export type Owned = JsonObject;

export function ownedFields({ metadata }: KubeObject, manager: string): Owned {
  const trees = (metadata.managedFields ?? []).flatMap((entry) => {
    const { manager: by, operation, subresource, fieldsV1 } = isJsonObject(entry) ? entry : {};
    return by === manager && operation === "Apply" && subresource === undefined && isJsonObject(fieldsV1) ? [fieldsV1] : [];
  });
  return trees[0] ?? {};
}

/** undefined: Lattice does not own it. */
export function owns(owned: Owned, name: string): Owned | undefined {
  const below = Object.hasOwn(owned, `f:${name}`) ? owned[`f:${name}`] : undefined;
  return isJsonObject(below) ? below : undefined;
}

export function ownedItem(owned: Owned, item: Json | undefined): Owned | undefined {
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
