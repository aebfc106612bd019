/**
 * Which fields of a set can have an owner: not those that identify an object or that the server writes, and not those that a write to this
 * subresource never changes.
 *
 * The result is cached by set. Sets of new objects are shared by all objects of one shape, so it is nearly always cached.
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
