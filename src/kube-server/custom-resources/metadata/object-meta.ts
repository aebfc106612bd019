/** The rules of metadata: names, labels, annotations, owners, finalizers, and what an update may not change. */
import {
  asPrefix,
  dnsLabelProblems,
  field,
  isJsonObject,
  jsonEqual,
  labelValueProblems,
  qualifiedNameProblems,
  type Json,
  type JsonObject,
} from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, invalid, required, tooLong } from "../causes/causes.ts";
import { child, index, type CausePath } from "../causes/field-path.ts";

export type NameCheck = (name: string) => readonly string[];

const MAX_ANNOTATION_BYTES = 256 * 1024;
const UTF8 = new TextEncoder();

export function validateObjectMeta(meta: JsonObject, namespaced: boolean, nameRule: NameCheck, path: CausePath): readonly FieldCause[] {
  const name = text(meta, "name");
  const generateName = text(meta, "generateName");
  return [
    ...(generateName === "" ? [] : problems(child(path, "generateName"), generateName, nameRule(asPrefix(generateName)))),
    ...(name === ""
      ? [required(child(path, "name"), "name or generateName is required")]
      : problems(child(path, "name"), name, nameRule(name))),
    ...validateNamespace(meta, namespaced, path),
    ...validateCommon(meta, path),
    ...validateFinalizers(meta, path),
  ];
}

/** Name and namespace were checked on creation. */
export function validateObjectMetaUpdate(next: JsonObject, previous: JsonObject, path: CausePath): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (field(previous, "deletionTimestamp") !== undefined) causes.push(...noNewFinalizers(next, previous, path));
  if (text(next, "resourceVersion") === "") causes.push(invalid(child(path, "resourceVersion"), 0, "must be specified for an update"));
  const generation = numberOf(next, "generation");
  if (generation < numberOf(previous, "generation")) causes.push(invalid(child(path, "generation"), generation, "must not be decremented"));
  for (const name of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]) {
    causes.push(...immutable(child(path, name), field(next, name), field(previous, name)));
  }
  return [...causes, ...validateCommon(next, path)];
}

export function immutable(path: CausePath, next: Json | undefined, previous: Json | undefined): readonly FieldCause[] {
  return jsonEqual(next, previous) ? [] : [invalid(path, next, "field is immutable")];
}

function validateNamespace(meta: JsonObject, namespaced: boolean, path: CausePath): readonly FieldCause[] {
  const namespace = text(meta, "namespace");
  if (!namespaced) return namespace === "" ? [] : [forbidden(child(path, "namespace"), "not allowed on this type")];
  if (namespace === "") return [required(child(path, "namespace"))];
  return problems(child(path, "namespace"), namespace, dnsLabelProblems(namespace));
}

function validateCommon(meta: JsonObject, path: CausePath): readonly FieldCause[] {
  const generation = numberOf(meta, "generation");
  return [
    ...(generation < 0 ? [invalid(child(path, "generation"), generation, "must be greater than or equal to 0")] : []),
    ...validateLabels(field(meta, "labels"), child(path, "labels")),
    ...validateAnnotations(field(meta, "annotations"), child(path, "annotations")),
    ...validateOwners(field(meta, "ownerReferences"), child(path, "ownerReferences")),
    ...validateManagers(field(meta, "managedFields"), child(path, "managedFields")),
  ];
}

export function validateLabels(labels: Json | undefined, path: string): readonly FieldCause[] {
  return entriesOf(labels).flatMap(([name, value]) => [
    ...problems(path, name, qualifiedNameProblems(name)),
    ...problems(path, value, labelValueProblems(value)),
  ]);
}

export function validateAnnotations(annotations: Json | undefined, path: string): readonly FieldCause[] {
  const entries = entriesOf(annotations);
  const size = entries.reduce((sum, [name, value]) => sum + UTF8.encode(name).length + UTF8.encode(value).length, 0);
  const causes = entries.flatMap(([name]) => problems(path, name, qualifiedNameProblems(name.toLowerCase())));
  return size > MAX_ANNOTATION_BYTES ? [...causes, tooLong(path, MAX_ANNOTATION_BYTES)] : causes;
}

function validateOwners(owners: Json | undefined, path: string): readonly FieldCause[] {
  if (!Array.isArray(owners)) return [];
  let controller: string | undefined;
  return owners.flatMap((owner: Json) => {
    const causes = [...validateOwner(owner, path)];
    if (field(owner, "controller") !== true) return causes;
    const name = `${text(owner, "kind")}/${text(owner, "name")}`;
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      causes.push(invalid(path, owners, detail));
    }
    controller ??= name;
    return causes;
  });
}

function validateOwner(owner: Json, path: string): readonly FieldCause[] {
  const apiVersion = text(owner, "apiVersion");
  const causes: FieldCause[] = [];
  if (apiVersion === "" || apiVersion.endsWith("/"))
    causes.push(invalid(child(path, "apiVersion"), apiVersion, "version must not be empty"));
  for (const name of ["kind", "name", "uid"]) {
    if (text(owner, name) === "") causes.push(invalid(child(path, name), "", "must not be empty"));
  }
  if (apiVersion === "v1" && text(owner, "kind") === "Event")
    causes.push(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"));
  return causes;
}

function validateFinalizers(meta: JsonObject, path: CausePath): readonly FieldCause[] {
  const finalizers = stringsOf(field(meta, "finalizers"));
  const at = child(path, "finalizers");
  const causes = finalizers.flatMap((name) => problems(at, name, qualifiedNameProblems(name)));
  if (!finalizers.includes("orphan") || !finalizers.includes("foregroundDeletion")) return causes;
  return [...causes, invalid(at, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")];
}

function noNewFinalizers(next: JsonObject, previous: JsonObject, path: CausePath): readonly FieldCause[] {
  const old = new Set(stringsOf(field(previous, "finalizers")));
  const added = stringsOf(field(next, "finalizers")).filter((name) => !old.has(name));
  if (added.length === 0) return [];
  const list = `[]string{${[...new Set(added)]
    .toSorted()
    .map((name) => JSON.stringify(name))
    .join(", ")}}`;
  return [
    forbidden(child(path, "finalizers"), `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`),
  ];
}

function validateManagers(managers: Json | undefined, path: string): readonly FieldCause[] {
  if (!Array.isArray(managers)) return [];
  return managers.flatMap((manager: Json, position) => {
    const at = index(path, position);
    const operation = text(manager, "operation");
    const fieldsType = text(manager, "fieldsType");
    const causes: FieldCause[] = [];
    if (operation !== "Apply" && operation !== "Update")
      causes.push(invalid(child(at, "operation"), operation, "must be `Apply` or `Update`"));
    if (fieldsType !== "" && fieldsType !== "FieldsV1") causes.push(invalid(child(at, "fieldsType"), fieldsType, "must be `FieldsV1`"));
    return causes;
  });
}

function problems(path: string, value: string, texts: readonly string[]): readonly FieldCause[] {
  return texts.map((detail) => invalid(path, value, detail));
}

function text(value: Json, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

function numberOf(value: JsonObject, name: string): number {
  const found = field(value, name);
  return typeof found === "number" ? found : 0;
}

export function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function entriesOf(value: Json | undefined): readonly (readonly [string, string])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]): [string, string][] => (typeof item === "string" ? [[name, item]] : []));
}
