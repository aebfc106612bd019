/**
 * The field manager that owns a field of a live object, from `managedFields`. The server computes them before it calls webhooks: a field that a
 * webhook added has no owner, and one that it changed stays with the manager that sent its own value.
 */
import { millisecondsOf } from "#base";
import { field, isJsonObject, ownedField, ownedItem, type JsonObject } from "#kube";
import type { PatchedPath } from "./patched-path.ts";

export type FieldOwner = { readonly manager: string; readonly operation: string };

/** The operator itself: it owns the annotation that it writes, never a patched field. */
const OWN_MANAGER = "lattice";

/** Of several owners: the one that sent the request, else the last writer. undefined: none owns it. */
export function ownerOfField(managedFields: readonly unknown[], path: PatchedPath, request?: string): FieldOwner | undefined {
  const owners = managersOf(managedFields).filter(({ fields }) => isOwned(fields, path));
  return preferred(owners, request);
}

/** The manager of the request, else the last writer: for fields without an owner. */
export function lastWriter(managedFields: readonly unknown[], request?: string): FieldOwner | undefined {
  return preferred(managersOf(managedFields), request);
}

type Manager = FieldOwner & { readonly time: number; readonly fields: JsonObject };

function managersOf(managedFields: readonly unknown[]): readonly Manager[] {
  return managedFields.flatMap((entry) => {
    const [manager, operation, time, fields] = ["manager", "operation", "time", "fieldsV1"].map((name) => field(entry, name));
    if (typeof manager !== "string" || typeof operation !== "string" || !isJsonObject(fields)) return [];
    if (manager === OWN_MANAGER || field(entry, "subresource") !== undefined) return [];
    return [{ manager, operation, time: typeof time === "string" ? millisecondsOf(time) : 0, fields }];
  });
}

function preferred(managers: readonly Manager[], request: string | undefined): FieldOwner | undefined {
  const [first] = managers.toSorted((a, b) => Number(b.manager === request) - Number(a.manager === request) || b.time - a.time);
  return first === undefined ? undefined : { manager: first.manager, operation: first.operation };
}

function isOwned(fields: JsonObject, path: PatchedPath): boolean {
  let at: JsonObject | undefined = fields;
  for (const [depth, step] of path.entries()) {
    // a leaf above the field: a list that is owned as a whole
    if (depth > 0 && Object.keys(at).length === 0) return true;
    if (typeof step === "string") at = ownedField(at, step);
    else at = ownedItem(at, "key" in step ? step.key : step.value);
    if (at === undefined) return false;
  }
  return true;
}
