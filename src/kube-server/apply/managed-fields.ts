/**
 * Server-side apply and field tracking for one object: the two calls that the API server makes.
 *
 * `applyPatch` merges what a manager applies into the live object; `trackUpdate` notes who changed what in any other write. Both give a
 * new object with `metadata.managedFields` and leave their inputs alone. Defaulting, validation and storing are the caller's.
 */
import { ok, type Result } from "#base";
import { field, fieldAt, type JsonObject } from "#kube";
import { asApplyError, badRequest, failed, gvkText, invalid, objectText, type ApplyError } from "./apply-error.ts";
import { capUpdateManagers } from "./cap-managers.ts";
import { conflictsOutside } from "./conflicts.ts";
import type { ResetFields } from "./field-filter.ts";
import { isEmpty, setsEqual, union, type FieldSet } from "./field-set.ts";
import { fieldsLastApplied, withLastApplied } from "./last-applied.ts";
import { managedOfUpdate, withManagedFields, withoutManagedFields } from "./managed-metadata.ts";
import { decodeStored, managerId, NOBODY, type Managed, type ManagerId, type Managers, type VersionedSet } from "./managers.ts";
import { fieldsOfNew } from "./new-fields.ts";
import { ownable, takeNeverOwned, withoutNeverOwned } from "./ownable.ts";
import type { TypeSchema } from "./schema.ts";
import { parseStored, parseTyped } from "./typed-value.ts";
import { apply, update, type UpdateError } from "./updater.ts";
import { filterOf, noOtherVersion, type ConvertObject } from "./versions.ts";

/** What is the same for all writes to one resource in one version. */
export type ManagedKind = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: TypeSchema;
  /** "status", "scale", …; absent for the object itself. */
  readonly subresource?: string | undefined;
  readonly resetFields?: ResetFields | undefined;
  readonly convert?: ConvertObject | undefined;
  /**
   * What the kind looks like with nothing set, beside apiVersion and kind. A built-in kind always has its structs (`spec: {}`), so
   * nobody becomes their owner by creating the object.
   */
  readonly emptyObject?: JsonObject | undefined;
};

type Request = ManagedKind & {
  /** The field manager; "" becomes "unknown". */
  readonly manager: string;
  /** `2026-01-31T12:00:00Z` */
  readonly now: string;
};

/** Objects are in the version of the request; `undefined` means that there is none yet. */
export type ApplyRequest = Request & { readonly live: JsonObject | undefined; readonly applied: JsonObject; readonly force: boolean };
export type UpdateRequest = Request & { readonly old: JsonObject | undefined; readonly next: JsonObject };

const KUBECTL = "kubectl";
const CURRENT_OPERATION: ManagerId = "current-operation";
const NO_RESETS: ResetFields = new Map();
const NOTHING: JsonObject = {};

export function applyPatch(request: ApplyRequest): Result<JsonObject, ApplyError> {
  const { applied, apiVersion, kind } = request;
  const managed = decodeStored(fieldAt(request.live, "metadata", "managedFields"));
  if (!managed.ok) return invalid(`failed to decode managed fields: ${managed.error}`);
  if (field(applied, "apiVersion") !== apiVersion || field(applied, "kind") !== kind)
    return badRequest(`invalid object type: ${gvkText(applied)}`);
  const given = fieldAt(applied, "metadata", "managedFields");
  if (given !== undefined && given !== null) return badRequest("metadata.managedFields must be nil");
  const live = withoutManagedFields(request.live ?? nothingYet(request));
  const done = applyForManager({ ...request, live }, managed.value);
  if (!done.ok) return done;
  const { object, managed: after } = done.value;
  return ok(withManagedFields(request.manager === KUBECTL ? withLastApplied(object, applied) : object, after));
}

/** An update that cannot be tracked (`invalid`) loses its managedFields on a real server, not its data: see `withoutManagedFields`. */
export function trackUpdate(request: UpdateRequest): Result<JsonObject, ApplyError> {
  const managed = managedOfUpdate(request);
  const next = withoutManagedFields(request.next);
  // Without managers nothing is tracked until somebody applies, except from the creation on.
  const untracked = managed.managers.size === 0 && typeof fieldAt(request.old, "metadata", "uid") === "string";
  if (untracked) return ok(next);
  const created = request.old === undefined && managed.managers.size === 0 ? ownedByCreator(request, next) : undefined;
  if (created !== undefined) return ok(withManagedFields(next, created, false));
  const old = withoutManagedFields(request.old ?? nothingYet(request));
  const after = followUpdate({ ...request, old, next }, managed);
  return after.ok ? ok(withManagedFields(next, after.value)) : after;
}

/** Undefined: the object is unusual, and must go the long way. */
function ownedByCreator(request: UpdateRequest, object: JsonObject): Managed | undefined {
  const { schema, emptyObject = NOTHING, resetFields = NO_RESETS, apiVersion } = request;
  const all = fieldsOfNew(schema, emptyObject, object);
  if (all === undefined) return undefined;
  const set = ownable(all, filterOf({ resetFields }, apiVersion));
  if (isEmpty(set)) return NOBODY;
  const manager = idOf(request, "Update");
  return { managers: new Map([[manager, { set, apiVersion, applied: false }]]), times: new Map([[manager, request.now]]) };
}

function nothingYet({ apiVersion, kind, emptyObject }: ManagedKind): JsonObject {
  return { ...emptyObject, apiVersion, kind };
}

type WithLive<T> = T & { readonly live: JsonObject };
type Outcome = { readonly object: JsonObject; readonly managed: Managed };

function applyForManager(request: WithLive<ApplyRequest>, managed: Managed): Result<Outcome, ApplyError> {
  const before = managed.managers.size > 0 ? ok(managed) : beforeFirstApply(request);
  if (!before.ok) return before;
  const first = applyOnce(request, before.value);
  if (first.ok || !("conflicts" in first.error)) return first.ok ? first : asApplyError(first.error);
  if (request.manager !== KUBECTL) return asApplyError(first.error);
  const allowed = fieldsLastApplied(request.schema, request.live, request.apiVersion);
  const conflicts = conflictsOutside(first.error.conflicts, allowed);
  if (conflicts.length > 0) return asApplyError({ kind: "conflicts", conflicts });
  const forced = applyOnce({ ...request, force: true }, before.value);
  return forced.ok ? forced : asApplyError(forced.error);
}

/** Whatever is there when the first apply comes belongs to somebody, else a later apply could not tell it from what nobody wants. */
function beforeFirstApply(request: WithLive<ApplyRequest>): Result<Managed, ApplyError> {
  const old = nothingYet(request);
  const tracked = followUpdate({ ...request, manager: "before-first-apply", old, next: request.live }, NOBODY);
  if (tracked.ok || tracked.error.kind !== "invalid") return tracked;
  return invalid(`failed to create manager for existing fields: ${tracked.error.message}`);
}

function applyOnce(request: WithLive<ApplyRequest>, managed: Managed): Result<Outcome, UpdateError> {
  const applied = parseTyped(request.schema, request.applied, { allowDuplicates: false });
  if (!applied.ok) return failed(`failed to create typed patch object (${objectText(request.applied)}): ${applied.error}`);
  const live = parseStored(request.schema, request.live);
  if (!live.ok) return failed(`failed to create typed live object (${objectText(request.live)}): ${live.error}`);
  const manager = idOf(request, "Apply");
  const result = apply({
    ...contextOf(request),
    live: live.value,
    applied: applied.value,
    managers: managed.managers,
    manager,
    force: request.force,
  });
  if (!result.ok) return result;
  const times = result.value.object === undefined ? managed.times : new Map(managed.times).set(manager, request.now);
  return ok({
    object: result.value.object?.value ?? request.live,
    managed: { managers: strip(result.value.managers, manager, withoutNeverOwned), times },
  });
}

/** The write is first tracked under a name of its own: only if it owns anything did it change something, and does its time move. */
function followUpdate(request: UpdateRequest & { readonly old: JsonObject }, managed: Managed): Result<Managed, ApplyError> {
  const live = parseStored(request.schema, request.old);
  const next = parseStored(request.schema, request.next, live.ok ? request.old : undefined);
  if (!next.ok) return invalid(`failed to convert new object (${objectText(request.next)}) to smd typed: ${next.error}`);
  if (!live.ok) return invalid(`failed to convert live object (${objectText(request.old)}) to smd typed: ${live.error}`);
  const result = update({
    ...contextOf(request),
    live: live.value,
    next: next.value,
    managers: managed.managers,
    manager: CURRENT_OPERATION,
  });
  if (!result.ok) return asApplyError(result.error, `failed to update ManagedFields (${objectText(request.next)}): `);
  // the set of one write is not seen again, so nothing is remembered of it
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

/** Whoever writes the same fields again owns what it owned before; the same set is known, an equal one is not. */
function keepIdentity(managers: Map<ManagerId, VersionedSet>, before: Managers, id: ManagerId): void {
  const [now, then] = [managers.get(id), before.get(id)];
  if (now !== undefined && then !== undefined && now.set !== then.set && setsEqual(now.set, then.set))
    managers.set(id, { ...now, set: then.set });
}

function contextOf({ apiVersion, convert = noOtherVersion, resetFields = NO_RESETS }: ManagedKind) {
  return { apiVersion, versions: { convert, resetFields } };
}

function idOf({ manager, apiVersion, subresource = "" }: Request, operation: "Apply" | "Update"): ManagerId {
  return managerId({ manager: manager === "" ? "unknown" : manager, operation, apiVersion, subresource });
}

function strip(managers: Managers, id: ManagerId, take: (set: FieldSet) => FieldSet): Managers {
  const own = managers.get(id);
  if (own === undefined) return managers;
  const set = take(own.set);
  const stripped = new Map(managers);
  if (isEmpty(set)) stripped.delete(id);
  else stripped.set(id, { ...own, set });
  return stripped;
}
