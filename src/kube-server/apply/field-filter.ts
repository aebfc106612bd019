/** The fields that a write may own: a write to the main resource never owns the status, a write to /status owns only the status. */
import { recursiveDifference, type FieldSet } from "./field-set.ts";

export type FieldFilter = (set: FieldSet) => FieldSet;

/** Per version, since field paths may differ between versions. */
export type ResetFields = ReadonlyMap<string, FieldFilter>;

/** All fields except these and their nested fields. */
export function excluding(fields: FieldSet): FieldFilter {
  return (set) => recursiveDifference(set, fields);
}
