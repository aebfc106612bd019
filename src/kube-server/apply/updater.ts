/**
 * Computes the owners of fields after a write: the core of server-side apply, without names, times and metadata.
 *
 * `update` tracks a completed write; `apply` performs the write. Both remove a changed or removed field from all other managers; an apply
 * without force is a conflict if it changes fields of others.
 */
import { err, ok, type Result } from "#base";
import { jsonEqual } from "#kube";
import { compare, mapComparison, type Comparison } from "./compare.ts";
import { conflictsOf, type OwnedField } from "./conflicts.ts";
import { difference, EMPTY_SET, intersection, isEmpty, union, type FieldSet } from "./field-set.ts";
import type { ManagerId, Managers, VersionedSet } from "./managers.ts";
import { merge } from "./merge.ts";
import { prune } from "./prune.ts";
import { reconcileFieldSet } from "./reconcile-schema.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { TypedValue } from "./typed-value.ts";
import { validate } from "./validate.ts";
import { filterOf, toVersion, withValue, type ConvertError, type Versions } from "./versions.ts";

export type UpdateError =
  | { readonly kind: "conflicts"; readonly conflicts: readonly OwnedField[] }
  | { readonly kind: "failed"; readonly message: string };

type Write = {
  readonly versions: Versions;
  readonly apiVersion: string;
  readonly live: TypedValue;
  readonly managers: Managers;
  readonly manager: ManagerId;
};

export type UpdateInput = Write & { readonly next: TypedValue };
export type ApplyInput = Write & { readonly applied: TypedValue; readonly force: boolean };

export function update(input: UpdateInput): Result<Managers, UpdateError> {
  const known = reconcileManagers(input);
  if (!known.ok) return known;
  const taken = takeOver({ ...input, managers: known.value, force: true });
  if (!taken.ok) return taken;
  const { managers, comparison } = taken.value;
  const kept = difference(managers.get(input.manager)?.set ?? EMPTY_SET, comparison.removed);
  const set = filterOf(input.versions, input.apiVersion)(union(union(kept, comparison.modified), comparison.added));
  return ok(withManager(managers, input.manager, { set, apiVersion: input.apiVersion, applied: false }));
}

/** `object` is `undefined` if the apply changed nothing, except possibly owners. */
export type Applied = { readonly object: TypedValue | undefined; readonly managers: Managers };

export function apply(input: ApplyInput): Result<Applied, UpdateError> {
  const { live, applied, versions, apiVersion, manager } = input;
  const known = reconcileManagers(input);
  if (!known.ok) return known;
  const merged = withValue(live, merge(live.type, live.value, applied.value) ?? null);
  if (!merged.ok) return err(merged.error);
  const set = filterOf(versions, apiVersion)(toFieldSet(applied.type, applied.value));
  const managers = new Map(known.value).set(manager, { set, apiVersion, applied: true });
  const pruned = prune({ versions, merged: merged.value, managers, applied: set, last: known.value.get(manager), apiVersion });
  if (!pruned.ok) return err({ kind: "failed", message: `failed to prune fields: ${pruned.error}` });
  const fits =
    pruned.value.value === merged.value.value ? ok(undefined) : validate(live.type, pruned.value.value, { allowDuplicates: true });
  if (!fits.ok) return err({ kind: "failed", message: `failed to compare objects: ${fits.error}` });
  const taken = takeOver({ ...input, managers, next: pruned.value });
  if (!taken.ok) return taken;
  return ok({ object: jsonEqual(live.value, pruned.value.value) ? undefined : pruned.value, managers: taken.value.managers });
}

function withManager(managers: Managers, id: ManagerId, versioned: VersionedSet): Managers {
  const changed = new Map(managers);
  if (isEmpty(versioned.set)) changed.delete(id);
  else changed.set(id, versioned);
  return changed;
}

/** Adapts every set to the current schema; managers of versions that are no longer served are dropped. */
function reconcileManagers({ managers, live, versions }: Write): Result<Managers, UpdateError> {
  const known = new Map<ManagerId, VersionedSet>();
  for (const [id, versioned] of managers) {
    const inVersion = toVersion(versions, live, versioned.apiVersion);
    if (inVersion.ok) known.set(id, withSet(versioned, reconcileFieldSet(versioned.set, inVersion.value.type)));
    else if (inVersion.error.kind === "failed") return err(inVersion.error);
  }
  return ok(known);
}

/** Returns the same object if nothing changed: then its entry need not be serialized again. */
function withSet(versioned: VersionedSet, set: FieldSet): VersionedSet {
  return versioned.set === set ? versioned : { ...versioned, set };
}

type Takeover = UpdateInput & { readonly force: boolean };

function takeOver(input: Takeover): Result<{ readonly managers: Managers; readonly comparison: Comparison }, UpdateError> {
  const own = filtered(input, compare(input.live.type, input.live.value, input.next.value), input.apiVersion);
  const comparisons = new Map([[input.apiVersion, own]]);
  const conflicts = new Map<ManagerId, FieldSet>();
  const left = new Map<ManagerId, VersionedSet>();
  for (const [id, versioned] of input.managers) {
    const comparison = id === input.manager ? NO_CHANGE : comparisonIn(input, versioned.apiVersion, comparisons);
    if (comparison === undefined) continue;
    if ("kind" in comparison) return err(comparison);
    const conflict = intersection(versioned.set, union(comparison.modified, comparison.added));
    if (!isEmpty(conflict)) conflicts.set(id, conflict);
    const set = difference(difference(versioned.set, conflict), comparison.removed);
    if (!isEmpty(set)) left.set(id, withSet(versioned, set));
  }
  if (!input.force && conflicts.size > 0) return err({ kind: "conflicts", conflicts: conflictsOf(conflicts) });
  return ok({ managers: left, comparison: own });
}

const NO_CHANGE: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/** `undefined`: the version is no longer served, so its manager is dropped. */
function comparisonIn(input: Takeover, version: string, known: Map<string, Comparison>): Comparison | UpdateError | undefined {
  const done = known.get(version);
  if (done !== undefined) return done;
  const before = toVersion(input.versions, input.live, version);
  if (!before.ok) return orGone(before.error, "failed to convert old object");
  const after = toVersion(input.versions, input.next, version);
  if (!after.ok) return orGone(after.error, "failed to convert new object");
  const comparison = filtered(input, compare(before.value.type, before.value.value, after.value.value), version);
  known.set(version, comparison);
  return comparison;
}

function orGone(error: ConvertError, context: string): UpdateError | undefined {
  return error.kind === "missing-version" ? undefined : { kind: "failed", message: `${context}: ${error.message}` };
}

function filtered({ versions }: Write, comparison: Comparison, version: string): Comparison {
  return mapComparison(comparison, filterOf(versions, version));
}
