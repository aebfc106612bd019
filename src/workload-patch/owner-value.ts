/**
 * The owner's value of a patched field. Owners merge: after `kubectl apply` an element has the owner's fields and, besides, ours that the owner does
 * not set. So the owner's changes since the patch are applied to the value before it.
 */
import { field, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import type { PatchedField } from "./patch-record.ts";
import { HANDLERS } from "./shapes.ts";

/** `changed`: the field no longer has the patched value. */
export type OwnerValue = { readonly value: Json | undefined; readonly changed: boolean };

export function ownerValue(patched: PatchedField, now: Json | undefined): OwnerValue {
  const { before, after } = patched;
  if (jsonEqual(now, after)) return { value: before, changed: false };
  if (!isJsonObject(now) || !isJsonObject(after)) return { value: now, changed: true };
  if (isJsonObject(before)) return { value: threeWay(before, after, now), changed: true };
  if (before !== undefined) return { value: now, changed: true };
  const own = ownerPart(patched, now, after);
  return { value: own, changed: own !== undefined };
}

/** `before` with the changes from `after` to `now`. */
function threeWay(before: JsonObject, after: JsonObject, now: JsonObject): JsonObject {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  const entries = [...names].flatMap((name): [string, Json][] => {
    const [from, to, is] = [field(before, name), field(after, name), field(now, name)];
    if (jsonEqual(is, to)) return from === undefined ? [] : [[name, from]];
    if (is === undefined) return [];
    return [[name, isJsonObject(from) && isJsonObject(to) && isJsonObject(is) ? threeWay(from, to, is) : is]];
  });
  return Object.fromEntries(entries);
}

/** The owner's part of an element that the patch added. undefined: the element would not be valid without ours, so all of it is ours. */
function ownerPart({ path }: PatchedField, now: JsonObject, after: JsonObject): JsonObject | undefined {
  const step = path.at(-1);
  const key = typeof step === "object" && "key" in step ? step.key : {};
  const part = Object.entries(now).filter(([name, value]) => Object.hasOwn(key, name) || !jsonEqual(value, field(after, name)));
  const own = part.filter(([name]) => !Object.hasOwn(key, name));
  const list = path.at(-2);
  if (own.length === 0 || own.some(([name, value]) => isPartly(value, field(after, name)))) return undefined;
  if (list === "volumeMounts" && !own.some(([name]) => name === "name")) return undefined;
  if (typeof step === "string" && !own.some(([name]) => HANDLERS.some((handler) => handler === name))) return undefined;
  return Object.fromEntries(part);
}

/** Whether an object still has some of our fields: ours, changed by the owner. */
function isPartly(now: Json | undefined, after: Json | undefined): boolean {
  if (!isJsonObject(now) || !isJsonObject(after)) return false;
  return Object.entries(after).some(([name, value]) => jsonEqual(field(now, name), value));
}
