/**
 * The differences between two versions of one object, field by field. List items are matched by their `name` where all have one, like
 * containers and ports; otherwise by index.
 */
import {
  canonicalJson,
  compareQuantities,
  isJsonObject,
  jsonEqual,
  ownedField,
  ownedItem,
  parseQuantity,
  type Json,
  type JsonObject,
  type OwnedFields,
} from "#kube";

/** One field that differs. It never contains values of Secrets. */
export type FieldChange = {
  /** `spec.template.spec.containers[main].image`. */
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: Json;
  readonly after?: Json;
};

export type Comparing = {
  /**
   * Fields that Lattice owns when `before` is read from a cluster. Other fields that only the cluster has are ignored: they are defaults of the server
   * or belong to another manager. undefined: `before` is a file.
   */
  readonly owned?: OwnedFields | undefined;
};

type Side = Json | undefined;

export function changedFields(before: Side, after: Side, path: string, { owned }: Comparing = {}): readonly FieldChange[] {
  if (before === undefined || after === undefined) {
    if (before === after) return [];
    const change = before === undefined ? "added" : "removed";
    return [{ path, change, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  }
  if (isJsonObject(before) && isJsonObject(after)) return inObjects(before, after, path, { owned });
  if (Array.isArray(before) && Array.isArray(after)) return inLists(before, after, path, { owned });
  return jsonEqual(before, after) || sameAmount(before, after, path) ? [] : [{ path, change: "changed", before, after }];
}

function inObjects(before: JsonObject, after: JsonObject, path: string, { owned }: Comparing): readonly FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [own, old] = [at(after, name), at(before, name)];
    const below = owned === undefined ? undefined : ownedField(owned, name);
    if (own === undefined && owned !== undefined && below === undefined) return [];
    // of a removed map, only the keys that Lattice owns are removed
    if (own === undefined && isJsonObject(old) && below !== undefined && Object.keys(below).length > 0)
      return inObjects(old, {}, joined(path, name), { owned: below });
    return changedFields(old, own, joined(path, name), owned === undefined ? {} : { owned: below ?? {} });
  });
}

function at(object: JsonObject, name: string): Side {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Keys with dots or slashes (annotations, file names) are written in brackets. */
function joined(path: string, name: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(name)) return path === "" ? name : `${path}.${name}`;
  return `${path}["${name}"]`;
}

function inLists(before: readonly Json[], after: readonly Json[], path: string, comparing: Comparing): readonly FieldChange[] {
  const [old, own] = [byName(before), byName(after)];
  if (old === undefined || own === undefined) return inOrder(before, after, path, comparing);
  return [...new Set([...old.keys(), ...own.keys()])].flatMap((name) =>
    inItem(old.get(name), own.get(name), `${path}[${name}]`, comparing),
  );
}

/** Items in both lists are not a change; the rest is compared in order, and reported with its new index. */
function inOrder(before: readonly Json[], after: readonly Json[], path: string, comparing: Comparing): readonly FieldChange[] {
  const left = before.map((item) => canonicalJson(item));
  const right = after.map((item) => canonicalJson(item));
  const gone = unmatched(left, right);
  const come = unmatched(right, left);
  if (gone.length === 0 && come.length === 0) return jsonEqual(before, after) ? [] : [{ path, change: "changed", before, after }];
  return [...Array(Math.max(gone.length, come.length)).keys()].flatMap((index) => {
    const [from, to] = [gone[index], come[index]];
    return inItem(
      from === undefined ? undefined : before[from],
      to === undefined ? undefined : after[to],
      `${path}[${to ?? from ?? 0}]`,
      comparing,
    );
  });
}

/** Indexes of items that the other list does not have, or has fewer times. */
function unmatched(items: readonly string[], others: readonly string[]): readonly number[] {
  const left = new Map<string, number>();
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1);
  return items.flatMap((item, at) => {
    const there = left.get(item) ?? 0;
    left.set(item, there - 1);
    return there > 0 ? [] : [at];
  });
}

function inItem(left: Side, right: Side, path: string, { owned }: Comparing): readonly FieldChange[] {
  if (owned === undefined) return changedFields(left, right, path);
  const below = ownedItem(owned, left ?? right);
  // a list that is owned as a whole has no ownership per item: Lattice owns all of them
  if (right === undefined && below === undefined && Object.keys(owned).length > 0) return [];
  return changedFields(left, right, path, { owned: below ?? {} });
}

/** undefined: an item has no name, or two items have the same name. */
function byName(items: readonly Json[]): ReadonlyMap<string, Json> | undefined {
  const named = new Map<string, Json>();
  for (const item of items) {
    const name = isJsonObject(item) ? item["name"] : undefined;
    if (typeof name !== "string" || named.has(name)) return undefined;
    named.set(name, item);
  }
  return named;
}

/** An API server writes 1000m as 1. */
function sameAmount(before: Json, after: Json, path: string): boolean {
  if (!/\.(requests|limits)[.[]/.test(path)) return false;
  const [old, own] = [before, after].map((amount) => parseQuantity(typeof amount === "string" ? amount : JSON.stringify(amount)));
  return old?.ok === true && own?.ok === true && compareQuantities(old.value, own.value) === 0;
}
