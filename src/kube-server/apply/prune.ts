/**
 * Removes fields that a manager applied last time and no longer applies, unless another manager owns them.
 *
 * First all fields of the manager's last set are removed. Then fields with an owner are restored, and then fields that the manager never owned
 * (a removed list item also removes fields of others). Each step converts the object to the version of its set.
 */
import { err, ok, type Result } from "#base";
import { difference, EMPTY_SET, intersection, isEmpty, isSubset, union, withNamedFields, type FieldSet } from "./field-set.ts";
import type { Managers, VersionedSet } from "./managers.ts";
import { removeItems } from "./remove-items.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { TypedValue } from "./typed-value.ts";
import { toVersion, withValue, type ConvertError, type Versions } from "./versions.ts";

export type PruneInput = {
  readonly versions: Versions;
  readonly merged: TypedValue;
  /** With the applying manager's new set in place of its last one. */
  readonly managers: Managers;
  readonly applied: FieldSet;
  readonly last: VersionedSet | undefined;
  /** The version of the request, and of the result. */
  readonly apiVersion: string;
};

export function prune({ versions, merged, managers, applied, last, apiVersion }: PruneInput): Result<TypedValue, string> {
  if (last === undefined || isEmpty(last.set)) return ok(merged);
  if (nothingToRemove({ merged, managers, applied, last, apiVersion })) return ok(merged);
  const inLastVersion = toVersion(versions, merged, last.apiVersion);
  if (!inLastVersion.ok) return orMissing(inLastVersion.error, merged, "failed to convert merged object to last applied version");
  const whole = inLastVersion.value;
  const stripped = without(whole, withNamedFields(last.set, whole.type));
  if (!stripped.ok) return explain(stripped.error, "failed to prune");
  const owned = putBackOwned(versions, { whole, stripped: stripped.value, version: last.apiVersion }, managers);
  if (!owned.ok) return err(`failed add back owned items: ${owned.error}`);
  const dangling = putBackDangling(versions, { whole, stripped: owned.value }, last);
  if (!dangling.ok) return err(`failed add back dangling items: ${dangling.error}`);
  const result = toVersion(versions, dangling.value, apiVersion);
  return result.ok ? result : explain(result.error, "failed to convert pruned object");
}

/**
 * A fast path: all of the last set is applied again, all its leaves are still leaves, and there is only one version. The second condition
 * matters: a struct that was applied empty and got fields since may lose fields without an owner.
 */
function nothingToRemove({
  merged,
  managers,
  applied,
  last,
  apiVersion,
}: Omit<PruneInput, "versions"> & { readonly last: VersionedSet }): boolean {
  if ([last, ...managers.values()].some((versioned) => versioned.apiVersion !== apiVersion)) return false;
  return isSubset(last.set, applied) && leavesStay(last.set, fieldsOf(merged));
}

function leavesStay(last: FieldSet, now: FieldSet): boolean {
  for (const [element, { children }] of last) {
    const node = now.get(element);
    if (node === undefined) return false;
    if (children === undefined ? node.children !== undefined : !leavesStay(children, node.children ?? EMPTY_SET)) return false;
  }
  return true;
}

type Parts = { readonly whole: TypedValue; readonly stripped: TypedValue };

/** The last version first: removed fields may be needed for conversions. */
function putBackOwned(versions: Versions, parts: Parts & { readonly version: string }, managers: Managers): Result<TypedValue, string> {
  const owned = ownedByVersion(managers);
  const others = [...owned.keys()].filter((version) => version !== parts.version);
  let now: Parts = parts;
  for (const version of owned.has(parts.version) ? [parts.version, ...others] : others) {
    const next = putBackOwnedIn(versions, now, { version, set: owned.get(version) ?? EMPTY_SET });
    if (!next.ok) return next;
    now = next.value;
  }
  return ok(now.stripped);
}

function ownedByVersion(managers: Managers): ReadonlyMap<string, FieldSet> {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion, set } of managers.values()) owned.set(apiVersion, union(owned.get(apiVersion) ?? EMPTY_SET, set));
  return owned;
}

function putBackOwnedIn(
  versions: Versions,
  parts: Parts,
  owned: { readonly version: string; readonly set: FieldSet },
): Result<Parts, string> {
  const whole = toVersion(versions, parts.whole, owned.version);
  if (!whole.ok) return orMissing(whole.error, parts, `failed to convert merged object at version ${owned.version}`);
  const stripped = toVersion(versions, parts.stripped, owned.version);
  if (!stripped.ok)
    return orMissing(stripped.error, { ...parts, whole: whole.value }, `failed to convert pruned object at version ${owned.version}`);
  const { type } = whole.value;
  const keep = union(withNamedFields(fieldsOf(stripped.value), type), withNamedFields(owned.set, type));
  const result = without(whole.value, difference(withNamedFields(fieldsOf(whole.value), type), keep));
  return result.ok ? ok({ whole: whole.value, stripped: result.value }) : explain(result.error, "failed to prune");
}

function putBackDangling(versions: Versions, { whole, stripped }: Parts, last: VersionedSet): Result<TypedValue, string> {
  const inLastVersion = toVersion(versions, stripped, last.apiVersion);
  if (!inLastVersion.ok) return orMissing(inLastVersion.error, whole, "failed to convert pruned object to last applied version");
  const removed = difference(withNamedFields(fieldsOf(whole), whole.type), withNamedFields(fieldsOf(inLastVersion.value), whole.type));
  const result = without(whole, intersection(removed, withNamedFields(last.set, whole.type)));
  return result.ok ? result : explain(result.error, "failed to prune");
}

function fieldsOf({ type, value }: TypedValue): FieldSet {
  return toFieldSet(type, value);
}

function without(typed: TypedValue, fields: FieldSet): Result<TypedValue, ConvertError> {
  return withValue(typed, removeItems(typed.type, typed.value, fields));
}

/** A version that is no longer served is skipped; any other failure is an error. */
function orMissing<T>(error: ConvertError, unchanged: T, context: string): Result<T, string> {
  return error.kind === "missing-version" ? ok(unchanged) : err(`${context}: ${error.message}`);
}

function explain(error: ConvertError, context: string): Result<never, string> {
  return err(`${context}: ${error.kind === "failed" ? error.message : "no such version"}`);
}
