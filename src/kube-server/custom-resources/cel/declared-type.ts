/**
 * What a schema is to CEL: a type, and how large a value of it can be, from which the cost of a rule is estimated before it
 * ever runs. Fields without a type (x-kubernetes-preserve-unknown-fields) do not exist for rules.
 */
import { EMPTY_SCHEMA, valueSchema, type JsonSchema } from "../schema/json-schema.ts";
import { escapeName } from "./escaping.ts";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, listType, mapType, STRING, structType, TIMESTAMP, type CelType } from "./types.ts";

export type DeclaredType = {
  readonly kind: "scalar" | "list" | "map" | "object";
  /** Of scalars; the rest get theirs when they are given names. */
  readonly type: CelType;
  /** Characters, items or entries at most. */
  readonly maxElements: number;
  /** The fewest bytes a value takes in JSON. */
  readonly minSize: number;
  readonly element: DeclaredType | undefined;
  readonly fields: ReadonlyMap<string, DeclaredType>;
};

export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;
const UTF8 = new TextEncoder();
const KEY_TYPE = scalar(STRING, 2, 0);

function scalar(type: CelType, minSize: number, maxElements: number): DeclaredType {
  return { kind: "scalar", type, maxElements, minSize, element: undefined, fields: new Map() };
}

/** Undefined: the schema has no type that CEL could use. `isResource`: kind, apiVersion and metadata are there too. */
export function declaredType(schema: JsonSchema, isResource: boolean): DeclaredType | undefined {
  if (schema.intOrString) return scalar(DYN, 1, schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, schema.maxLength) * 4);
  const full = isResource ? withResourceFields(schema) : schema;
  switch (full.type) {
    case "array":
      return arrayType(full);
    case "object":
      return objectType(full);
    case "string":
      return stringType(full);
    case "boolean":
      return scalar(BOOL, 4, 0);
    case "number":
      return scalar(DOUBLE, 1, 0);
    case "integer":
      return scalar(INT, 1, 0);
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
      return scalar(BYTES, 2, schema.maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, schema.maxLength));
    case "duration":
      return scalar(DURATION, 3, 32);
    case "date":
      return scalar(TIMESTAMP, 12, 12);
    case "date-time":
      return scalar(TIMESTAMP, 21, 32);
    default:
      return scalar(STRING, 2, maxCharacters(schema));
  }
}

function maxCharacters(schema: JsonSchema): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4;
  if (schema.enum.length === 0) return MAX_REQUEST_BYTES - 2;
  return schema.enum.reduce((max: number, value) => (typeof value === "string" ? Math.max(max, UTF8.encode(value).length) : max), 0);
}

export type NamedTypes = { readonly type: CelType; readonly fieldsOf: (struct: string) => ReadonlyMap<string, CelType> | undefined };

/** Every object gets a name of its own, so that two of different shape are different types. */
export function nameTypes(root: DeclaredType, name: string): NamedTypes {
  const structs = new Map<string, ReadonlyMap<string, CelType>>();
  const visit = (declared: DeclaredType, path: string): CelType => {
    if (declared.kind === "list" && declared.element !== undefined) return listType(visit(declared.element, `${path}.@idx`));
    if (declared.kind === "map" && declared.element !== undefined) return mapType(STRING, visit(declared.element, `${path}.@elem`));
    if (declared.kind !== "object") return declared.type;
    structs.set(path, new Map([...declared.fields].map(([field, type]) => [field, visit(type, `${path}.${field}`)])));
    return structType(path);
  };
  return { type: visit(root, name), fieldsOf: (struct) => structs.get(struct) };
}

/** How large what the path leads to can be: "@items", "@values", "@keys" and names of fields. */
export function maxElementsAt(root: DeclaredType, path: readonly string[]): number | undefined {
  let at: DeclaredType = root;
  for (const step of path) {
    const next =
      step === "@items" || step === "@values"
        ? at.element
        : step === "@keys"
          ? at.kind === "map"
            ? KEY_TYPE
            : undefined
          : at.fields.get(step);
    if (next === undefined) return undefined;
    at = next;
  }
  return at.maxElements;
}
