/** Which fields a write may own: a write to the main resource never owns the status, one to /status nothing else. */
import { recursiveDifference, type FieldNode, type FieldSet } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";

export type FieldFilter = (set: FieldSet) => FieldSet;

/** Per version, since field paths may differ between versions. */
export type ResetFields = ReadonlyMap<string, FieldFilter>;

/** Everything but these fields and what is below them. */
export function excluding(fields: FieldSet): FieldFilter {
  return (set) => recursiveDifference(set, fields);
}

/** Any one step of a path, in `including`. */
export const ANY_STEP = Symbol("any step");

/** Only these fields, the way to them and what is below them. */
export function including(...prefixes: readonly (readonly (PathElement | typeof ANY_STEP)[])[]): FieldFilter {
  return (set) => onlyBelow(set, prefixes);
}

function onlyBelow(set: FieldSet, prefixes: readonly (readonly (PathElement | typeof ANY_STEP)[])[]): FieldSet {
  if (prefixes.some((prefix) => prefix.length === 0)) return set;
  const kept = new Map<PathElement, FieldNode>();
  for (const [element, node] of set) {
    const fitting = prefixes.filter(([step]) => step === ANY_STEP || step === element).map((prefix) => prefix.slice(1));
    if (fitting.length === 0) continue;
    const children = node.children && onlyBelow(node.children, fitting);
    const below = children !== undefined && children.size > 0 ? children : undefined;
    if (node.member || below !== undefined) kept.set(element, { member: node.member, children: below });
  }
  return kept;
}
