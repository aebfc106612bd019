/**
 * Server-side apply and field tracking for one object: the two functions that the API server calls.
 *
 * `applyPatch` merges an applied configuration into the live object; `trackUpdate` records the manager of changed fields in any other write.
 * Both return a new object with `metadata.managedFields` and do not change their inputs. The caller does defaulting, validation and storing.
 */
import { ok, type Result } from "#base";
import { field, fieldAt, type JsonObject } from "#kube";
import { asApplyError, badRequest, failed, gvkText, invalid, objectText, type ApplyError } from "./apply-error.ts";
import { conflictsOutside } from "./conflicts.ts";
import { isEmpty } from "./field-set.ts";
import { contextOf, followUpdate, idOf, strip } from "./follow-update.ts";
import { fieldsLastApplied, withLastApplied } from "./last-applied.ts";
import { managedOfUpdate, withManagedFields, withoutManagedFields } from "./managed-metadata.ts";
import type { ApplyRequest, ManagedKind, UpdateRequest } from "./managed-kind.ts";
import { decodeStored, NO_MANAGERS, type ManagedFields } from "./managers.ts";
import { fieldsOfNew } from "./new-fields.ts";
import { ownable, withoutNeverOwned } from "./ownable.ts";
import { parseStored, parseTyped } from "./typed-value.ts";
import { apply, type UpdateError } from "./updater.ts";
import { convertWith, filterOf } from "./versions.ts";

const KUBECTL = "kubectl";
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
  const done = applyForManager({ ...request, ...convertingManaged(request, request.live), live }, managed.value);
  if (!done.ok) return done;
  const { object, managed: after } = done.value;
  return ok(withManagedFields(request.manager === KUBECTL ? withLastApplied(object, applied) : object, after));
}

/** An update that cannot be tracked (`invalid`) loses its managedFields on a real server, not its data: see `withoutManagedFields`. */
export function trackUpdate(request: UpdateRequest): Result<JsonObject, ApplyError> {
  const managed = managedOfUpdate(request);
  const next = withoutManagedFields(request.next);
  // An object without managers is not tracked until the first apply; a new object is tracked from its creation on.
  const untracked = managed.managers.size === 0 && typeof fieldAt(request.old, "metadata", "uid") === "string";
  if (untracked) return ok(next);
  const created = request.old === undefined && managed.managers.size === 0 ? ownedByCreator(request, next) : undefined;
  if (created !== undefined) return ok(withManagedFields(next, created, false));
  const old = withoutManagedFields(request.old ?? nothingYet(request));
  const after = followUpdate({ ...request, ...convertingManaged(request, request.old, old), old, next }, managed);
  return after.ok ? ok(withManagedFields(next, after.value)) : after;
}

/** Undefined: the fast path does not handle this object. */
function ownedByCreator(request: UpdateRequest, object: JsonObject): ManagedFields | undefined {
  const { schema, emptyObject = NOTHING, apiVersion } = request;
  const all = fieldsOfNew(schema, emptyObject, object);
  if (all === undefined) return undefined;
  const set = ownable(all, filterOf(contextOf(request).versions, apiVersion));
  if (isEmpty(set)) return NO_MANAGERS;
  const manager = idOf(request, "Update");
  return { managers: new Map([[manager, { set, apiVersion, applied: false }]]), times: new Map([[manager, request.now]]) };
}

function nothingYet({ apiVersion, kind, emptyObject }: ManagedKind): JsonObject {
  return { ...emptyObject, apiVersion, kind };
}

function convertingManaged({ convert, convertsManagedFields }: ManagedKind, live: JsonObject | undefined, stored?: JsonObject) {
  if (convert === undefined || convertsManagedFields !== true) return undefined;
  return { convert: convertWith(convert, fieldAt(live, "metadata", "managedFields"), stored) };
}

type WithLive<T> = T & { readonly live: JsonObject };
type Outcome = { readonly object: JsonObject; readonly managed: ManagedFields };

function applyForManager(request: WithLive<ApplyRequest>, managed: ManagedFields): Result<Outcome, ApplyError> {
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

/** Fields that exist at the first apply get an owner; otherwise a later apply could not distinguish them from fields to remove. */
function beforeFirstApply(request: WithLive<ApplyRequest>): Result<ManagedFields, ApplyError> {
  const old = nothingYet(request);
  const tracked = followUpdate({ ...request, manager: "before-first-apply", old, next: request.live }, NO_MANAGERS);
  if (tracked.ok || tracked.error.kind !== "invalid") return tracked;
  return invalid(`failed to create manager for existing fields: ${tracked.error.message}`);
}

function applyOnce(request: WithLive<ApplyRequest>, managed: ManagedFields): Result<Outcome, UpdateError> {
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
