/**
 * The interface of schemas for strategic merge, implemented for built-in kinds, OpenAPI documents and CRDs.
 *
 * Objects and lists have separate methods as in Kubernetes: a field that has a list where the schema has an object is an error for one
 * method and not for the other.
 */
import type { Result } from "#base";
import type { PatchError } from "../errors.ts";

/** `x-kubernetes-list-type`. */
export type ListType = "atomic" | "set" | "map";

/** How one field is patched. */
export type FieldMerge = {
  /** The schema of the field's object, or of one element of its list. */
  readonly schema: PatchSchema;
  /** "merge" or "replace"; "" if the schema has no strategy: then objects merge and lists are replaced. */
  readonly strategy: string;
  /** Patches for this field list the retained keys (`$retainKeys`). */
  readonly retainKeys: boolean;
  /** The field that identifies the elements of a merge list; "" for lists of scalars. */
  readonly mergeKey: string;
  /** For server-side apply, and for `lists: "list-types"`; strategic merge in Kubernetes ignores these. */
  readonly listType?: ListType | undefined;
  readonly listMapKeys?: readonly string[] | undefined;
  readonly mapType?: "atomic" | "granular" | undefined;
};

/** The merge rules of the fields of one object. */
export interface PatchSchema {
  /** For messages. */
  readonly name: string;
  objectField(name: string): Result<FieldMerge, PatchError>;
  listField(name: string): Result<FieldMerge, PatchError>;
}
