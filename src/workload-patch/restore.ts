/** Takes recorded fields off a Deployment: each gets its value before, unless it was changed since. A field that is given up has the owner's value already. */
import { jsonEqual, type Json, type JsonObject } from "#kube";
import { ownerValue } from "./owner-value.ts";
import type { PatchedField } from "./patch-record.ts";
import { valueAt, withValueAt } from "./patched-path.ts";

export type RestoredField = {
  readonly field: PatchedField;
  /** The value when the restoration started. */
  readonly now: Json | undefined;
  readonly changed: boolean;
};

export type Restored = { readonly object: JsonObject; readonly fields: readonly RestoredField[] };

export function restoreFields(deployment: JsonObject, fields: readonly PatchedField[]): Restored {
  let object: Json = deployment;
  const restored: RestoredField[] = [];
  // in reverse: elements before the lists that were created for them
  for (const patched of fields.toReversed()) {
    if (patched.backoff !== undefined) continue;
    const now = valueAt(object, patched.path);
    if (patched.created === true) {
      if (isEmptyValue(now)) object = withValueAt(object, patched.path, patched.before);
      continue;
    }
    const { value, changed } = ownerValue(patched, now);
    restored.push({ field: patched, now, changed });
    if (!jsonEqual(value, now)) object = withValueAt(object, patched.path, value, patched.index);
  }
  return { object: object as JsonObject, fields: restored.toReversed() };
}

function isEmptyValue(value: Json | undefined): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
