/** Describes a kind for apply/, which tracks managedFields: schema, other versions, and the fields that a write can never own. */
import { boundedMap, err, memoizeByObject, ok } from "#base";
import { apiVersionOf, type JsonObject, type KubeObject, type Resource } from "#kube";
import { emptyObjectOf, excluding, fieldPath, fieldSetOf, type ConvertObject, type FieldFilter, type ManagedKind } from "../apply/index.ts";
import type { ResourceType } from "../resource-type.ts";
import type { TypeRegistry } from "./type-registry.ts";

/** A write to the main resource never owns the status, if the kind has a status subresource. */
const NO_STATUS = excluding(fieldSetOf(fieldPath("status")));
const NO_SPEC = excluding(fieldSetOf(fieldPath("spec")));
const ONLY_STATUS = excluding(fieldSetOf(fieldPath("spec"), fieldPath("metadata")));

/** Kinds whose main resource resets more or less than the status. */
const MAIN_FILTERS: ReadonlyMap<string, FieldFilter | undefined> = new Map([
  ["certificates.k8s.io/certificatesigningrequests", excluding(fieldSetOf(fieldPath("spec"), fieldPath("status")))],
]);

/**
 * By "collection/subresource"; every other status write resets the spec, and for a custom resource the metadata too. `ephemeralcontainers`
 * and `resize` of a Pod reset nothing: a manager that sends another image there owns the field although the image does not change.
 */
const SUBRESOURCE_FILTERS: ReadonlyMap<string, FieldFilter> = new Map([
  ["apps/deployments/status", excluding(fieldSetOf(fieldPath("spec"), fieldPath("metadata", "labels")))],
  [
    "/pods/status",
    excluding(fieldSetOf(fieldPath("spec"), fieldPath("metadata", "deletionTimestamp"), fieldPath("metadata", "ownerReferences"))),
  ],
  ["/namespaces/finalize", NO_STATUS],
  ["admissionregistration.k8s.io/validatingadmissionpolicies/status", ONLY_STATUS],
  ["flowcontrol.apiserver.k8s.io/flowschemas/status", ONLY_STATUS],
  ["flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status", ONLY_STATUS],
  ["networking.k8s.io/servicecidrs/status", ONLY_STATUS],
  ["resource.k8s.io/resourceclaims/status", ONLY_STATUS],
  ["storage.k8s.io/volumeattachments/status", ONLY_STATUS],
  ["certificates.k8s.io/certificatesigningrequests/approval", excluding(fieldSetOf(fieldPath("spec"), fieldPath("status", "certificate")))],
  ["certificates.k8s.io/certificatesigningrequests/status", excluding(fieldSetOf(fieldPath("spec"), fieldPath("status", "conditions")))],
]);

function filterFor(type: ResourceType, subresource: string | undefined): FieldFilter | undefined {
  if (subresource === undefined) {
    if (MAIN_FILTERS.has(type.collection)) return MAIN_FILTERS.get(type.collection);
    return type.subresources.has("status") ? NO_STATUS : undefined;
  }
  const known = SUBRESOURCE_FILTERS.get(`${type.collection}/${subresource}`);
  if (known !== undefined) return known;
  if (subresource !== "status") return undefined;
  return type.custom ? ONLY_STATUS : NO_SPEC;
}

/** By type and subresource: type objects never change; a changed definition creates new ones. A kind has few subresources. */
const kindsOf = memoizeByObject((_type: ResourceType) => boundedMap<string, ManagedKind>({ limit: 100 }));

export function managedKind(types: TypeRegistry, type: ResourceType, subresource: string | undefined): ManagedKind {
  const known = kindsOf(type);
  return known.get(subresource ?? "") ?? known.set(subresource ?? "", makeManagedKind(types, type, subresource));
}

function makeManagedKind(types: TypeRegistry, type: ResourceType, subresource: string | undefined): ManagedKind {
  const apiVersion = apiVersionOf(type.resource);
  const filter = filterFor(type, subresource);
  const resetFields = new Map<string, FieldFilter>();
  if (filter !== undefined) {
    for (const other of types.versionsOf(type)) resetFields.set(apiVersionOf(other.resource), filter);
  }
  return {
    apiVersion,
    kind: type.resource.kind,
    schema: type.typeSchema,
    ...(subresource === undefined ? {} : { subresource }),
    resetFields,
    convert: conversion(types, type),
    ...(type.custom ? {} : { emptyObject: emptyObjectOf(apiVersion, type.resource.kind) }),
  };
}

function conversion(types: TypeRegistry, type: ResourceType): ConvertObject {
  // apply converts to a manager's version and back, so the object may be in another version than the requested one
  const sourceOf = ({ apiVersion }: JsonObject) =>
    (typeof apiVersion === "string" ? types.otherVersion(type, apiVersion) : undefined) ?? type;
  return (object, apiVersion) => {
    const other = types.otherVersion(type, apiVersion);
    // a real server has one type converter per group: an Event keeps fields that were applied in its other group
    if (other === undefined || other.resource.group !== type.resource.group) return err({ kind: "missing-version" });
    // conversion None only changes apiVersion and prunes nothing: fields unknown to the other version end the tracking, as on a real server
    if (type.custom) return ok({ object: { ...object, apiVersion }, schema: other.typeSchema });
    const source = sourceOf(object);
    // the merged object was validated by a schema, which is less strict than the Go type: an integer may be too large for it
    const read = source.decode(object);
    if (!read.ok)
      return err({ kind: "failed", message: `unable to convert unstructured object to ${gvkText(source.resource)}: ${read.error}` });
    return ok({ object: asJsonObject(other.fromStorage(source.toStorage(asObject(object)))), schema: other.typeSchema });
  };
}

export type Gvk = Pick<Resource, "group" | "version" | "kind">;

/** As Go formats a GroupVersionKind. */
export function gvkText({ group, version, kind }: Gvk): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** Every KubeObject is a JsonObject; TypeScript cannot infer it. */
export function asJsonObject(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

export function asObject(object: JsonObject): KubeObject {
  return object as unknown as KubeObject;
}
