/**
 * The schemas that a custom resource publishes in /openapi/v3 and /openapi/v2.
 *
 * v2 has neither anyOf and its kin, nor nullable, nor defaults: the server omits them, and everything below a field that preserves unknown
 * fields.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { mapSchemas } from "./map-schemas.ts";

export type PublishedKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly schema: JsonObject | undefined;
  readonly selectableFields: readonly string[];
};

export type OpenApiVersion = "v2" | "v3";

const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const API_VERSION: JsonObject = {
  description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
  type: "string",
};
const KIND: JsonObject = {
  description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  type: "string",
};
const EMBEDDED_API_VERSION: JsonObject = {
  description: `apiVersion defines the versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`,
  type: "string",
};
const EMBEDDED_KIND: JsonObject = {
  description: `kind is a string value representing the type of this object. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
  type: "string",
};

/** "test.probe.v1.Widget". */
export function modelName(kind: PublishedKind, name = kind.kind): string {
  return `${kind.group.split(".").toReversed().join(".")}.${kind.version}.${name}`;
}

export function publishedSchemas(kind: PublishedKind, version: OpenApiVersion): ReadonlyMap<string, JsonObject> {
  return new Map([
    [modelName(kind), { ...objectSchema(kind, version), ...extensions(kind, kind.kind) }],
    [modelName(kind, kind.listKind), { ...listSchema(kind, version), ...extensions(kind, kind.listKind) }],
  ]);
}

function extensions(kind: PublishedKind, name: string): JsonObject {
  const fields = kind.selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, "") }));
  return {
    "x-kubernetes-group-version-kind": [{ group: kind.group, kind: name, version: kind.version }],
    ...(fields.length === 0 ? {} : { "x-kubernetes-selectable-fields": fields }),
  };
}

function reference(version: OpenApiVersion, name: string, description: string): JsonObject {
  if (version === "v2") return { description, $ref: `#/definitions/${name}` };
  return { description, allOf: [{ $ref: `#/components/schemas/${name}` }] };
}

function objectSchema(kind: PublishedKind, version: OpenApiVersion): JsonObject {
  const { schema } = kind;
  const keepsUnknown = field(schema, "x-kubernetes-preserve-unknown-fields") === true;
  if (schema === undefined || (version === "v2" && keepsUnknown)) return { type: "object" };
  const published = withEmbedded(version === "v2" ? forV2(schema) : unfold(schema), version);
  const metadata = reference(version, `${META}.ObjectMeta`, `Standard object's metadata. More info: ${CONVENTIONS}#metadata`);
  return { ...published, properties: { ...asObject(field(published, "properties")), apiVersion: API_VERSION, kind: KIND, metadata } };
}

function listSchema(kind: PublishedKind, version: OpenApiVersion): JsonObject {
  const item = version === "v2" ? `#/definitions/${modelName(kind)}` : `#/components/schemas/${modelName(kind)}`;
  return {
    description: `${kind.listKind} is a list of ${kind.kind}`,
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: API_VERSION,
      items: { description: `List of ${kind.plural}. More info: ${CONVENTIONS}`, type: "array", items: { $ref: item } },
      kind: KIND,
      metadata: reference(version, `${META}.ListMeta`, `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`),
    },
  };
}

const INT_OR_STRING: readonly JsonObject[] = [{ type: "integer" }, { type: "string" }];

/** int-or-string is also written as a standard anyOf. */
function unfold(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (one) => {
    if (field(one, "x-kubernetes-int-or-string") !== true) return one;
    const [anyOf, allOf] = [field(one, "anyOf"), field(one, "allOf")];
    if (anyOf === undefined && !(Array.isArray(allOf) && isIntOrString(field(allOf[0], "anyOf")))) return { ...one, anyOf: INT_OR_STRING };
    if (anyOf === undefined || isIntOrString(anyOf)) return one;
    return { ...one, allOf: [{ anyOf: INT_OR_STRING }, ...(Array.isArray(allOf) ? allOf : [])] };
  });
}

function isIntOrString(anyOf: Json | undefined): boolean {
  return JSON.stringify(anyOf) === JSON.stringify(INT_OR_STRING);
}

const NOT_IN_V2 = new Set(["allOf", "anyOf", "oneOf", "not", "nullable", "default"]);

function forV2(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (one) => {
    const nullable = field(one, "nullable") === true;
    const keepsUnknown = field(one, "x-kubernetes-preserve-unknown-fields") === true;
    const hidden = new Set(nullable || keepsUnknown ? ["items", "properties"] : []);
    const type = field(one, "type");
    if (nullable || (keepsUnknown && type === "object") || (type === "array" && (hidden.has("items") || field(one, "items") === undefined)))
      hidden.add("type");
    const kept = Object.entries(one).filter(([name]) => !NOT_IN_V2.has(name) && !hidden.has(name));
    return withoutNullableRequired(Object.fromEntries(kept), one);
  });
}

/** A nullable field cannot be required in v2, where null means absence. */
function withoutNullableRequired(schema: JsonObject, original: JsonObject): JsonObject {
  const required = field(schema, "required");
  if (!Array.isArray(required)) return schema;
  const properties = field(original, "properties");
  const left = required.filter((name) => field(field(properties, String(name)), "nullable") !== true);
  const { required: _, ...rest } = schema;
  return left.length === 0 || field(field(original, "additionalProperties"), "nullable") === true ? rest : { ...rest, required: left };
}

function withEmbedded(schema: JsonObject, version: OpenApiVersion): JsonObject {
  return mapSchemas(schema, (one) => {
    const keepsUnknown = field(one, "x-kubernetes-preserve-unknown-fields") === true;
    if (field(one, "x-kubernetes-embedded-resource") !== true || (version === "v2" && keepsUnknown)) return one;
    const required = field(one, "required");
    const names = Array.isArray(required) ? required.map(String) : [];
    const metadata = reference(version, `${META}.ObjectMeta`, `Standard object's metadata. More info: ${CONVENTIONS}#metadata`);
    return {
      ...one,
      properties: { ...asObject(field(one, "properties")), apiVersion: EMBEDDED_API_VERSION, kind: EMBEDDED_KIND, metadata },
      required: [...names, ...["kind", "apiVersion"].filter((name) => !names.includes(name))],
    };
  });
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
