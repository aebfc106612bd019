/**
 * The owners of fields after a write that is not an apply.
 *
 * Most writes come from a manager that wrote the same fields before: a controller that counts, a user who edits a value. Then only a time
 * changes, which a comparison of the changed parts shows; all other writes are tracked field by field.
 */
import { ok, type Result } from "#base";
import type { JsonObject } from "#kube";
import { asApplyError, invalid, objectText, type ApplyError } from "./apply-error.ts";
import { capUpdateManagers } from "./cap-managers.ts";
import type { ResetFields } from "./field-filter.ts";
import { isEmpty, setsEqual, union, type FieldSet } from "./field-set.ts";
import type { ManagedKind, TrackedWrite, UpdateRequest } from "./managed-kind.ts";
import { managerId, type ManagedFields, type ManagerId, type Managers, type VersionedSet } from "./managers.ts";
import { ownable, takeNeverOwned } from "./ownable.ts";
import { reconcileFieldSet } from "./reconcile-schema.ts";
import { parseStored, type TypedValue } from "./typed-value.ts";
import { update } from "./updater.ts";
import { valuesOnly } from "./values-only.ts";
import { filterOf, noOtherVersion } from "./versions.ts";

const CURRENT_OPERATION: ManagerId = "current-operation";
const NO_RESETS: ResetFields = new Map();

type Followed = UpdateRequest & { readonly old: JsonObject };
type Pair = { readonly live: TypedValue; readonly next: TypedValue };

export function followUpdate(request: Followed, managed: ManagedFields): Result<ManagedFields, ApplyError> {
  const live = parseStored(request.schema, request.old);
  const next = parseStored(request.schema, request.next, live.ok ? request.old : undefined);
  if (!next.ok) return invalid(`failed to convert new object (${objectText(request.next)}) to smd typed: ${next.error}`);
  if (!live.ok) return invalid(`failed to convert live object (${objectText(request.old)}) to smd typed: ${live.error}`);
  const same = followOwnValues(request, managed);
  return same === undefined ? followFieldByField(request, managed, { live: live.value, next: next.value }) : ok(same);
}

/** Undefined: the write may have done more than change values of fields that its manager owns alone. */
export function followOwnValues(request: Followed, managed: ManagedFields): ManagedFields | undefined {
  const { apiVersion, schema, old, next } = request;
  const manager = idOf(request, "Update");
  const own = managed.managers.get(manager);
  if (own === undefined) return undefined;
  const others: FieldSet[] = [];
  for (const [id, versioned] of managed.managers) {
    if (versioned.apiVersion !== apiVersion || reconcileFieldSet(versioned.set, schema) !== versioned.set) return undefined;
    if (id !== manager) others.push(versioned.set);
  }
  const change = valuesOnly(
    schema,
    { before: old, after: next },
    ownable(own.set, filterOf(contextOf(request).versions, apiVersion)),
    others,
  );
  if (change === "more") return undefined;
  const times = change === "nothing" ? managed.times : new Map(managed.times).set(manager, request.now);
  return capUpdateManagers({ managers: managed.managers, times });
}

/** The write is first tracked under a separate name: only if that name owns fields, the write changed something, and its time changes. */
export function followFieldByField(request: Followed, managed: ManagedFields, { live, next }: Pair): Result<ManagedFields, ApplyError> {
  const result = update({ ...contextOf(request), live, next, managers: managed.managers, manager: CURRENT_OPERATION });
  if (!result.ok) return asApplyError(result.error, `failed to update ManagedFields (${objectText(request.next)}): `);
  // not cached: the set of one write does not occur again
  const managers = new Map(strip(result.value, CURRENT_OPERATION, takeNeverOwned));
  const own = managers.get(CURRENT_OPERATION);
  if (own === undefined) return ok(capUpdateManagers({ managers, times: managed.times }));
  const manager = idOf(request, "Update");
  const previous = managers.get(manager);
  managers.delete(CURRENT_OPERATION);
  managers.set(manager, previous === undefined ? own : { ...own, set: union(own.set, previous.set) });
  keepIdentity(managers, managed.managers, manager);
  return ok(capUpdateManagers({ managers, times: new Map(managed.times).set(manager, request.now) }));
}

/** A manager that writes the same fields again keeps its set object: caches find the same object, not an equal one. */
function keepIdentity(managers: Map<ManagerId, VersionedSet>, before: Managers, id: ManagerId): void {
  const [now, then] = [managers.get(id), before.get(id)];
  if (now !== undefined && then !== undefined && now.set !== then.set && setsEqual(now.set, then.set))
    managers.set(id, { ...now, set: then.set });
}

export function contextOf({ apiVersion, convert = noOtherVersion, resetFields = NO_RESETS }: ManagedKind) {
  return { apiVersion, versions: { convert, resetFields } };
}

export function idOf({ manager, apiVersion, subresource = "" }: TrackedWrite, operation: "Apply" | "Update"): ManagerId {
  return managerId({ manager: manager === "" ? "unknown" : manager, operation, apiVersion, subresource });
}

export function strip(managers: Managers, id: ManagerId, take: (set: FieldSet) => FieldSet): Managers {
  const own = managers.get(id);
  if (own === undefined) return managers;
  const set = take(own.set);
  const stripped = new Map(managers);
  if (isEmpty(set)) stripped.delete(id);
  else stripped.set(id, { ...own, set });
  return stripped;
}
