/**
 * Field sets are in the version that their manager used; for a comparison the object is converted to that version.
 *
 * A version that is no longer served is not an error: its managers lose their fields.
 */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import type { FieldFilter, ResetFields } from "./field-filter.ts";
import { withoutManagedFields } from "./managed-metadata.ts";
import type { TypeSchema } from "./schema.ts";
import { parseTyped, type TypedValue } from "./typed-value.ts";

type Failed = { readonly kind: "failed"; readonly message: string };
export type ConvertError = { readonly kind: "missing-version" } | Failed;
export type ConvertedObject = { readonly object: JsonObject; readonly schema: TypeSchema };

/** Converts an object to another version of its kind; never called for the version that the object already has. */
export type ConvertObject = (object: JsonObject, apiVersion: string) => Result<ConvertedObject, ConvertError>;

/** There is only one version. */
export const noOtherVersion: ConvertObject = () => err({ kind: "missing-version" });

/** Versions that differ only in their name and schema (a CustomResourceDefinition with conversion strategy None). */
export function renameVersion(schemas: ReadonlyMap<string, TypeSchema>): ConvertObject {
  return (object, apiVersion) => {
    const schema = schemas.get(apiVersion);
    return schema === undefined ? err({ kind: "missing-version" }) : ok({ object: { ...object, apiVersion }, schema });
  };
}

/** `stored`: the object that has the managedFields; undefined: every object has them. They are not compared. */
export function convertWith(convert: ConvertObject, managedFields: Json | undefined, stored?: JsonObject): ConvertObject {
  if (managedFields === undefined) return convert;
  return (object, apiVersion) => {
    const isStored = stored === undefined || stored === object;
    const metadata = field(object, "metadata");
    const given = isStored ? { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), managedFields } } : object;
    const converted = convert(given, apiVersion);
    return converted.ok ? ok({ ...converted.value, object: withoutManagedFields(converted.value.object) }) : converted;
  };
}

export type Versions = { readonly convert: ConvertObject; readonly resetFields: ResetFields };

const everything: FieldFilter = (set) => set;

export function filterOf({ resetFields }: Pick<Versions, "resetFields">, apiVersion: string): FieldFilter {
  return resetFields.get(apiVersion) ?? everything;
}

export function toVersion({ convert }: Versions, typed: TypedValue, apiVersion: string): Result<TypedValue, ConvertError> {
  if (field(typed.value, "apiVersion") === apiVersion) return ok(typed);
  const converted = convert(typed.value, apiVersion);
  if (!converted.ok) return converted;
  const parsed = parseTyped(converted.value.schema, converted.value.object, { allowDuplicates: false });
  return parsed.ok ? parsed : failed(parsed.error);
}

/** After the removal of fields: the result must still be an object. */
export function withValue(typed: TypedValue, value: Json): Result<TypedValue, Failed> {
  return isJsonObject(value) ? ok({ value, type: typed.type }) : failed("failed to convert value to unstructured for type <nil>");
}

function failed(message: string): Result<never, Failed> {
  return err({ kind: "failed", message });
}
