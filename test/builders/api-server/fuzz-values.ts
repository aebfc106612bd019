/** Hostile JSON: small changes of a valid value, with names and values that break careless code. */
import type { Json, JsonObject } from "#kube";

export type Random = () => number;

export function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

export function chance(random: Random, of: number): boolean {
  return random() < of;
}

export const NASTY_NAMES: readonly [string, ...string[]] = [
  "__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "length", "", " ", ".", "..", "$patch", "$retainKeys",
  "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "metadata", "spec", "status", "a/b", "a~1b", "é", "\u0000", "\ud800", "x".repeat(300), "0", "-1",
  "k8s.io/initial-events-end", "managedFields", "ownerReferences", "finalizers", "resourceVersion", "deletionTimestamp", "generateName", "f:metadata", 'k:{"name":"a"}',
]; // prettier-ignore

const NASTY_VALUES: readonly [Json, ...Json[]] = [
  null, true, false, 0, -1, 1.5, 1e308, -0, 2 ** 53, 2 ** 63, 4_294_967_296, "", "a", "__proto__", "0", "-1", "1e9", "NaN", "2020-01-01T00:00:00Z", "not a date", "100m", "1Ei", "-5Ki",
  "x".repeat(70_000), "é\u0000\u2028", "\ud800", [], {}, [null], [[]], [{}], { "": "" }, ["a", "a"], { $patch: "delete" }, { $patch: "replace" }, { $patch: "nonsense" }, { $patch: 1 },
  { name: "a", $patch: "delete" }, "replace", "delete", "merge", { matchLabels: null }, { matchExpressions: [{ key: "", operator: "Foo" }] }, "10.0.0.1", "::1", "*/5 * * * *", "$(A)",
]; // prettier-ignore

/** A copy with one to three places changed. */
export function mutate(random: Random, value: Json): Json {
  let changed = value;
  for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) changed = mutateOnce(random, changed);
  return changed;
}

function mutateOnce(random: Random, value: Json): Json {
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || chance(random, 0.12)) return chance(random, 0.03) ? deep(random) : pick(random, NASTY_VALUES);
  return Array.isArray(value) ? mutateList(random, value) : mutateMap(random, value as JsonObject);
}

function mutateList(random: Random, list: readonly Json[]): Json {
  const at = Math.floor(random() * list.length);
  const one = list[at];
  if (one === undefined || chance(random, 0.2)) return [...list, pick(random, NASTY_VALUES)];
  if (chance(random, 0.15)) return [...list, one];
  if (chance(random, 0.15)) return list.toSpliced(at, 1);
  return list.with(at, mutateOnce(random, one));
}

function mutateMap(random: Random, map: JsonObject): Json {
  const names = Object.keys(map);
  const at = names[Math.floor(random() * names.length)];
  if (at === undefined || chance(random, 0.15)) return withField(map, pick(random, NASTY_NAMES), pick(random, NASTY_VALUES));
  if (chance(random, 0.1)) return withField(map, at, undefined);
  if (chance(random, 0.07)) return withField(map, pick(random, NASTY_NAMES), map[at]);
  return withField(map, at, mutateOnce(random, map[at] ?? null));
}

/** `__proto__` becomes an own field, as with JSON.parse. */
function withField(map: JsonObject, name: string, value: Json | undefined): JsonObject {
  const kept = Object.entries(map).filter(([other]) => other !== name);
  return Object.fromEntries(value === undefined ? kept : [...kept, [name, value]]);
}

function deep(random: Random): Json {
  let value: Json = "end";
  for (let depth = pick(random, [50, 99, 101, 1_500]); depth > 0; depth -= 1) value = chance(random, 0.5) ? [value] : { a: value };
  return value;
}
