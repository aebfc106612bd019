/**
 * Sets of fields, as tries. A node is a member itself, has members below it, or both (an owned map, and some of its fields).
 *
 * Sets are values: every operation gives a new set and may share parts with the old ones. Only `insert` and `graft` change a set, while it
 * is being built. No node is empty: each is a member or has children.
 */
import { fieldNameOf, isKeyElement, sortElements, type FieldPath, type PathElement } from "./path-element.ts";
import { fieldType, type TypeSchema } from "./schema.ts";

export type FieldNode = { readonly member: boolean; readonly children: FieldSet | undefined };
export type FieldSet = ReadonlyMap<PathElement, FieldNode>;

type GrowingNode = { member: boolean; children: GrowingSet | undefined };
export type GrowingSet = Map<PathElement, GrowingNode>;

export const EMPTY_SET: FieldSet = new Map();

export function fieldSetOf(...paths: readonly FieldPath[]): FieldSet {
  const set: GrowingSet = new Map();
  for (const path of paths) insert(set, path);
  return set;
}

/** Adds a path to a set that is not shared yet. */
export function insert(set: GrowingSet, path: FieldPath): void {
  let at = set;
  for (let depth = 0; depth < path.length; depth++) {
    const node = nodeAt(at, path[depth] ?? "");
    if (depth === path.length - 1) node.member = true;
    else at = node.children ??= new Map();
  }
}

/** Puts a whole node at a path of a set that is not shared yet; nothing else is below that path. */
export function graft(set: GrowingSet, path: FieldPath, node: FieldNode): void {
  let at = set;
  for (const element of path.slice(0, -1)) at = nodeAt(at, element).children ??= new Map();
  at.set(path.at(-1) ?? "", node as GrowingNode);
}

function nodeAt(set: GrowingSet, element: PathElement): GrowingNode {
  let node = set.get(element);
  if (node === undefined) {
    node = { member: false, children: undefined };
    set.set(element, node);
  }
  return node;
}

export function isEmpty(set: FieldSet): boolean {
  return set.size === 0;
}

export function has(set: FieldSet, path: FieldPath): boolean {
  let at: FieldSet | undefined = set;
  for (const element of path.slice(0, -1)) at = at?.get(element)?.children;
  return path.length > 0 && at?.get(path.at(-1) ?? "")?.member === true;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0 || a === b) return a;
  if (isSubset(a, b)) return b; // the same object, so that caches by identity stay valid
  const both = new Map(a);
  for (const [element, theirs] of b) {
    const ours = a.get(element);
    const joined = ours && { member: ours.member || theirs.member, children: unionOfChildren(ours.children, theirs.children) };
    both.set(element, joined ?? theirs);
  }
  return both;
}

/** The union of any number of sets at once: a pairwise union would copy the first set each time. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  const all: GrowingSet = new Map();
  for (const set of sets) addAll(all, set);
  return all;
}

function addAll(all: GrowingSet, set: FieldSet): void {
  for (const [element, { member, children }] of set) {
    const node = nodeAt(all, element);
    node.member ||= member;
    if (children !== undefined) addAll((node.children ??= new Map()), children);
  }
}

function unionOfChildren(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return union(a, b);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const shared = new Map<PathElement, FieldNode>();
  for (const [element, ours] of a) {
    const theirs = b.get(element);
    if (theirs === undefined) continue;
    const children = ours.children && theirs.children ? intersection(ours.children, theirs.children) : undefined;
    keep(shared, element, { member: ours.member && theirs.member, children });
  }
  return shared;
}

/** Members of `a` that are not in `b`, path by path: children stay when only their parent is in `b`. Returns `a` itself if nothing is removed. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let rest: Map<PathElement, FieldNode> | undefined;
  for (const element of a.size < b.size ? a.keys() : b.keys()) {
    const ours = a.get(element);
    const theirs = b.get(element);
    if (ours === undefined || theirs === undefined) continue;
    const children = ours.children && theirs.children ? difference(ours.children, theirs.children) : ours.children;
    if (children === ours.children && !(ours.member && theirs.member)) continue;
    rest ??= new Map(a);
    rest.delete(element);
    keep(rest, element, { member: ours.member && !theirs.member, children });
  }
  return rest ?? a;
}

export function isSubset(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  for (const [element, ours] of a) {
    const theirs = b.get(element);
    if (theirs === undefined || (ours.member && !theirs.member)) return false;
    if (ours.children !== undefined && !isSubset(ours.children, theirs.children ?? EMPTY_SET)) return false;
  }
  return true;
}

/** As `difference`, but a member of `b` also removes everything below it. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  let rest: Map<PathElement, FieldNode> | undefined;
  for (const element of a.size < b.size ? a.keys() : b.keys()) {
    const ours = a.get(element);
    const theirs = b.get(element);
    if (ours === undefined || theirs === undefined) continue;
    const children = ours.children && theirs.children ? recursiveDifference(ours.children, theirs.children) : ours.children;
    if (!theirs.member && children === ours.children) continue;
    rest ??= new Map(a);
    rest.delete(element);
    if (!theirs.member) keep(rest, element, { member: ours.member, children });
  }
  return rest ?? a;
}

function keep(set: Map<PathElement, FieldNode>, element: PathElement, node: FieldNode): void {
  const children = node.children !== undefined && node.children.size > 0 ? node.children : undefined;
  if (node.member || children !== undefined) set.set(element, children === node.children ? node : { member: node.member, children });
}

/** Members without members below them. */
export function leaves(set: FieldSet): FieldSet {
  const ends = new Map<PathElement, FieldNode>();
  for (const [element, { children }] of set) ends.set(element, { member: children === undefined, children: children && leaves(children) });
  return ends;
}

export function setsEqual(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [element, ours] of a) {
    const theirs = b.get(element);
    if (theirs === undefined || ours.member !== theirs.member) return false;
    if (!setsEqual(ours.children ?? EMPTY_SET, theirs.children ?? EMPTY_SET)) return false;
  }
  return true;
}

/** The number of members. */
export function sizeOf(set: FieldSet): number {
  let size = 0;
  for (const { member, children } of set.values()) size += (member ? 1 : 0) + (children === undefined ? 0 : sizeOf(children));
  return size;
}

/** All members in the order in which a real server lists them: on each level the members first, then what is below. */
export function* pathsOf(set: FieldSet, prefix: FieldPath = []): Generator<FieldPath> {
  const sorted = sortElements(set.keys());
  for (const element of sorted) if (set.get(element)?.member === true) yield [...prefix, element];
  for (const element of sorted) {
    const children = set.get(element)?.children;
    if (children !== undefined) yield* pathsOf(children, [...prefix, element]);
  }
}

/** Adds declared fields that have members below them: removing all fields must also remove the struct around them. */
export function withNamedFields(set: FieldSet, type: TypeSchema | undefined): FieldSet {
  if (type === undefined) return set;
  const named = new Map<PathElement, FieldNode>();
  for (const [element, node] of set) {
    const name = fieldNameOf(element);
    const declared = name === undefined ? undefined : type.map?.field(name);
    const below = node.children && withNamedFields(node.children, declared ?? typeBelow(type, element, name));
    named.set(element, { member: node.member || (node.children !== undefined && declared !== undefined), children: below });
  }
  return named;
}

function typeBelow(type: TypeSchema, element: PathElement, name: string | undefined): TypeSchema | undefined {
  if (name !== undefined) return type.map && fieldType(type.map, name);
  return isKeyElement(element) ? type.list?.element : undefined;
}
