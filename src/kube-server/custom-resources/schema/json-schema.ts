/**
 * The schema of a custom resource, parsed from a decoded CRD.
 *
 * Names that a CRD's author chose are keys of Maps: "__proto__" is an ordinary field.
 */
import { memoizeByObject } from "#base";
import { isJsonObject, type Json, type JsonObject } from "#kube";

export type ValidationRule = {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
};

export type JsonSchema = {
  readonly id: string;
  readonly schemaUrl: string;
  readonly ref: string | undefined;
  readonly description: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly format: string;
  readonly title: string;
  /** Undefined: no default; null counts as none. */
  readonly default: Json | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: string;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly multipleOf: number | undefined;
  readonly enum: readonly Json[];
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly required: readonly string[];
  readonly items: JsonSchema | undefined;
  /** `items: [..]`, which is refused. */
  readonly itemList: readonly JsonSchema[];
  readonly allOf: readonly JsonSchema[];
  readonly oneOf: readonly JsonSchema[];
  readonly anyOf: readonly JsonSchema[];
  readonly not: JsonSchema | undefined;
  readonly properties: ReadonlyMap<string, JsonSchema> | undefined;
  readonly additionalProperties: JsonSchema | boolean | undefined;
  readonly patternProperties: ReadonlyMap<string, JsonSchema>;
  readonly dependencies: ReadonlyMap<string, JsonSchema | undefined> | undefined;
  readonly additionalItems: JsonSchema | boolean | undefined;
  readonly definitions: ReadonlyMap<string, JsonSchema>;
  readonly externalDocs: JsonObject | undefined;
  readonly example: Json | undefined;
  readonly preserveUnknownFields: boolean | undefined;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listMapKeys: readonly string[];
  readonly listType: string | undefined;
  readonly mapType: string | undefined;
  readonly validations: readonly ValidationRule[];
};

/**
 * Parses a decoded schema: the types of its fields were checked, so the casts here are safe. Schemas are never changed, and each is parsed
 * once and shared by all users of its definition.
 */
export const readSchema: (raw: JsonObject) => JsonSchema = memoizeByObject(readNode);

function readNode(raw: JsonObject): JsonSchema {
  const items = raw["items"];
  return {
    ...readScalars(raw),
    items: isJsonObject(items) ? readNode(items) : undefined,
    itemList: readList(items),
    allOf: readList(raw["allOf"]),
    oneOf: readList(raw["oneOf"]),
    anyOf: readList(raw["anyOf"]),
    not: readOptional(raw["not"]),
    properties: isJsonObject(raw["properties"]) ? readMap(raw["properties"]) : undefined,
    additionalProperties: readSchemaOrBoolean(raw["additionalProperties"]),
    patternProperties: readMap(raw["patternProperties"]),
    dependencies: readDependencies(raw["dependencies"]),
    additionalItems: readSchemaOrBoolean(raw["additionalItems"]),
    definitions: readMap(raw["definitions"]),
    validations: ((raw["x-kubernetes-validations"] ?? []) as readonly JsonObject[]).map(readRule),
  };
}

type Scalars = Omit<
  JsonSchema,
  | "items"
  | "itemList"
  | "allOf"
  | "oneOf"
  | "anyOf"
  | "not"
  | "properties"
  | "additionalProperties"
  | "patternProperties"
  | "dependencies"
  | "additionalItems"
  | "definitions"
  | "validations"
>;

function readScalars(raw: JsonObject): Scalars {
  const text = (name: string): string => (raw[name] ?? "") as string;
  const maybeText = (name: string): string | undefined => raw[name] as string | undefined;
  const number = (name: string): number | undefined => raw[name] as number | undefined;
  const flag = (name: string): boolean => raw[name] === true;
  return {
    id: text("id"),
    schemaUrl: text("$schema"),
    ref: maybeText("$ref"),
    description: text("description"),
    type: text("type"),
    nullable: flag("nullable"),
    format: text("format"),
    title: text("title"),
    default: raw["default"] ?? undefined,
    maximum: number("maximum"),
    exclusiveMaximum: flag("exclusiveMaximum"),
    minimum: number("minimum"),
    exclusiveMinimum: flag("exclusiveMinimum"),
    maxLength: number("maxLength"),
    minLength: number("minLength"),
    pattern: text("pattern"),
    maxItems: number("maxItems"),
    minItems: number("minItems"),
    uniqueItems: flag("uniqueItems"),
    multipleOf: number("multipleOf"),
    enum: (raw["enum"] ?? []) as readonly Json[],
    maxProperties: number("maxProperties"),
    minProperties: number("minProperties"),
    required: (raw["required"] ?? []) as readonly string[],
    externalDocs: raw["externalDocs"] as JsonObject | undefined,
    example: raw["example"] ?? undefined,
    preserveUnknownFields: raw["x-kubernetes-preserve-unknown-fields"] as boolean | undefined,
    embeddedResource: flag("x-kubernetes-embedded-resource"),
    intOrString: flag("x-kubernetes-int-or-string"),
    listMapKeys: (raw["x-kubernetes-list-map-keys"] ?? []) as readonly string[],
    listType: maybeText("x-kubernetes-list-type"),
    mapType: maybeText("x-kubernetes-map-type"),
  };
}

function readRule(raw: JsonObject): ValidationRule {
  return {
    rule: (raw["rule"] ?? "") as string,
    message: (raw["message"] ?? "") as string,
    messageExpression: (raw["messageExpression"] ?? "") as string,
    reason: raw["reason"] as string | undefined,
    fieldPath: (raw["fieldPath"] ?? "") as string,
    optionalOldSelf: raw["optionalOldSelf"] as boolean | undefined,
  };
}

function readOptional(raw: Json | undefined): JsonSchema | undefined {
  return isJsonObject(raw) ? readSchema(raw) : undefined;
}

const NONE: readonly JsonSchema[] = [];
const NO_SCHEMAS: ReadonlyMap<string, JsonSchema> = new Map();

function readList(raw: Json | undefined): readonly JsonSchema[] {
  return Array.isArray(raw) ? raw.map((item: JsonObject) => readNode(item)) : NONE;
}

function readMap(raw: Json | undefined): ReadonlyMap<string, JsonSchema> {
  if (!isJsonObject(raw)) return NO_SCHEMAS;
  const schemas = new Map<string, JsonSchema>();
  for (const name of Object.keys(raw)) schemas.set(name, readNode(raw[name] as JsonObject));
  return schemas;
}

function readSchemaOrBoolean(raw: Json | undefined): JsonSchema | boolean | undefined {
  return typeof raw === "boolean" ? raw : readOptional(raw);
}

function readDependencies(raw: Json | undefined): ReadonlyMap<string, JsonSchema | undefined> | undefined {
  return isJsonObject(raw) ? new Map(Object.entries(raw).map(([name, value]) => [name, readOptional(value)])) : undefined;
}

/** A schema without keywords, for embedded resources and missing schemas. */
export const EMPTY_SCHEMA: JsonSchema = readSchema({});

/** The schema of a field, or of any value of a map; undefined when the schema declares none. */
export function schemaOfField(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  return schema?.properties?.get(name) ?? valueSchema(schema);
}

export function valueSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
}
