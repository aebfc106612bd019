/** Patch schemas from an OpenAPI document: v2 as `/openapi/v2` serves it, or one of the v3 documents. */
import { ok, type Result } from "#base";
import { failure, type PatchError } from "../errors.ts";
import { fieldOf, isList, isObject, type Json, type JsonObject } from "../json.ts";
import { definitionNode, type Definitions } from "./definitions.ts";
import { openApiFlavour, schemaFrom } from "./lookup.ts";
import type { PatchSchema } from "./port.ts";

/**
 * The schema of one definition of an OpenAPI document.
 *
 * @example openApiSchema(swagger, "io.k8s.api.core.v1.Pod") // ok: a PatchSchema
 */
export function openApiSchema(document: JsonObject, definition: string): Result<PatchSchema, PatchError> {
  const definitions = definitionsOf(document);
  if (!definitions.ok) return definitions;
  if (definitions.value(definition) === undefined) return failure("bad-schema", `the document has no definition "${definition}"`);
  return ok(schemaFrom(definitionNode(definition, definitions.value), openApiFlavour));
}

/**
 * The schema of a kind, found by its `x-kubernetes-group-version-kind`.
 *
 * @example openApiSchemaOfKind(swagger, { group: "apps", version: "v1", kind: "Deployment" })
 */
export function openApiSchemaOfKind(document: JsonObject, kind: GroupVersionKind): Result<PatchSchema, PatchError> {
  const all = schemasOf(document);
  const name = Object.keys(all).find((candidate) => hasKind(fieldOf(all, candidate), kind));
  if (name !== undefined) return openApiSchema(document, name);
  return failure("bad-schema", `the document has no kind ${kind.kind} in ${kind.group === "" ? "" : `${kind.group}/`}${kind.version}`);
}

/** A kind as `x-kubernetes-group-version-kind` names it; "" is the core group. */
export type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string };

function hasKind(schema: Json | undefined, { group, version, kind }: GroupVersionKind): boolean {
  const kinds = isObject(schema) ? fieldOf(schema, "x-kubernetes-group-version-kind") : undefined;
  if (!isList(kinds)) return false;
  return kinds.some((other) => isObject(other) && other["group"] === group && other["version"] === version && other["kind"] === kind);
}

function definitionsOf(document: JsonObject): Result<Definitions, PatchError> {
  const all = schemasOf(document);
  return ok((name) => {
    const schema = fieldOf(all, name);
    return isObject(schema) ? schema : undefined;
  });
}

function schemasOf(document: JsonObject): JsonObject {
  const components = fieldOf(document, "components");
  const schemas = fieldOf(document, "definitions") ?? (isObject(components) ? fieldOf(components, "schemas") : undefined);
  return isObject(schemas) ? schemas : {};
}
