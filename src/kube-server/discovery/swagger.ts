/**
 * The document of /openapi/v2: all groups in one. Read by old clients, and by kubectl to validate a List.
 *
 * An operation has what clients read: kind, action, body, responses, and the names of the parameters.
 */
import { field, fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";
import type { ServedGroup } from "./groups.ts";
import { SchemaCollection } from "./openapi-schemas.ts";
import { definitionRef } from "./swagger-schemas.ts";

/** `documents`: those of version 3, for their paths; `roots`: the built-in schemas that paths without resources refer to. */
export type SwaggerParts = {
  readonly info: JsonObject;
  readonly groups: readonly ServedGroup[];
  readonly roots: readonly string[];
  readonly documents: readonly JsonObject[];
};

export function swaggerOf({ info, groups, roots, documents }: SwaggerParts): JsonObject {
  const schemas = new SchemaCollection("v2");
  for (const name of roots) schemas.addBuiltin(name);
  for (const { versions } of groups) for (const { resources } of versions) for (const served of resources) schemas.addResource(served);
  const paths = documents.flatMap((document) => Object.entries(document["paths"] ?? {}));
  return {
    swagger: "2.0",
    info,
    paths: Object.fromEntries(paths.map(([path, item]) => [path, swaggerPath(item as Json)])),
    definitions: schemas.sorted(),
  };
}

function swaggerPath(item: Json): Json {
  if (!isJsonObject(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      if (name === "parameters") return [name, swaggerParameters(value)];
      return [name, isJsonObject(value) ? swaggerOperation(value) : value];
    }),
  );
}

function swaggerOperation(operation: JsonObject): JsonObject {
  const { requestBody, responses, parameters, ...rest } = operation;
  const content = field(requestBody, "content");
  const types = isJsonObject(content) ? Object.keys(content) : [];
  const all = [...bodyParameter(requestBody), ...swaggerParameters(parameters)];
  return {
    ...(types.length === 0 ? {} : { consumes: types }),
    produces: ["application/json", "application/yaml"],
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: Object.fromEntries(Object.entries(responses ?? {}).map(([code, response]) => [code, swaggerResponse(response as Json)])),
    ...rest,
  };
}

function bodyParameter(requestBody: Json | undefined): readonly JsonObject[] {
  const [first] = Object.values(field(requestBody, "content") ?? {}) as readonly Json[];
  const ref = fieldAt(first, "schema", "$ref");
  if (ref === undefined) return [];
  const required = field(requestBody, "required") === true ? { required: true } : {};
  return [{ name: "body", in: "body", ...required, schema: { $ref: definitionRef(ref) } }];
}

function swaggerResponse(response: Json): JsonObject {
  const schema = fieldAt(response, "content", "application/json", "schema");
  const ref = field(schema, "$ref");
  return {
    description: field(response, "description") ?? "",
    ...(ref !== undefined ? { schema: { $ref: definitionRef(ref) } } : schema === undefined ? {} : { schema }),
  };
}

function swaggerParameters(parameters: Json | undefined): readonly Json[] {
  if (!Array.isArray(parameters)) return [];
  return parameters.map((parameter) => {
    if (!isJsonObject(parameter)) return parameter;
    const { schema: _, ...rest } = parameter;
    return { ...rest, type: "string", uniqueItems: true };
  });
}
