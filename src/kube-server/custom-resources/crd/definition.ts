/**
 * A parsed CustomResourceDefinition. `object` is what is stored: decoded, with defaults, without unknown fields.
 *
 * Surprise: in the server's internal form, what all versions share (schema, subresources, columns) is in one place at the top. Error messages
 * refer to that form: an error of a CRD with one version names `spec.validation`, which is not in the client's object.
 */
import { err, ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, jsonEqual, type Json, type JsonObject } from "#kube";
import { CRD } from "../decode/crd-shape.ts";
import { readShape } from "../../protocol/shapes.ts";
import { stringsOf } from "../metadata/object-meta.ts";
import { readSchema, type JsonSchema } from "../schema/json-schema.ts";
import { setDefaults } from "./crd-defaults.ts";
import { asList, asObject, text } from "./json-access.ts";

export type CrdNames = {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
};

export type CrdScalePaths = {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string | undefined;
};
export type Subresources = { readonly status: boolean; readonly scale: CrdScalePaths | undefined };

export type CrdPrinterColumn = {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
};

/** The parts that can be shared by all versions. */
export type VersionParts = {
  /** Undefined: without a `schema`. */
  readonly validation: { readonly schema: JsonSchema | undefined; readonly json: JsonObject } | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly CrdPrinterColumn[];
  readonly selectableFields: readonly string[];
};

export type CrdVersion = VersionParts & {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
  readonly json: JsonObject;
};

export type Definition = {
  readonly object: JsonObject;
  readonly metadata: JsonObject;
  readonly group: string;
  readonly scope: string;
  readonly names: CrdNames;
  readonly acceptedNames: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly conversion: JsonObject | undefined;
  readonly preserveUnknownFields: boolean;
  readonly storedVersions: readonly string[];
  /** The parts that are equal in all versions, which are at the top of the internal form. */
  readonly shared: { readonly [Part in keyof VersionParts]: boolean };
};

export type DecodedDefinition = { readonly definition: Definition; readonly unknown: readonly string[] };

/** The error is Go's, without the prefix "cannot be handled as". */
export function decodeDefinition(raw: Json): Result<DecodedDefinition, string> {
  const shaped = readShape(CRD, raw);
  return shaped.ok ? ok({ definition: readDefinition(setDefaults(shaped.value.value)), unknown: shaped.value.unknown }) : err(shaped.error);
}

export function readDefinition(object: JsonObject): Definition {
  const spec = asObject(field(object, "spec"));
  const versions = asList(field(spec, "versions")).map(readVersion);
  const conversion = field(spec, "conversion");
  return {
    object,
    metadata: asObject(field(object, "metadata")),
    group: text(spec, "group"),
    scope: text(spec, "scope"),
    names: readNames(field(spec, "names")),
    acceptedNames: readNames(fieldAt(object, "status", "acceptedNames")),
    versions,
    conversion: isJsonObject(conversion) ? conversion : undefined,
    preserveUnknownFields: field(spec, "preserveUnknownFields") === true,
    storedVersions: stringsOf(fieldAt(object, "status", "storedVersions")),
    shared: {
      validation: sharedBy(versions, (version) => field(version.json, "schema")),
      subresources: sharedBy(versions, (version) => field(version.json, "subresources")),
      columns: sharedBy(versions, (version) => field(version.json, "additionalPrinterColumns")),
      selectableFields: sharedBy(versions, (version) => field(version.json, "selectableFields")),
    },
  };
}

function sharedBy(versions: readonly CrdVersion[], part: (version: CrdVersion) => Json | undefined): boolean {
  const [first] = versions;
  return first !== undefined && versions.every((version) => jsonEqual(part(version), part(first)));
}

function readNames(raw: Json | undefined): CrdNames {
  return {
    plural: text(raw, "plural"),
    singular: text(raw, "singular"),
    kind: text(raw, "kind"),
    listKind: text(raw, "listKind"),
    shortNames: stringsOf(field(raw, "shortNames")),
    categories: stringsOf(field(raw, "categories")),
  };
}

function readVersion(json: JsonObject): CrdVersion {
  const validation = field(json, "schema");
  const schema = field(validation, "openAPIV3Schema");
  const warning = field(json, "deprecationWarning");
  return {
    name: text(json, "name"),
    served: field(json, "served") === true,
    storage: field(json, "storage") === true,
    deprecated: field(json, "deprecated") === true,
    deprecationWarning: typeof warning === "string" ? warning : undefined,
    validation: isJsonObject(validation)
      ? { schema: isJsonObject(schema) ? readSchema(schema) : undefined, json: asObject(schema) }
      : undefined,
    subresources: readSubresources(field(json, "subresources")),
    columns: asList(field(json, "additionalPrinterColumns")).map(readColumn),
    selectableFields: asList(field(json, "selectableFields")).map((selectable) => text(selectable, "jsonPath")),
    json,
  };
}

function readSubresources(raw: Json | undefined): Subresources | undefined {
  if (!isJsonObject(raw)) return undefined;
  const scale = field(raw, "scale");
  const selector = field(scale, "labelSelectorPath");
  return {
    status: field(raw, "status") !== undefined,
    scale: isJsonObject(scale)
      ? {
          specReplicasPath: text(scale, "specReplicasPath"),
          statusReplicasPath: text(scale, "statusReplicasPath"),
          labelSelectorPath: typeof selector === "string" ? selector : undefined,
        }
      : undefined,
  };
}

function readColumn(raw: JsonObject): CrdPrinterColumn {
  const priority = field(raw, "priority");
  return {
    name: text(raw, "name"),
    type: text(raw, "type"),
    format: text(raw, "format"),
    description: text(raw, "description"),
    priority: typeof priority === "number" ? priority : 0,
    jsonPath: text(raw, "jsonPath"),
  };
}
