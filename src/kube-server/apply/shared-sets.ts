/**
 * Interned field sets: all values of one shape share one set object. A thousand Deployments with the same fields share one set, its text and
 * all results that are cached by it.
 *
 * A set is looked up element by element in a trie of all interned sets; the last node holds the set. Names come from users, so the trie is
 * reset when it has grown too large: a later set is another, equal object.
 */
import { EMPTY_SET, type FieldNode, type FieldSet } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";

/** A node of the trie. */
export type Spelling = {
  readonly from: Spelling | undefined;
  readonly element: PathElement;
  readonly node: FieldNode;
  /** The next node for a leaf element; nearly all elements are leaves. */
  readonly leaves: Map<PathElement, Spelling>;
  /** The next node for an element with nested elements. */
  readonly branches: Map<PathElement, Map<FieldNode, Spelling>>;
  member: FieldNode | undefined;
  passage: FieldNode | undefined;
};

/** A field without nested elements. */
export const LEAF: FieldNode = { member: true, children: undefined };

const MOST_STEPS = 50_000;
/** So many characters of a name count as one node, because users choose the length of names. */
const CHARACTERS_PER_STEP = 256;
let steps = 0;
let root = step(undefined, "", LEAF);

function step(from: Spelling | undefined, element: PathElement, node: FieldNode): Spelling {
  steps += Math.floor(element.length / CHARACTERS_PER_STEP);
  return { from, element, node, leaves: new Map(), branches: new Map(), member: undefined, passage: undefined };
}

export function beginSet(): Spelling {
  if (steps > MOST_STEPS) {
    steps = 0;
    root = step(undefined, "", LEAF);
  }
  return root;
}

/** Elements of one set must be unique. */
export function addToSet(at: Spelling, element: PathElement, node: FieldNode): Spelling {
  if (node === LEAF) return at.leaves.get(element) ?? grow(at.leaves, element, step(at, element, node));
  const same = at.branches.get(element);
  if (same === undefined) {
    const made = step(at, element, node);
    grow(at.branches, element, new Map([[node, made]]));
    return made;
  }
  return same.get(node) ?? grow(same, node, step(at, element, node));
}

function grow<K, V>(into: Map<K, V>, key: K, value: V): V {
  steps += 1;
  into.set(key, value);
  return value;
}

/** The field itself and its nested set. */
export function memberOf(at: Spelling): FieldNode {
  return at.from === undefined ? LEAF : (at.member ??= { member: true, children: setOf(at) });
}

/** Only the nested set; undefined if empty. */
export function passageOf(at: Spelling): FieldNode | undefined {
  return at.from === undefined ? undefined : (at.passage ??= { member: false, children: setOf(at) });
}

/** One set object for both nodes, because results are cached by identity. */
function setOf(at: Spelling): FieldSet {
  const known = at.member?.children ?? at.passage?.children;
  if (known !== undefined) return known;
  const entries: [PathElement, FieldNode][] = [];
  for (let place = at; place.from !== undefined; place = place.from) entries.push([place.element, place.node]);
  return entries.length === 0 ? EMPTY_SET : new Map(entries.toReversed());
}
