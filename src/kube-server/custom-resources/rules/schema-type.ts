/** The CEL type of a schema. Fields without a type (x-kubernetes-preserve-unknown-fields) do not exist for rules. */
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  escapeName,
  INT,
  listType,
  mapType,
  MAX_REQUEST_BYTES,
  scalarType,
  STRING,
  structType,
  TIMESTAMP,
  type DeclaredType,
} from "#cel";
import { EMPTY_SCHEMA, valueSchema, type JsonSchema } from "../schema/json-schema.ts";

const UTF8 = new TextEncoder();

/** Undefined: the schema has no CEL type. `isResource`: kind, apiVersion and metadata are declared too. */
export function declaredType(schema: JsonSchema, isResource: boolean): DeclaredType | undefined {
  if (schema.intOrString)
    return scalarType(DYN, 1, schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, schema.maxLength) * 4);
  const full = isResource ? withResourceFields(schema) : schema;
  switch (full.type) {
    case "array":
      return arrayType(full);
    case "object":
      return objectType(full);
    case "string":
      return stringType(full);
    case "boolean":
      return scalarType(BOOL, 4, 0);
    case "number":
      return scalarType(DOUBLE, 1, 0);
    case "integer":
      return scalarType(INT, 1, 0);
    default:
      return undefined;
  }
}

export function withResourceFields(schema: JsonSchema): JsonSchema {
  const text: JsonSchema = { ...EMPTY_SCHEMA, type: "string" };
  const metadata: JsonSchema = {
    ...EMPTY_SCHEMA,
    type: "object",
    properties: new Map([
      ["name", text],
      ["generateName", text],
    ]),
  };
  return { ...schema, properties: new Map([...(schema.properties ?? []), ["kind", text], ["apiVersion", text], ["metadata", metadata]]) };
}

function arrayType(schema: JsonSchema): DeclaredType | undefined {
  const element = schema.items === undefined ? undefined : declaredType(schema.items, schema.items.embeddedResource);
  if (element === undefined) return undefined;
  const maxElements =
    schema.maxItems === undefined ? Math.trunc((MAX_REQUEST_BYTES - 2) / (element.minSize + 1)) : Math.max(0, schema.maxItems);
  return { kind: "list", type: listType(element.type), maxElements, minSize: 2, element, fields: new Map() };
}

function objectType(schema: JsonSchema): DeclaredType | undefined {
  const values = valueSchema(schema);
  if (values !== undefined) return mapOfType(schema, declaredType(values, values.embeddedResource));
  const fields = new Map<string, DeclaredType>();
  let minSize = 2;
  for (const [name, property] of schema.properties ?? []) {
    const type = declaredType(property, property.embeddedResource);
    if (type === undefined) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, type);
    if (schema.required.includes(name) && property.default === undefined) minSize += UTF8.encode(name).length + type.minSize + 4;
  }
  return { kind: "object", type: structType("object"), maxElements: 0, minSize, element: undefined, fields };
}

function mapOfType(schema: JsonSchema, element: DeclaredType | undefined): DeclaredType | undefined {
  if (element === undefined) return undefined;
  const maxElements =
    schema.maxProperties === undefined ? Math.trunc((MAX_REQUEST_BYTES - 2) / (element.minSize + 6)) : Math.max(0, schema.maxProperties);
  return { kind: "map", type: mapType(STRING, element.type), maxElements, minSize: 2, element, fields: new Map() };
}

function stringType(schema: JsonSchema): DeclaredType {
  switch (schema.format) {
    case "byte":
      return scalarType(BYTES, 2, schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, schema.maxLength));
    case "duration":
      return scalarType(DURATION, 3, 32);
    case "date":
      return scalarType(TIMESTAMP, 12, 12);
    case "date-time":
      return scalarType(TIMESTAMP, 21, 32);
    default:
      return scalarType(STRING, 2, maxCharacters(schema));
  }
}

function maxCharacters(schema: JsonSchema): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4;
  if (schema.enum.length === 0) return MAX_REQUEST_BYTES - 2;
  return schema.enum.reduce((max: number, value) => (typeof value === "string" ? Math.max(max, UTF8.encode(value).length) : max), 0);
}
