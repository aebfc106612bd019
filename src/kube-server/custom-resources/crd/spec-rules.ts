/** The rules of `spec`: group, scope, versions and their common parts. Paths are those of the server's internal form (definition.ts). */
import { dnsSubdomainProblems, goJsonText } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { invalid, printed, required } from "../causes/causes.ts";
import { child, index } from "../causes/field-path.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { subschemas, unsupportedField } from "../schema/structural-rules.ts";
import type { CrdVersion, Definition, VersionParts } from "./definition.ts";
import { printedVersions } from "./go-internal.ts";
import {
  columnCauses,
  conversionCauses,
  enumCauses,
  labelCauses,
  nameCauses,
  selectableFieldCauses,
  subresourceCauses,
} from "./name-rules.ts";
import { validationCauses } from "./validation-rules.ts";

const SPEC = "spec";

export function specCauses(definition: Definition): readonly FieldCause[] {
  return [
    ...groupCauses(definition.group),
    ...enumCauses(child(SPEC, "scope"), definition.scope, ["Cluster", "Namespaced"]),
    ...missingSchemaCauses(definition),
    ...preserveCauses(definition),
    ...definition.versions.flatMap((version, position) => versionCauses(definition, version, index(child(SPEC, "versions"), position))),
    ...versionListCauses(definition),
    ...requiredNameCauses(definition),
    ...nameCauses(definition.names, child(SPEC, "names")),
    ...sharedCauses(definition),
    ...conversionStrategyCauses(definition),
    ...conversionCauses(definition.conversion, child(SPEC, "conversion")),
  ];
}

function groupCauses(group: string): readonly FieldCause[] {
  const path = child(SPEC, "group");
  if (group === "") return [required(path)];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalid(path, group, problems.join(","))];
  return group.includes(".") ? [] : [invalid(path, group, "should be a domain with at least one dot")];
}

function missingSchemaCauses(definition: Definition): readonly FieldCause[] {
  if (definition.shared.validation && definition.versions[0]?.validation?.schema !== undefined) return [];
  return definition.versions.flatMap((version, position) => {
    const at = child(index(child(SPEC, "versions"), position), "schema", "openAPIV3Schema");
    return version.validation?.schema === undefined || definition.shared.validation ? [required(at)] : [];
  });
}

/** preserveUnknownFields is obsolete: it can be kept, but not set, and not combined with defaults. */
function preserveCauses(definition: Definition): readonly FieldCause[] {
  if (!definition.preserveUnknownFields) return [];
  const hasDefaults = definition.versions.some(
    (version) => version.validation?.schema !== undefined && someSchema(version.validation.schema, (one) => one.default !== undefined),
  );
  return hasDefaults ? [invalid(child(SPEC, "preserveUnknownFields"), true, "must be false in order to use defaults in the schema")] : [];
}

export function someSchema(schema: JsonSchema, holds: (schema: JsonSchema) => boolean): boolean {
  return holds(schema) || subschemas(schema).some((inner) => someSchema(inner, holds));
}

function versionCauses(definition: Definition, version: CrdVersion, path: string): readonly FieldCause[] {
  const { shared } = definition;
  const status = version.subresources?.status === true;
  return [
    ...labelCauses(child(path, "name"), version.name),
    ...deprecationCauses(version, child(path, "deprecationWarning")),
    ...(shared.validation ? [] : validationCauses(version, status, child(path, "schema"))),
    ...(shared.subresources ? [] : subresourceCauses(version.subresources, child(path, "subresources"))),
    ...(shared.columns ? [] : allColumnCauses(version, path)),
    ...(shared.selectableFields || version.selectableFields.length === 0 ? [] : versionFieldCauses(definition, version, path)),
  ];
}

function allColumnCauses(parts: VersionParts, path: string): readonly FieldCause[] {
  return parts.columns.flatMap((column, position) => columnCauses(column, index(child(path, "additionalPrinterColumns"), position)));
}

function versionFieldCauses(definition: Definition, version: CrdVersion, path: string): readonly FieldCause[] {
  const at = child(path, "selectableFields");
  const schema = version.validation?.schema;
  if (definition.shared.validation || schema === undefined)
    return [invalid(at, "", "may only be set when `version.schema.openAPIV3Schema` is not included")];
  return [...unreadableCauses(schema, path), ...selectableFieldCauses(version.selectableFields, structural(schema), at)];
}

/** Paths cannot be resolved in an invalid schema; the server reports that at the wrong field, and so does this. */
function unreadableCauses(schema: JsonSchema, path: string): readonly FieldCause[] {
  const problem = unsupportedField(schema);
  return problem === undefined ? [] : [invalid(child(path, "schema.openAPIV3Schema"), "", problem)];
}

function structural(schema: JsonSchema): JsonSchema | undefined {
  return unsupportedField(schema) === undefined ? schema : undefined;
}

function deprecationCauses(version: CrdVersion, path: string): readonly FieldCause[] {
  const { deprecationWarning: warning } = version;
  if (warning === undefined) return [];
  const value = printed(goJsonText(warning));
  if (!version.deprecated) return [invalid(path, value, "can only be set for deprecated versions")];
  const problems: string[] = [];
  if (new TextEncoder().encode(warning).length > 256) problems.push("must be <= 256 characters long");
  if (warning === "") problems.push("must not be an empty string");
  const bad = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (bad !== null) {
    const at = new TextEncoder().encode(warning.slice(0, bad.index)).length;
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
  }
  return problems.map((problem) => invalid(path, value, problem));
}

function versionListCauses(definition: Definition): readonly FieldCause[] {
  const { versions } = definition;
  const path = child(SPEC, "versions");
  const causes: FieldCause[] = [];
  if (new Set(versions.map((version) => version.name)).size !== versions.length)
    causes.push(invalid(path, printedVersions(definition), "must contain unique version names"));
  if (versions.filter((version) => version.storage).length !== 1) {
    causes.push(invalid(path, printedVersions(definition), "must have exactly one version marked as storage version"));
  }
  const [first] = versions;
  return first === undefined ? causes : [...causes, ...labelCauses(child(SPEC, "version"), first.name)];
}

function requiredNameCauses(definition: Definition): readonly FieldCause[] {
  return (["plural", "singular", "kind", "listKind"] as const).flatMap((name) =>
    definition.names[name] === "" ? [required(child(SPEC, "names", name))] : [],
  );
}

/** What all versions have in common is validated once. */
function sharedCauses(definition: Definition): readonly FieldCause[] {
  const [first] = definition.versions;
  if (first === undefined) return [];
  const { shared } = definition;
  const status = definition.versions.some((version) => version.subresources?.status === true);
  const schema = shared.validation ? first.validation?.schema : undefined;
  return [
    ...(shared.validation ? validationCauses(first, status, child(SPEC, "validation")) : []),
    ...(shared.subresources ? subresourceCauses(first.subresources, child(SPEC, "subresources")) : []),
    ...(shared.columns ? allColumnCauses(first, SPEC) : []),
    ...(shared.selectableFields && first.selectableFields.length > 0 ? sharedFieldCauses(first, schema) : []),
  ];
}

function sharedFieldCauses(version: CrdVersion, schema: JsonSchema | undefined): readonly FieldCause[] {
  const at = child(SPEC, "selectableFields");
  if (schema === undefined) return [invalid(at, "", "may only be set when validations.schema is included")];
  return [...unreadableCauses(schema, SPEC), ...selectableFieldCauses(version.selectableFields, structural(schema), at)];
}

function conversionStrategyCauses(definition: Definition): readonly FieldCause[] {
  const strategy = definition.conversion?.["strategy"];
  if (!definition.preserveUnknownFields || strategy === "None" || strategy === undefined) return [];
  return [invalid(child(SPEC, "conversion", "strategy"), strategy, "must be None if spec.preserveUnknownFields is true")];
}
