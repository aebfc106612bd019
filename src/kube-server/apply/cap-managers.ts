/**
 * Keeps the number of updating managers small: beyond ten, the oldest ones are joined per version under the name "ancient-changes".
 * Appliers are never joined: their sets decide what the next apply removes.
 */
import { goCompareText } from "#kube";
import { unionOfAll, type FieldSet } from "./field-set.ts";
import { managerId, secondsOf, type ManagedFields, type ManagerId } from "./managers.ts";

export const MAX_UPDATE_MANAGERS = 10;
const BUCKET = "ancient-changes";

export function capUpdateManagers(managed: ManagedFields): ManagedFields {
  if (managed.managers.size <= MAX_UPDATE_MANAGERS) return managed;
  const updaters = [...managed.managers].filter(([, { applied }]) => !applied).map(([id]) => id);
  if (updaters.length <= MAX_UPDATE_MANAGERS) return managed;
  updaters.sort((a, b) => secondsOf(managed.times.get(a)) - secondsOf(managed.times.get(b)) || goCompareText(a, b));
  return joinOldest(managed, updaters);
}

/** The first manager of a version stays as it is until a second one must be joined. */
function joinOldest(managed: ManagedFields, oldestFirst: readonly ManagerId[]): ManagedFields {
  const managers = new Map(managed.managers);
  const times = new Map(managed.times);
  const firstOf = new Map<string, ManagerId>();
  const joined = new Map<ManagerId, FieldSet[]>();
  let left = oldestFirst.length;
  for (const id of oldestFirst) {
    if (left <= MAX_UPDATE_MANAGERS) break;
    const versioned = managers.get(id);
    if (versioned === undefined) continue;
    const first = firstOf.get(versioned.apiVersion);
    if (first === undefined) {
      firstOf.set(versioned.apiVersion, id);
      continue;
    }
    const bucket = managerId({ manager: BUCKET, operation: "Update", apiVersion: versioned.apiVersion, subresource: "" });
    const older = managers.get(bucket) ?? managers.get(first);
    if (!managers.has(bucket)) managers.delete(first);
    managers.delete(id);
    const sets = joined.get(bucket) ?? (older === undefined ? [] : [older.set]);
    sets.push(versioned.set);
    joined.set(bucket, sets);
    managers.set(bucket, versioned);
    left--;
    times.delete(bucket);
    const time = managed.times.get(id);
    if (time !== undefined) times.set(bucket, time); // the later of the two
  }
  for (const [bucket, sets] of joined) {
    const last = managers.get(bucket);
    if (last !== undefined) managers.set(bucket, { ...last, set: unionOfAll(sets) });
  }
  return { managers, times };
}
