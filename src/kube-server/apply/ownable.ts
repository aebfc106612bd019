/**
 * What of a set of fields may have an owner at all: not what names an object and what the server writes into it, and not what a write to this
 * door never changes.
 *
 * The answer is remembered with the set. Sets of new objects are shared by all objects of one shape, so it is nearly always there.
 */
import { memoizeByObject } from "#base";
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

export const withoutNeverOwned = memoizeByObject(takeNeverOwned);

const ownableBy = memoizeByObject((filter: FieldFilter) => memoizeByObject((set: FieldSet) => withoutNeverOwned(filter(set))));

export function ownable(set: FieldSet, filter: FieldFilter): FieldSet {
  return ownableBy(filter)(set);
}
