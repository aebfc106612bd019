/**
 * Whether the live object contains the wanted one: wanted ⊆ live. Without drift there is no write: an unchanged object costs no request.
 *
 * `owned` is our entry in managedFields. It shows how the server merges each list: `k:` children mean that elements are identified
 * by key and that other clients may add some; without them the list is one value. When the cache carries no managedFields,
 * lists must have the same length: a false "drifted" costs one request that changes nothing, a false "unchanged" would leave
 * the object wrong.
 */
import { field, isJsonObject, parseJson, type Json, type JsonObject, type KubeObject } from "#kube";
import { ownedFieldsOf } from "../identity.ts";

export function hasDrifted(wanted: KubeObject, live: KubeObject): boolean {
  return !isWithin(wanted as unknown as Json, live as unknown as Json, ownedFieldsOf(live));
}

function isWithin(wanted: Json | undefined, live: Json | undefined, owned: Json | undefined): boolean {
  if (wanted === undefined) return true;
  if (wanted === null) return live === undefined || live === null;
  if (Array.isArray(wanted)) return Array.isArray(live) && isListWithin(wanted, live, owned);
  if (isJsonObject(wanted)) return isJsonObject(live) && isObjectWithin(wanted, live, owned);
  return wanted === live;
}

function isObjectWithin(wanted: JsonObject, live: JsonObject, owned: Json | undefined): boolean {
  return Object.keys(wanted).every((name) => isWithin(field(wanted, name), field(live, name), field(owned, `f:${name}`)));
}

function isListWithin(wanted: readonly Json[], live: readonly Json[], owned: Json | undefined): boolean {
  const members = isJsonObject(owned) ? Object.keys(owned) : [];
  if (members.some((name) => name.startsWith("k:"))) return wanted.every((item) => hasMember(live, item, owned, members));
  if (members.some((name) => name.startsWith("v:"))) return wanted.every((item) => live.includes(item));
  return wanted.length === live.length && wanted.every((item, index) => isWithin(item, live[index], undefined));
}

/** An element with the same key exists and contains the wanted fields. A key field that we omit was defaulted, so any value matches. */
function hasMember(live: readonly Json[], wanted: Json, owned: Json | undefined, members: readonly string[]): boolean {
  const member = members.find((name) => name.startsWith("k:") && fitsKey(wanted, keyFields(name)));
  if (member === undefined) return false;
  const key = keyFields(member);
  return live.some((item) => isJsonObject(item) && sameKey(item, key) && isWithin(wanted, item, field(owned, member)));
}

function keyFields(member: string): JsonObject {
  const parsed = parseJson(member.slice(2));
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

function fitsKey(wanted: Json, key: JsonObject): boolean {
  return Object.keys(key).every((name) => field(wanted, name) === undefined || field(wanted, name) === key[name]);
}

function sameKey(item: JsonObject, key: JsonObject): boolean {
  return Object.keys(key).every((name) => field(item, name) === key[name]);
}
