/**
 * The owner's value of a patched field. Owners merge: after `kubectl apply` an element has the owner's fields and, besides, ours that the owner does
 * not set. So the owner's changes since the patch are applied to the value before it.
 *
 * Some fields exclude each other, such as `value` and `valueFrom`: one that the owner sets replaces all that were there before.
 */
import { field, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import type { PatchedField } from "./patch-record.ts";
import { asStored } from "./server-defaults.ts";
import { HANDLERS } from "./shapes.ts";
import { armsOf } from "./union-member.ts";

/** `changed`: the field no longer has the patched value. */
export type OwnerValue = { readonly value: Json | undefined; readonly changed: boolean };

export function ownerValue(patched: PatchedField, now: Json | undefined): OwnerValue {
  const { path, before, after } = patched;
  if (jsonEqual(now, after)) return { value: before, changed: false };
  if (!isJsonObject(now) || !isJsonObject(after) || (before !== undefined && !isJsonObject(before))) return { value: now, changed: true };
  const step = path.at(-1);
  const list = typeof step === "string" ? step : path.at(-2);
  const unit = { list: typeof list === "string" ? list : "", key: typeof step === "object" && "key" in step ? step.key : {} };
  if (before !== undefined) return { value: ownerUnit(unit, { before, after, now }), changed: true };
  const own = ownerPart(unit, now, after);
  return { value: own, changed: own !== undefined };
}

type Unit = { readonly list: string; readonly key: JsonObject };
type Versions = { readonly before: JsonObject; readonly after: JsonObject; readonly now: JsonObject };

/** `before` with the changes from `after` to `now`. undefined: of a probe whose action the owner removed, times are left, which are no probe. */
function ownerUnit({ list, key }: Unit, { before, after, now }: Versions): JsonObject | undefined {
  const isArm = (name: string) => !Object.hasOwn(key, name) && (armsOf(list)?.includes(name) ?? list === "volumes");
  const own = new Set(Object.keys(now).filter((name) => isArm(name) && ownArm({ before, after, now }, name) !== undefined));
  const isOurs = Object.keys(after).some((name) => isArm(name) && field(now, name) !== undefined);
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  const entries = [...names].flatMap((name): [string, Json][] => {
    if (!isArm(name)) return present(name, merged({ before, after, now }, name));
    if (own.size > 0) return own.has(name) ? present(name, ownArm({ before, after, now }, name)) : [];
    return isOurs ? present(name, field(before, name)) : [];
  });
  const isRemoved = armsOf(list) === HANDLERS && !entries.some(([name]) => isArm(name)) && Object.keys(before).some(isArm);
  return isRemoved ? undefined : Object.fromEntries(entries);
}

function present(name: string, value: Json | undefined): [string, Json][] {
  return value === undefined ? [] : [[name, value]];
}

/** The owner's value of an exclusive field. undefined: the owner did not set it since. */
function ownArm({ before, after, now }: Versions, name: string): Json | undefined {
  const [from, to, is] = [field(before, name), field(after, name), field(now, name)];
  if (is === undefined || jsonEqual(is, to)) return undefined;
  if (name === "valueFrom" && isJsonObject(is)) {
    const sources = Object.entries(is).filter(([source, value]) => !jsonEqual(value, field(to, source)));
    return sources.length === 0 ? undefined : Object.fromEntries(sources);
  }
  return merged({ before: { from }, after: { from: to }, now: { from: is } }, "from");
}

function merged({ before, after, now }: Versions, name: string): Json | undefined {
  const [from, to, is] = [field(before, name), field(after, name), field(now, name)];
  if (jsonEqual(is, to)) return from;
  if (!isJsonObject(from) || !isJsonObject(to) || !isJsonObject(is)) return is;
  const names = new Set([...Object.keys(from), ...Object.keys(is)]);
  return Object.fromEntries([...names].flatMap((inner) => present(inner, merged({ before: from, after: to, now: is }, inner))));
}

/**
 * The owner's part of an element or probe that the patch added. undefined: it would not be valid without ours, so all of it is ours. An element
 * without any of our essential fields was replaced by the owner.
 */
function ownerPart({ list, key }: Unit, now: JsonObject, after: JsonObject): JsonObject | undefined {
  const essential = list === "volumeMounts" ? ["name"] : armsOf(list);
  const isEssential = (name: string) => !Object.hasOwn(key, name) && essential?.includes(name) !== false;
  const remains = Object.keys(after).some((name) => isEssential(name) && isWithin(field(after, name), field(now, name)));
  if (!remains) return now;
  const own = Object.keys(now).flatMap((name): [string, Json][] => {
    if (Object.hasOwn(key, name)) return present(name, field(now, name));
    return present(name, ownArm({ before: {}, after, now }, name));
  });
  if (!own.some(([name]) => isEssential(name))) return undefined;
  const stored = asStored(list, Object.fromEntries(own));
  return isJsonObject(stored) ? stored : undefined;
}

/** Whether all of our value is still there. */
function isWithin(after: Json | undefined, now: Json | undefined): boolean {
  if (!isJsonObject(after) || !isJsonObject(now)) return jsonEqual(after, now);
  return Object.entries(after).every(([name, value]) => jsonEqual(value, field(now, name)));
}
