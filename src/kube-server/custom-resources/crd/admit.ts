/**
 * Admission of a CRD: it is decoded, gets its defaults and is validated. Nothing is stored here, and other CRDs are not read: name conflicts
 * are reported in the status (status.ts) and do not refuse a CRD.
 */
import { err, ok, type Result } from "#base";
import { dnsSubdomainProblems, field, fieldAt, isConditionTrue, type Json, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { invalid } from "../causes/causes.ts";
import { child, index } from "../causes/field-path.ts";
import { immutable, validateObjectMeta, validateObjectMetaUpdate } from "../metadata/object-meta.ts";
import { approvalCauses } from "./approval.ts";
import { decodeDefinition, readDefinition, type Definition } from "./definition.ts";
import { nameCauses } from "./name-rules.ts";
import { someSchema, specCauses } from "./spec-rules.ts";
import { isRecognised } from "../validation/formats.ts";

export type PreparedCrd = {
  /** The object to store; generation, uid and times are set by the storage. */
  readonly object: JsonObject;
  readonly definition: Definition;
  /** `unknown field "…"`, for fieldValidation. */
  readonly findings: readonly string[];
  /** For the Warning header. */
  readonly warnings: readonly string[];
};

export type CrdRefusal =
  /** 400: malformed JSON for a CRD. The message is Go's. */
  | { readonly kind: "undecodable"; readonly message: string }
  /** 422. */
  | { readonly kind: "invalid"; readonly causes: readonly FieldCause[] };

/** Without `previous` the CRD is created; the server then sets the status and ignores the client's. */
export function admitCrd(raw: Json, previous?: JsonObject): Result<PreparedCrd, CrdRefusal> {
  const decoded = decodeDefinition(raw);
  if (!decoded.ok) return err({ kind: "undecodable", message: decoded.error });
  const old = previous === undefined ? undefined : readDefinition(previous);
  const definition = withStatus(decoded.value.definition, old);
  const causes = old === undefined ? createCauses(definition) : updateCauses(definition, old);
  if (causes.length > 0) return err({ kind: "invalid", causes });
  const findings = decoded.value.unknown.map((path) => `unknown field "${path}"`);
  return ok({ object: definition.object, definition, findings, warnings: warningsOf(definition, old) });
}

/** A write to `spec` keeps the status, and records every version that was ever stored. */
function withStatus(definition: Definition, old: Definition | undefined): Definition {
  const storage = definition.versions.find((version) => version.storage)?.name;
  const before = old?.storedVersions ?? [];
  const stored = storage === undefined || before.includes(storage) ? before : [...before, storage];
  const status = field(old?.object, "status") ?? { conditions: null, acceptedNames: { plural: "", kind: "" } };
  const storedVersions = stored.length === 0 ? null : stored;
  return readDefinition({ ...definition.object, status: { ...(status as JsonObject), storedVersions } });
}

/** The causes for a decoded CRD; for a write to its status only names are checked. */
export function admitDecoded(definition: Definition, old: Definition | undefined, subresource: string | undefined): readonly FieldCause[] {
  if (old === undefined) return createCauses(definition);
  if (subresource !== "status") return updateCauses(definition, old);
  const names = nameCauses(definition.acceptedNames, child("status", "acceptedNames"));
  return [...validateObjectMetaUpdate(definition.metadata, old.metadata, "metadata"), ...names];
}

function createCauses(definition: Definition): readonly FieldCause[] {
  const wanted = `${definition.names.plural}.${definition.group}`;
  const nameRule = (name: string): readonly string[] => [
    ...dnsSubdomainProblems(name),
    ...(name === wanted ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
  return [
    ...validateObjectMeta(definition.metadata, false, nameRule, "metadata"),
    ...specCauses(definition),
    ...statusCauses(definition),
    ...approvalCauses(definition, undefined),
    ...preserveCauses(definition, undefined),
  ];
}

function updateCauses(definition: Definition, old: Definition): readonly FieldCause[] {
  const spec = (name: string): string => child("spec", name);
  const fixed = isEstablished(old.object)
    ? [
        ...immutable(spec("scope"), definition.scope, old.scope),
        ...immutable(child("spec", "names", "kind"), definition.names.kind, old.names.kind),
      ]
    : [];
  return [
    ...validateObjectMetaUpdate(definition.metadata, old.metadata, "metadata"),
    ...specCauses(definition),
    ...bundleCauses(definition, old),
    ...fixed,
    ...immutable(spec("group"), definition.group, old.group),
    ...immutable(child("spec", "names", "plural"), definition.names.plural, old.names.plural),
    ...statusCauses(definition),
    ...approvalCauses(definition, old),
    ...preserveCauses(definition, old),
  ];
}

export function isEstablished(crd: JsonObject): boolean {
  const conditions = fieldAt(crd, "status", "conditions");
  return Array.isArray(conditions) && isConditionTrue(conditions, "Established");
}

/** An established CRD cannot get an invalid certificate. */
function bundleCauses(definition: Definition, old: Definition): readonly FieldCause[] {
  const bundle = (crd: Definition): Json | undefined => fieldAt(crd.conversion, "webhook", "clientConfig", "caBundle");
  const [next, before] = [bundle(definition), bundle(old)];
  const isBad = (value: Json | undefined): boolean => typeof value === "string" && !isCertificate(value);
  if (!isEstablished(old.object) || !isBad(next) || isBad(before)) return [];
  const path = child("spec", "conversion", "webhookClientConfig", "caBundle");
  return [invalid(path, next, "unable to load root certificates: unable to parse bytes as PEM block")];
}

function isCertificate(base64: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0 && atob(base64).includes("-----BEGIN CERTIFICATE-----");
}

function statusCauses(definition: Definition): readonly FieldCause[] {
  const path = child("status", "storedVersions");
  const { storedVersions, versions } = definition;
  const names = nameCauses(definition.acceptedNames, child("status", "acceptedNames"));
  if (storedVersions.length === 0) return [...names, invalid(path, null, "must have at least one stored version")];
  const first = (name: string): number => versions.findIndex((version) => version.name === name);
  const missing = versions.filter(
    (version, at) => version.storage && !(storedVersions.includes(version.name) && first(version.name) === at),
  );
  const gone = storedVersions.flatMap((name, at) => (first(name) < 0 ? [[name, at] as const] : []));
  return [
    ...names,
    ...missing.map((version) => invalid(path, [...storedVersions], `must have the storage version ${version.name}`)),
    ...gone.map(([name, at]) =>
      invalid(
        index(path, at),
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    ),
  ];
}

function preserveCauses(definition: Definition, old: Definition | undefined): readonly FieldCause[] {
  if (old?.preserveUnknownFields === true || !definition.preserveUnknownFields) return [];
  return [
    invalid(
      child("spec", "preserveUnknownFields"),
      true,
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ),
  ];
}

/** Unknown formats are allowed and have no effect. Only new ones cause a warning. */
export function warningsOf(definition: Definition, old: Definition | undefined): readonly string[] {
  const known = new Set(old === undefined ? [] : unknownFormats(old));
  return [...new Set(unknownFormats(definition))]
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function unknownFormats(definition: Definition): readonly string[] {
  const formats: string[] = [];
  const versions = definition.shared.validation ? definition.versions.slice(0, 1) : definition.versions;
  for (const version of versions) {
    if (version.validation?.schema === undefined) continue;
    someSchema(version.validation.schema, (schema) => {
      if (schema.format !== "" && !isRecognised({ ...schema, intOrString: false })) formats.push(schema.format);
      return false;
    });
  }
  return formats;
}
