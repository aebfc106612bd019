/**
 * Validation of metadata, and of its immutable fields.
 *
 * The server checks metadata twice on an update, once for all kinds and once in the kind's own rules; so some causes come twice.
 */
import { isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { at, entriesAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, immutable, invalid, invalidEach, joined, NO_CAUSES, nonNegative, required, tooLong, type Causes } from "./causes.ts";
import { dnsLabel, labelValue, qualifiedName, type TextRule } from "./formats.ts";

const MAX_ANNOTATIONS = 256 * 1024;
const META = "metadata";

export type MetaRules = { readonly namespaced: boolean; readonly name: TextRule; readonly anyGenerateName?: boolean };

export function validateObjectMeta(object: unknown, rules: MetaRules): Causes {
  const meta = objectAt(object, META);
  const names = validateNames(meta, rules.name, rules.anyGenerateName);
  return joined(names, validateNamespace(meta, rules.namespaced), validateCommon(meta, META));
}

function validateNames(meta: unknown, rule: TextRule, anyGenerateName = false): Causes {
  const generateName = anyGenerateName ? "" : textAt(meta, "generateName");
  const name = textAt(meta, "name");
  const generated = generateName === "" ? [] : invalidEach(`${META}.generateName`, generateName, rule(maskDash(generateName)));
  if (name === "") return [...generated, required(`${META}.name`, "name or generateName is required")];
  return joined(generated, invalidEach(`${META}.name`, name, rule(name)));
}

/** Only what the names look like: the rest of the metadata has been checked. */
export function validateObjectName(object: unknown, { name, anyGenerateName }: Omit<MetaRules, "namespaced">): Causes {
  return validateNames(objectAt(object, META), name, anyGenerateName);
}

/** A prefix may end in a dash: something follows. */
function maskDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;
}

function validateNamespace(meta: unknown, namespaced: boolean): Causes {
  const namespace = textAt(meta, "namespace");
  if (!namespaced) return namespace === "" ? [] : [forbidden(`${META}.namespace`, "not allowed on this type")];
  if (namespace === "") return [required(`${META}.namespace`)];
  return invalidEach(`${META}.namespace`, namespace, dnsLabel(namespace));
}

function validateCommon(meta: unknown, path: string): Causes {
  return joined(
    nonNegative(`${path}.generation`, numberAt(meta, "generation")),
    validateLabels(at(meta, "labels"), `${path}.labels`),
    validateAnnotations(at(meta, "annotations"), `${path}.annotations`),
    validateOwners(meta, `${path}.ownerReferences`),
    validateFinalizers(textsAt(meta, "finalizers"), `${path}.finalizers`),
    validateManagedFields(meta, `${path}.managedFields`),
  );
}

export function validateLabels(labels: unknown, path: string): Causes {
  if (areSoundLabels(labels)) return NO_CAUSES;
  const causes: FieldCause[] = [];
  for (const [key, value] of entriesAt(labels)) {
    causes.push(...invalidEach(path, key, qualifiedName(key)), ...invalidEach(path, value, labelValue(value)));
  }
  return causes;
}

/** Checked first, because nearly all are valid; the order matters only for errors. */
function areSoundLabels(labels: unknown): boolean {
  if (!isJsonObject(labels)) return true;
  for (const key in labels) {
    const value = labels[key];
    if (typeof value === "string" && (qualifiedName(key).length > 0 || labelValue(value).length > 0)) return false;
  }
  return true;
}

export function validateAnnotations(annotations: unknown, path: string): Causes {
  const entries = entriesAt(annotations);
  const keys = entries.flatMap(([key]) => invalidEach(path, key, qualifiedName(key.toLowerCase())));
  return bytesExceed(entries.flat(), MAX_ANNOTATIONS) ? [...keys, tooLong(path, MAX_ANNOTATIONS)] : keys;
}

/** Whether the texts are longer than this as UTF-8. One unit of a text is one to three bytes, so most need not be encoded to tell. */
export function bytesExceed(texts: readonly string[], max: number): boolean {
  const units = texts.reduce((sum, text) => sum + text.length, 0);
  if (units > max || units * 3 <= max) return units > max;
  const encoder = new TextEncoder();
  return texts.reduce((sum, text) => sum + encoder.encode(text).length, 0) > max;
}

function validateOwners(meta: unknown, path: string): Causes {
  const owners = objectsAt(meta, "ownerReferences");
  if (owners.length === 0) return NO_CAUSES;
  const causes = owners.flatMap((owner) => validateOwner(owner, path));
  const controllers = owners
    .filter((owner) => owner["controller"] === true)
    .map((owner) => `${textAt(owner, "kind")}/${textAt(owner, "name")}`);
  const [first, ...others] = controllers;
  const list: Json = [...owners];
  return joined(
    causes,
    others.map((other) =>
      invalid(path, list, `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${other}`),
    ),
  );
}

function validateOwner(owner: JsonObject, path: string): Causes {
  const [apiVersion, kind] = [textAt(owner, "apiVersion"), textAt(owner, "kind")];
  const [head = "", version = head, ...rest] = apiVersion.split("/");
  const empty = (["name", "uid"] as const).filter((name) => textAt(owner, name) === "");
  return joined(
    version === "" || rest.length > 0 ? [invalid(`${path}.apiVersion`, apiVersion, "version must not be empty")] : [],
    kind === "" ? [invalid(`${path}.kind`, kind, "must not be empty")] : [],
    empty.map((name) => invalid(`${path}.${name}`, "", "must not be empty")),
    apiVersion === "v1" && kind === "Event" ? [invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")] : [],
  );
}

function validateFinalizers(finalizers: readonly string[], path: string): Causes {
  if (finalizers.length === 0) return NO_CAUSES;
  const causes = finalizers.flatMap((finalizer) => invalidEach(path, finalizer, qualifiedName(finalizer)));
  const both = finalizers.includes("orphan") && finalizers.includes("foregroundDeletion");
  return both ? [...causes, invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")] : causes;
}

function validateManagedFields(meta: unknown, path: string): Causes {
  return objectsAt(meta, "managedFields").flatMap((entry, index) => {
    const operation = textAt(entry, "operation");
    const fieldsType = textAt(entry, "fieldsType");
    return joined(
      ["Apply", "Update"].includes(operation) ? [] : [invalid(`${path}[${index}].operation`, operation, "must be `Apply` or `Update`")],
      fieldsType === "" || fieldsType === "FieldsV1" ? [] : [invalid(`${path}[${index}].fieldsType`, fieldsType, "must be `FieldsV1`")],
      textAt(entry, "manager").length > 128 ? [tooLong(`${path}[${index}].manager`, 128)] : [],
      textAt(entry, "subresource").length > 256 ? [tooLong(`${path}[${index}].subresource`, 256)] : [],
    );
  });
}

const NEVER_CHANGE = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Built-in kinds also want finalizers to be known or to have a domain. */
export function validateKubeFinalizers(object: unknown): Causes {
  return textsAt(object, META, "finalizers").flatMap((finalizer, index) => kubeFinalizer(finalizer, `${META}.finalizers[${index}]`));
}

export function kubeFinalizer(finalizer: string, path: string): Causes {
  const known = finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer);
  return known ? [] : [invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}

export function validateObjectMetaUpdate(next: unknown, previous: unknown): Causes {
  const [meta, old] = [objectAt(next, META) ?? {}, objectAt(previous, META) ?? {}];
  const generation = numberAt(meta, "generation") ?? 0;
  return joined(
    newFinalizers(meta, old),
    generation < (numberAt(old, "generation") ?? 0) ? [invalid(`${META}.generation`, generation, "must not be decremented")] : [],
    NEVER_CHANGE.flatMap((name) => (jsonEqual(meta[name], old[name]) ? [] : [immutable(`${META}.${name}`, meta[name] ?? zeroOf(name))])),
    validateLabels(at(meta, "labels"), `${META}.labels`),
    validateAnnotations(at(meta, "annotations"), `${META}.annotations`),
    validateOwners(meta, `${META}.ownerReferences`),
    validateManagedFields(meta, `${META}.managedFields`),
  );
}

function zeroOf(name: (typeof NEVER_CHANGE)[number]): Json {
  return name === "name" || name === "namespace" || name === "uid" ? "" : null;
}

function newFinalizers(meta: JsonObject, old: JsonObject): Causes {
  if (at(old, "deletionTimestamp") === undefined) return [];
  const known = textsAt(old, "finalizers");
  const added = textsAt(meta, "finalizers")
    .filter((finalizer) => !known.includes(finalizer))
    .toSorted();
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  return [forbidden(`${META}.finalizers`, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`)];
}
