/**
 * `metadata.managedFields` read and written: which manager owns which fields, in which version, and since when.
 *
 * A manager is known by its name, operation and subresource; one that updates (and does not apply) also by the version it used. So
 * a person who applies in two versions has one entry, and a controller that writes in two has two.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import type { FieldSet } from "./field-set.ts";
import { decodeFields, encodeFields } from "./fields-v1.ts";
import { compareText, quote } from "./go-text.ts";
import { canonicalTime, parseSeconds } from "./rfc3339.ts";

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
export type Managed = { readonly managers: Managers; readonly times: ReadonlyMap<ManagerId, string> };

export const NOBODY: Managed = { managers: new Map(), times: new Map() };

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

export function managerInfo(id: ManagerId): ManagerInfo {
  return JSON.parse(id) as ManagerInfo;
}

/** Reads `metadata.managedFields`, whoever wrote it. Absent is nobody; one bad entry makes the whole unreadable. */
export function decodeManaged(entries: Json | undefined): Result<Managed, string> {
  if (entries === undefined || entries === null) return ok(NOBODY);
  if (!Array.isArray(entries)) return err("managedFields must be a list");
  const managers = new Map<ManagerId, VersionedSet>();
  const times = new Map<ManagerId, string>();
  for (const [index, entry] of entries.entries()) {
    const decoded = decodeEntry(entry, index);
    if (!decoded.ok) return decoded;
    managers.set(decoded.value.id, decoded.value.versioned);
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
  if (fieldsType !== "FieldsV1") return err(`invalid fieldsType ${quote(textOf(entry, "fieldsType"))} in managed fields entry ${index}`);
  const set = decodeFields(field(entry, "fieldsV1"));
  if (!set.ok) return err(`error decoding versioned set from managed fields entry ${index}: ${set.error}`);
  const id = managerId({ manager: textOf(entry, "manager"), operation, apiVersion, subresource: textOf(entry, "subresource") });
  return ok({ id, versioned: { set: set.value, apiVersion, applied: operation === "Apply" }, time: canonicalTime(textOf(entry, "time")) });
}

function textOf(entry: JsonObject, name: string): string {
  const value = field(entry, name);
  return typeof value === "string" ? value : "";
}

/** The entries in the order of a real server: appliers first, then by time, name, version and subresource. */
export function encodeManaged({ managers, times }: Managed): JsonObject[] {
  return [...managers].map(([id, versioned]) => encodeEntry(id, versioned, times.get(id))).toSorted(compareEntries);
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
    compareText(textOf(a, "operation"), textOf(b, "operation")) ||
    secondsOf(textOf(a, "time")) - secondsOf(textOf(b, "time")) ||
    compareText(textOf(a, "manager"), textOf(b, "manager")) ||
    compareText(textOf(a, "apiVersion"), textOf(b, "apiVersion")) ||
    compareText(textOf(a, "subresource"), textOf(b, "subresource"))
  );
}

/** No time is the beginning of time. */
export function secondsOf(time: string | undefined): number {
  return parseSeconds(time ?? "") ?? 0;
}
