/**
 * Who set which field: a small model of server-side apply, enough to test an apply engine's manners and no more.
 *
 * Lists are one value, but for the three that every Lattice object has (finalizers, ownerReferences, conditions). True
 * structured merge diff belongs to kube-server.
 */
import { field, isJsonObject, jsonEqual, type Json } from "#kube";

/** How an item of a list is told from the others, by the list's path. Other lists are atomic. */
const KEYED_LISTS = new Map<string, (item: Json) => string>([
  ["metadata.finalizers", (item) => JSON.stringify(item)],
  ["metadata.ownerReferences", (item) => JSON.stringify(field(item, "uid"))],
  ["status.conditions", (item) => JSON.stringify(field(item, "type"))],
]);
const NOT_OWNED = new Set(["apiVersion", "kind"]);
const NOT_OWNED_METADATA = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "managedFields",
]);

type Leaf = { readonly path: readonly string[]; readonly value: Json };

export class Ownership {
  readonly #owners: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(owners: ReadonlyMap<string, ReadonlySet<string>> = new Map()) {
    this.#owners = owners;
  }

  equals(other: Ownership): boolean {
    const text = (ownership: Ownership) => [...ownership.#owners].map(([path, set]) => `${path}=${[...set].toSorted().join()}`).toSorted();
    return jsonEqual(text(this), text(other));
  }

  /** After an update: whoever changed a field owns it now, alone. */
  updated(before: unknown, after: unknown, manager: string): Ownership {
    const [old, now] = [leavesOf(before), leavesOf(after)];
    const owners = new Map<string, ReadonlySet<string>>();
    for (const [id, leaf] of now) {
      const unchanged = jsonEqual(old.get(id)?.value, leaf.value) && this.#owners.get(id);
      owners.set(id, unchanged || new Set([`update:${manager}`]));
    }
    return new Ownership(owners);
  }

  /** The object with `wanted` applied, or the fields that others own with another value. */
  applied(
    current: unknown,
    wanted: unknown,
    manager: string,
    force: boolean,
  ): { object: Json; ownership: Ownership; conflicts: readonly string[] } {
    const me = `apply:${manager}`;
    const [have, want] = [leavesOf(current), leavesOf(wanted)];
    const owners = new Map(this.#owners);
    const conflicts: string[] = [];
    let object = structuredClone(current) as Json;
    for (const [id, leaf] of want) {
      const same = jsonEqual(have.get(id)?.value, leaf.value);
      const others = [...(owners.get(id) ?? [])].filter((owner) => owner !== me);
      if (!same && others.length > 0 && !force) conflicts.push(`${leaf.path.join(".")} (${others.join(", ")})`);
      owners.set(id, new Set(same ? [...others, me] : [me]));
      if (!same) object = withValue(object, leaf.path, leaf.value);
    }
    for (const [id, set] of this.#owners) {
      if (!set.has(me) || want.has(id)) continue;
      const others = [...set].filter((owner) => owner !== me);
      if (others.length > 0) owners.set(id, new Set(others));
      else owners.delete(id);
      const leaf = have.get(id);
      if (others.length === 0 && leaf !== undefined) object = withValue(object, leaf.path, undefined);
    }
    return { object, ownership: new Ownership(owners), conflicts };
  }
}

function leavesOf(value: unknown): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  collectLeaves(value, [], leaves);
  return leaves;
}

function collectLeaves(value: unknown, path: readonly string[], into: Map<string, Leaf>): void {
  const keyed = KEYED_LISTS.get(path.join("."));
  if (Array.isArray(value) && keyed !== undefined) {
    for (const item of value as Json[]) collectLeaf(item, [...path, keyed(item)], into);
  } else if (isJsonObject(value) && Object.keys(value).length > 0) {
    for (const [name, item] of Object.entries(value)) {
      const skip =
        (path.length === 0 && NOT_OWNED.has(name)) || (path.length === 1 && path[0] === "metadata" && NOT_OWNED_METADATA.has(name));
      if (!skip && item !== undefined) collectLeaves(item, [...path, name], into);
    }
  } else if (path.length > 0) collectLeaf(value as Json, path, into);
}

function collectLeaf(value: Json, path: readonly string[], into: Map<string, Leaf>): void {
  into.set(JSON.stringify(path), { path, value });
}

/** A copy with one leaf set, or taken out (`undefined`); containers that become empty go with it. */
function withValue(value: Json | undefined, path: readonly string[], leaf: Json | undefined, at: readonly string[] = []): Json {
  const [name = "", ...rest] = path;
  const keyed = KEYED_LISTS.get(at.join("."));
  if (keyed !== undefined) {
    const items = Array.isArray(value) ? (value as Json[]) : [];
    const index = items.findIndex((item) => keyed(item) === name);
    if (leaf === undefined) return items.filter((_, i) => i !== index);
    return index < 0 ? [...items, leaf] : items.with(index, leaf);
  }
  const fields = isJsonObject(value) ? { ...value } : {};
  const next = rest.length === 0 ? leaf : withValue(fields[name], rest, leaf, [...at, name]);
  const empty = next === undefined || (leaf === undefined && typeof next === "object" && next !== null && Object.keys(next).length === 0);
  if (empty) delete fields[name];
  else fields[name] = next;
  return fields;
}
