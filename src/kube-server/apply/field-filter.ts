/** Which fields a write may own: a write to the main resource never owns the status, one to /status nothing else. */
import { recursiveDifference, type FieldSet } from "./field-set.ts";

export type FieldFilter = (set: FieldSet) => FieldSet;

/** Per version, since field paths may differ between versions. */
export type ResetFields = ReadonlyMap<string, FieldFilter>;

/** Everything but these fields and what is below them. */
export function excluding(fields: FieldSet): FieldFilter {
  return (set) => recursiveDifference(set, fields);
}
