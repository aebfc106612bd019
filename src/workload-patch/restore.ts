/** Takes recorded fields off a Deployment: each gets its value before, unless it was changed since. A field that is given up has the owner's value already. */
import { jsonEqual, type Json, type JsonObject } from "#kube";
import { ownerValue } from "./owner-value.ts";
import type { PatchedField } from "./patch-record.ts";
import { pathKey, valueAt, withValueAt, type PatchedPath } from "./patched-path.ts";

export type RestoredField = {
  readonly field: PatchedField;
  /** The value when the restoration started. */
  readonly now: Json | undefined;
  readonly changed: boolean;
};

export type Restored = { readonly object: JsonObject; readonly fields: readonly RestoredField[] };

export function restoreFields(deployment: JsonObject, fields: readonly PatchedField[]): Restored {
  const created = new Set(fields.flatMap((entry) => (entry.created === true ? [pathKey(entry.path)] : [])));
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
    if (jsonEqual(value, now)) continue;
    object = withValueAt(object, patched.path, value, patched.index);
    if (value === undefined) object = withoutEmptyParent(object, patched.path, created);
  }
  return { object: object as JsonObject, fields: restored.toReversed() };
}

/** The server stores no empty lists and maps: where the owner's last field or element is gone meanwhile, they are removed. */
function withoutEmptyParent(object: Json, path: PatchedPath, created: ReadonlySet<string>): Json {
  const parent = path.slice(0, -1);
  const name = parent.at(-1);
  if (parent.length <= ROOT_STEPS || typeof name !== "string" || name === "resources" || created.has(pathKey(parent))) return object;
  return isEmptyValue(valueAt(object, parent)) ? withoutEmptyParent(withValueAt(object, parent, undefined), parent, created) : object;
}

/** `spec.template.spec` and `spec.template.metadata` are always there. */
const ROOT_STEPS = 3;

function isEmptyValue(value: Json | undefined): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
