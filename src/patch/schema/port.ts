/**
 * What strategic merge asks of a schema. Anything that can answer these two questions will do: the built-in kinds, an OpenAPI
 * document, a CRD, or a few lines in a test.
 *
 * Objects and lists are asked for separately because Kubernetes does: a field that holds a list where the schema has an object is
 * an error for one question and not for the other.
 */
import type { Result } from "#base";
import type { PatchError } from "../errors.ts";

/** `x-kubernetes-list-type`. */
export type ListType = "atomic" | "set" | "map";

/** How one field is patched. */
export type FieldMerge = {
  /** Of the field's object, or of one element of its list. */
  readonly schema: PatchSchema;
  /** "merge" and "replace" as the schema says; "" where it says nothing: objects then merge and lists are replaced. */
  readonly strategy: string;
  /** Patches made for this field name the keys that stay (`$retainKeys`). */
  readonly retainKeys: boolean;
  /** Which field tells the elements of a merge list apart; "" for lists of scalars. */
  readonly mergeKey: string;
  /** For server-side apply, and for `lists: "list-types"`; strategic merge in Kubernetes does not look at these. */
  readonly listType?: ListType | undefined;
  readonly listMapKeys?: readonly string[] | undefined;
  readonly mapType?: "atomic" | "granular" | undefined;
};

/** What strategic merge asks about the fields of one object. */
export interface PatchSchema {
  /** For messages. */
  readonly name: string;
  objectField(name: string): Result<FieldMerge, PatchError>;
  listField(name: string): Result<FieldMerge, PatchError>;
}
