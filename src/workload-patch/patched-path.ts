/** Where a field of a Deployment is. Elements of lists are named by their key, because other writers move them. */
import { canonicalJson, field, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";

/**
 * One step: the name of a field; `key`: the element of a list with these fields (`{name: "main"}`); `value`: the element that equals the value,
 * for lists without a key (`envFrom`).
 */
export type PatchedStep = string | { readonly key: JsonObject } | { readonly value: Json };

/** From the Deployment to one field. */
export type PatchedPath = readonly PatchedStep[];

/** A port without a protocol is a TCP port, for the server too. */
const KEY_DEFAULTS: JsonObject = { protocol: "TCP" };

/** `spec.template.spec.containers[main].env[LOG_LEVEL]`. It contains no values but keys of elements. */
export function pathText(path: PatchedPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step !== "string") text += `[${"key" in step ? keyValues(step.key) : sourceText(step.value)}]`;
    else if (/^[A-Za-z0-9_-]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `["${step}"]`;
  }
  return text;
}

function keyValues(key: JsonObject): string {
  return Object.values(key)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("/");
}

/** The ConfigMap or Secret of an `envFrom` entry. */
function sourceText(value: Json): string {
  for (const source of ["configMapRef", "secretRef"]) {
    const name = field(field(value, source), "name");
    if (typeof name === "string") return `${source} ${name}`;
  }
  return "entry";
}

/** Equal paths have equal texts, for use as a key. */
export function pathKey(path: PatchedPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "string") text += `/${step.length}:${step}`;
    else text += "key" in step ? `/k${canonicalJson(step.key)}` : `/v${canonicalJson(step.value)}`;
  }
  return text;
}

export function valueAt(root: Json | undefined, path: PatchedPath): Json | undefined {
  let at = root;
  for (const step of path) {
    if (typeof step === "string") at = field(at, step);
    else at = Array.isArray(at) ? (at as readonly Json[])[lastIndexOf(at, step)] : undefined;
  }
  return at;
}

/** The last element counts: of two variables with one name, the container gets the second. -1: none. */
export function lastIndexOf(list: readonly Json[], step: Exclude<PatchedStep, string>): number {
  return list.findLastIndex((element) => ("key" in step ? hasKey(element, step.key) : jsonEqual(element, step.value)));
}

function hasKey(element: Json, key: JsonObject): boolean {
  if (!isJsonObject(element)) return false;
  for (const name of Object.keys(key)) if ((field(element, name) ?? field(KEY_DEFAULTS, name)) !== key[name]) return false;
  return true;
}

/** The key of an element: its values of these fields. undefined: one is missing or not a text or number. */
export function keyOfElement(element: JsonObject, names: readonly string[]): JsonObject | undefined {
  const key: Record<string, Json> = {};
  for (const name of names) {
    const value = field(element, name) ?? field(KEY_DEFAULTS, name);
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    key[name] = value;
  }
  return key;
}

/**
 * The object with another value at the path; undefined removes it. Returns the same object when nothing changes. Nothing is created on the way:
 * without the parent the object stays as it is. A new field or element comes to `index`, else to the end.
 */
export function withValueAt(root: Json, path: PatchedPath, value: Json | undefined, index?: number): Json {
  return edited(root, path, 0, { value, index }) ?? root;
}

type Edit = { readonly value: Json | undefined; readonly index: number | undefined };

function edited(at: Json | undefined, path: PatchedPath, depth: number, edit: Edit): Json | undefined {
  const step = path[depth];
  if (step === undefined) return edit.value;
  if (typeof step === "string") {
    if (!isJsonObject(at)) return at;
    const now = field(at, step);
    if (now === undefined && depth < path.length - 1) return at;
    const next = edited(now, path, depth + 1, edit);
    return next === now ? at : withField(at, step, next, edit.index);
  }
  if (!Array.isArray(at)) return at;
  const list = at as readonly Json[];
  const found = lastIndexOf(list, step);
  if (found < 0 && (depth < path.length - 1 || edit.value === undefined)) return at;
  if (found < 0) return edit.value === undefined ? at : list.toSpliced(edit.index ?? list.length, 0, edit.value);
  const next = edited(list[found], path, depth + 1, edit);
  if (next === list[found]) return at;
  return next === undefined ? list.toSpliced(found, 1) : list.with(found, next);
}

function withoutField(object: JsonObject, name: string): JsonObject {
  if (!Object.hasOwn(object, name)) return object;
  const { [name]: _, ...rest } = object;
  return rest;
}

/** The position of an existing field is kept. */
export function withField(object: JsonObject, name: string, value: Json | undefined, index?: number): JsonObject {
  // a computed name defines a field even when it is `__proto__`
  if (value !== undefined && (index === undefined || Object.hasOwn(object, name))) return { ...object, [name]: value };
  if (value === undefined) return withoutField(object, name);
  const entries = Object.entries(object);
  entries.splice(index ?? entries.length, 0, [name, value]);
  return Object.fromEntries(entries);
}
