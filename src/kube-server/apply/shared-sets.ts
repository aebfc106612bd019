/**
 * Field sets that are one and the same thing for all values of one shape. A thousand Deployments of one make set the same fields, so they
 * share one set, and with it its text and all that was worked out of it.
 *
 * A set is spelled, element by element, along a tree of all the sets that were spelled before; where the spelling ends, the set is kept.
 * Names in a set come from users, so the tree is cut down when it has grown too large: a set spelled after that is another, equal one.
 */
import { EMPTY_SET, type FieldNode, type FieldSet } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";

/** Where a spelling has come to. */
export type Spelling = {
  readonly from: Spelling | undefined;
  readonly element: PathElement;
  readonly node: FieldNode;
  /** The next step by its element, when that is a leaf; nearly all are. */
  readonly leaves: Map<PathElement, Spelling>;
  /** And when it has something below it. */
  readonly branches: Map<PathElement, Map<FieldNode, Spelling>>;
  member: FieldNode | undefined;
  passage: FieldNode | undefined;
};

/** A field with nothing of interest below it. */
export const LEAF: FieldNode = { member: true, children: undefined };

const MOST_STEPS = 50_000;
/** So many characters of a name weigh as much as a step: names are as long as users like. */
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

/** No element may come twice in one set. */
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

/** The field itself and what is in the set below it. */
export function memberOf(at: Spelling): FieldNode {
  return at.from === undefined ? LEAF : (at.member ??= { member: true, children: setOf(at) });
}

/** Only what is below; undefined when that is nothing. */
export function passageOf(at: Spelling): FieldNode | undefined {
  return at.from === undefined ? undefined : (at.passage ??= { member: false, children: setOf(at) });
}

/** One set for both nodes: what is remembered of a set is remembered by its identity. */
function setOf(at: Spelling): FieldSet {
  const known = at.member?.children ?? at.passage?.children;
  if (known !== undefined) return known;
  const entries: [PathElement, FieldNode][] = [];
  for (let place = at; place.from !== undefined; place = place.from) entries.push([place.element, place.node]);
  return entries.length === 0 ? EMPTY_SET : new Map(entries.toReversed());
}
