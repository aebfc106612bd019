/**
 * A workload patch on the owner's Deployment, and the fields that it changed. The walk follows the patch, so its cost does not depend on the size
 * of the Deployment.
 */
import { field, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import type { SkippedField } from "./outcomes.ts";
import { keyOfElement, lastIndexOf, withField, type PatchedPath, type PatchedStep } from "./patched-path.ts";
import { asStored, storedQuantity } from "./server-defaults.ts";
import { HANDLERS, MERGED, type PatchShape } from "./shapes.ts";
import { exclusion } from "./union-member.ts";

/** A changed field, as in the record but without times. */
export type MergedField = {
  readonly path: PatchedPath;
  readonly before?: Json;
  readonly after?: Json;
  readonly created?: true;
  readonly index?: number;
};

export type Merging = {
  readonly fields: MergedField[];
  /** Containers of the patch that the Deployment does not have. */
  readonly missing: Set<string>;
  /** Fields of the patch that keep the owner's value, and are not recorded. */
  readonly skipped: SkippedField[];
  /** Fields that are given up: they keep the owner's value and are recorded all the same. */
  isGivenUp(field: MergedField): boolean;
};

export type PatchPlace = { readonly path: PatchedPath; readonly shape: PatchShape };

export function mergeObject(base: JsonObject, patch: JsonObject, { path, shape }: PatchPlace, merging: Merging): JsonObject {
  let result = base;
  // sorted: the record must not depend on the order of fields in the patch
  for (const name of Object.keys(patch).toSorted()) {
    const wanted = field(patch, name);
    if (wanted === undefined) continue;
    const now = field(result, name);
    const at = { path: [...path, name], shape: shape.fields?.get(name) ?? MERGED };
    const next = removes(wanted, at) ? removeField(result, name, at.path, merging) : mergeField(now, wanted, at, merging);
    if (next !== now) result = withField(result, name, next);
  }
  return result;
}

function mergeField(now: Json | undefined, wanted: Json, place: PatchPlace, merging: Merging): Json | undefined {
  const { path, shape } = place;
  if (isSkipped(now, wanted, path, merging)) return now;
  if (shape.key !== undefined && isList(wanted) && (isNothing(now) || isList(now))) {
    return inCreated(now, NO_ELEMENTS, path, merging, (list) => mergeList(list, wanted, place, merging));
  }
  if (shape.whole !== true && isJsonObject(wanted) && (isNothing(now) || isJsonObject(now))) {
    return inCreated(now, NO_FIELDS, path, merging, (object) => mergeObject(object, wanted, place, merging));
  }
  return change(now, shape.whole === true ? wholeValue(now, wanted, path) : leafValue(now, wanted, path), path, merging);
}

function isSkipped(now: Json | undefined, wanted: Json, path: PatchedPath, merging: Merging): boolean {
  const list = path.at(typeof path.at(-1) === "string" ? -1 : -2);
  const reason = exclusion(typeof list === "string" ? list : "", now, wanted);
  if (reason !== undefined) merging.skipped.push({ path, reason });
  return reason !== undefined;
}

/** The server stores no empty list, and no empty text in a container: they remove the field. */
function removes(wanted: Json, { path, shape }: PatchPlace): boolean {
  if (wanted === null) return true;
  return (
    (isList(wanted) && wanted.length === 0 && shape.key === undefined) || (wanted === "" && path.some((step) => typeof step === "object"))
  );
}

function removeField(object: JsonObject, name: string, path: PatchedPath, merging: Merging): Json | undefined {
  const before = field(object, name);
  if (before === undefined) return undefined;
  const removed = { path, before, index: Object.keys(object).indexOf(name) };
  merging.fields.push(removed);
  return merging.isGivenUp(removed) ? before : undefined;
}

/** The server drops nulls, so null counts as absent. */
function isNothing(now: Json | undefined): now is null | undefined {
  return now === undefined || now === null;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function listIn(object: Json | undefined, name: string): readonly Json[] {
  const list = field(object, name);
  return isList(list) ? list : NO_ELEMENTS;
}

const NO_ELEMENTS: readonly Json[] = [];
const NO_FIELDS: JsonObject = {};

/** Merges into a list or object. One that is absent or empty is recorded, because it is removed when it becomes empty. */
function inCreated<T extends Json>(now: T | null | undefined, empty: T, path: PatchedPath, merging: Merging, merge: (value: T) => T) {
  if (!isNothing(now) && Object.keys(now).length > 0) return merge(now);
  const { length } = merging.fields;
  const merged = merge(empty);
  if (merged === empty) return now;
  merging.fields.splice(length, 0, { path, ...(now === undefined ? {} : { before: now }), created: true });
  return merged;
}

/** Elements are matched by key; new ones come first, in the order of the patch. */
function mergeList(list: readonly Json[], wanted: readonly Json[], { path, shape }: PatchPlace, merging: Merging): readonly Json[] {
  const created: Json[] = [];
  let result = list;
  for (const element of wanted) {
    const key = isJsonObject(element) ? keyOfElement(element, shape.key ?? []) : undefined;
    if (key === undefined || !isJsonObject(element)) continue;
    const index = lastIndexOf(result, { key });
    const now = result[index];
    const at = { path: [...path, { key }], shape: shape.element ?? MERGED };
    if (shape.element !== undefined) {
      if (isJsonObject(now)) result = replaced(result, index, mergeObject(now, element, at, merging));
      else merging.missing.add(nameOf(key));
      continue;
    }
    if (isSkipped(now, element, at.path, merging)) continue;
    const next = change(now, asStored(listName(path), element), at.path, merging);
    if (next === undefined) continue;
    if (index < 0) created.push(next);
    else result = replaced(result, index, next);
  }
  return created.length === 0 ? result : [...created, ...result];
}

function nameOf(key: JsonObject): string {
  const name = field(key, "name");
  return typeof name === "string" ? name : "";
}

export function replaced(list: readonly Json[], index: number, value: Json): readonly Json[] {
  return list[index] === value ? list : list.with(index, value);
}

/** The new value of a field, which is recorded; the old one when it is equal or given up. */
export function change(now: Json | undefined, after: Json | undefined, path: PatchedPath, merging: Merging): Json | undefined {
  if (jsonEqual(now, after)) return now;
  const changed = { path, ...(now === undefined ? {} : { before: now }), ...(after === undefined ? {} : { after }) };
  merging.fields.push(changed);
  return merging.isGivenUp(changed) ? now : after;
}

/** The handler of the patch replaces the owner's, which is of the same type; the owner's times stay. */
function wholeValue(now: Json | undefined, wanted: Json, path: PatchedPath): Json {
  if (!isJsonObject(wanted)) return wanted;
  const replaces = HANDLERS.some((name) => isJsonObject(field(wanted, name)));
  const kept = Object.entries(isJsonObject(now) ? now : {}).filter(([name]) => !replaces || !HANDLERS.some((handler) => handler === name));
  return asStored(listName(path), { ...Object.fromEntries(kept), ...wanted });
}

function leafValue(now: Json | undefined, wanted: Json, path: PatchedPath): Json {
  if (path.at(-3) !== "resources") return wanted;
  const stored = storedQuantity(wanted);
  return now !== undefined && storedQuantity(now) === stored ? now : stored;
}

/** The field that a path ends at; for an element, its list. */
function listName(path: PatchedPath): string {
  const step: PatchedStep | undefined = path.at(-1);
  return typeof step === "string" ? step : "";
}
