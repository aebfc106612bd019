/**
 * What of a set of fields may have an owner at all: not what names an object and what the server writes into it, and not what a write to this
 * door never changes.
 *
 * The answer is remembered with the set. Sets of new objects are shared by all objects of one shape, so it is nearly always there.
 */
import type { FieldFilter } from "./field-filter.ts";
import { difference, fieldSetOf, type FieldSet } from "./field-set.ts";
import { fieldPath } from "./path-element.ts";

const META = ["name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion"];
const NEVER_OWNED = fieldSetOf(
  fieldPath("apiVersion"),
  fieldPath("kind"),
  fieldPath("metadata"),
  ...META.map((name) => fieldPath("metadata", name)),
);

export function takeNeverOwned(set: FieldSet): FieldSet {
  return difference(set, NEVER_OWNED);
}

const known = new WeakMap<FieldSet, FieldSet>();

export function withoutNeverOwned(set: FieldSet): FieldSet {
  const remembered = known.get(set);
  if (remembered !== undefined) return remembered;
  const found = takeNeverOwned(set);
  known.set(set, found);
  return found;
}

const knownByFilter = new WeakMap<FieldFilter, WeakMap<FieldSet, FieldSet>>();

export function ownable(set: FieldSet, filter: FieldFilter): FieldSet {
  let ofFilter = knownByFilter.get(filter);
  if (ofFilter === undefined) {
    ofFilter = new WeakMap();
    knownByFilter.set(filter, ofFilter);
  }
  const remembered = ofFilter.get(set);
  if (remembered !== undefined) return remembered;
  const found = withoutNeverOwned(filter(set));
  ofFilter.set(set, found);
  return found;
}
