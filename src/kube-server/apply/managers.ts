/**
 * Parses and serializes `metadata.managedFields`: the fields of each manager, their version and time.
 *
 * A manager is identified by its name, operation and subresource; for updates also by the version. So a user who applies in two versions has
 * one entry, and a controller that updates in two versions has two.
 */
import { err, memoize, ok, type Result } from "#base";
import { goCompareText, field, isJsonObject, goQuote, type Json, type JsonObject } from "#kube";
import type { FieldSet } from "./field-set.ts";
import { decodeFields, encodeFields } from "./fields-v1.ts";
import { Recent } from "./recent.ts";
import { canonicalTime, isCanonicalTime, parseSeconds } from "./rfc3339.ts";

export type VersionedSet = { readonly set: FieldSet; readonly apiVersion: string; readonly applied: boolean };

/** The identity of a manager, as text: the JSON of `ManagerInfo`. */
export type ManagerId = string;

export type ManagerInfo = {
  readonly manager?: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly subresource?: string;
};

export type Managers = ReadonlyMap<ManagerId, VersionedSet>;
export type ManagedFields = { readonly managers: Managers; readonly times: ReadonlyMap<ManagerId, string> };

export const NO_MANAGERS: ManagedFields = { managers: new Map(), times: new Map() };

export function managerId(info: {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
}): ManagerId {
  const identity: ManagerInfo = {
    ...(info.manager === "" ? {} : { manager: info.manager }),
    operation: info.operation,
    ...(info.operation === "Apply" ? {} : { apiVersion: info.apiVersion }),
    ...(info.subresource === "" ? {} : { subresource: info.subresource }),
  };
  return JSON.stringify(identity);
}

/** Cached: there are few managers, and each is needed for every write. */
export const managerInfo = memoize({ limit: 2_000 }, (id: ManagerId) => JSON.parse(id) as ManagerInfo);

type Written = { readonly id: ManagerId; readonly entry: JsonObject };

/** Stored objects never change, so their managedFields are parsed once, and unchanged entries need not be serialized again. */
const storedManaged = new Recent<object, ManagedFields>();
const storedEntries = new Recent<VersionedSet, Written>();

/** Parses `metadata.managedFields` of a stored object, which was written by `encodeManaged`. */
export function decodeStored(entries: Json | undefined): Result<ManagedFields, string> {
  if (!Array.isArray(entries)) return decodeManaged(entries);
  const known = storedManaged.get(entries);
  if (known !== undefined) return ok(known);
  const decoded = decodeManaged(entries, (id, versioned, entry) => storedEntries.set(versioned, { id, entry }));
  if (decoded.ok) storedManaged.set(entries, decoded.value);
  return decoded;
}

type OnEntry = (id: ManagerId, versioned: VersionedSet, entry: JsonObject) => void;

/** Parses `metadata.managedFields` of any origin. Absent means no managers; one invalid entry is an error for the whole list. */
export function decodeManaged(entries: Json | undefined, onEntry?: OnEntry): Result<ManagedFields, string> {
  if (entries === undefined || entries === null) return ok(NO_MANAGERS);
  if (!Array.isArray(entries)) return err("managedFields must be a list");
  const managers = new Map<ManagerId, VersionedSet>();
  const times = new Map<ManagerId, string>();
  for (const [index, entry] of entries.entries()) {
    const decoded = decodeEntry(entry, index);
    if (!decoded.ok) return decoded;
    managers.set(decoded.value.id, decoded.value.versioned);
    if (isJsonObject(entry)) onEntry?.(decoded.value.id, decoded.value.versioned, entry);
    if (decoded.value.time === undefined) times.delete(decoded.value.id);
    else times.set(decoded.value.id, decoded.value.time);
  }
  return ok({ managers, times });
}

type Entry = { readonly id: ManagerId; readonly versioned: VersionedSet; readonly time: string | undefined };

function decodeEntry(entry: unknown, index: number): Result<Entry, string> {
  if (!isJsonObject(entry)) return err(`managed fields entry ${index} is not an object`);
  const operation = field(entry, "operation");
  if (operation !== "Apply" && operation !== "Update") return err("operation must be `Apply` or `Update`");
  const apiVersion = field(entry, "apiVersion");
  if (typeof apiVersion !== "string" || apiVersion === "") return err("apiVersion must not be empty");
  const fieldsType = field(entry, "fieldsType");
  if (fieldsType === undefined || fieldsType === "") return err(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== "FieldsV1") return err(`invalid fieldsType ${goQuote(textOf(entry, "fieldsType"))} in managed fields entry ${index}`);
  const set = decodeFields(field(entry, "fieldsV1"));
  if (!set.ok) return err(`error decoding versioned set from managed fields entry ${index}: ${set.error}`);
  const id = managerId({ manager: textOf(entry, "manager"), operation, apiVersion, subresource: textOf(entry, "subresource") });
  return ok({ id, versioned: { set: set.value, apiVersion, applied: operation === "Apply" }, time: canonicalTime(textOf(entry, "time")) });
}

function textOf(entry: JsonObject, name: string): string {
  const value = field(entry, name);
  return typeof value === "string" ? value : "";
}

/** As `encodeManaged`, for an object that is likely to be written again soon. */
export function encodeForStore(managed: ManagedFields): readonly JsonObject[] {
  const entries = encodeManaged(managed, (id, versioned, entry) => storedEntries.set(versioned, { id, entry }));
  storedManaged.set(entries, managed);
  return entries;
}

/** The entries in the order of a real server: appliers first, then by time, name, version and subresource. */
export function encodeManaged({ managers, times }: ManagedFields, onEntry?: OnEntry): JsonObject[] {
  const entries: JsonObject[] = [];
  for (const [id, versioned] of managers) {
    const stored = storedEntry(id, versioned, times.get(id));
    const entry = stored ?? encodeEntry(id, versioned, times.get(id));
    if (stored === undefined) onEntry?.(id, versioned, entry);
    entries.push(entry);
  }
  return entries.length < 2 ? entries : entries.toSorted(compareEntries);
}

function storedEntry(id: ManagerId, versioned: VersionedSet, time: string | undefined): JsonObject | undefined {
  const written = storedEntries.get(versioned);
  return written?.id === id && field(written.entry, "time") === time ? written.entry : undefined;
}

function encodeEntry(id: ManagerId, { set, apiVersion, applied }: VersionedSet, time: string | undefined): JsonObject {
  const { manager, operation, subresource } = managerInfo(id);
  return {
    ...(manager === undefined ? {} : { manager }),
    operation: applied ? "Apply" : operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encodeFields(set),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function compareEntries(a: JsonObject, b: JsonObject): number {
  return (
    goCompareText(textOf(a, "operation"), textOf(b, "operation")) ||
    compareTimes(textOf(a, "time"), textOf(b, "time")) ||
    goCompareText(textOf(a, "manager"), textOf(b, "manager")) ||
    goCompareText(textOf(a, "apiVersion"), textOf(b, "apiVersion")) ||
    goCompareText(textOf(a, "subresource"), textOf(b, "subresource"))
  );
}

/** Times in the server's format sort as texts. */
function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length === b.length && isCanonicalTime(a) && isCanonicalTime(b)) return a < b ? -1 : 1;
  return secondsOf(a) - secondsOf(b);
}

/** A missing time sorts first. */
export function secondsOf(time: string | undefined): number {
  return parseSeconds(time ?? "") ?? 0;
}
