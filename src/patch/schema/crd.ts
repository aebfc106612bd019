/**
 * Patch schemas from CRDs. A real server rejects strategic merge on custom resources (HTTP 415); these are for the list-type option and
 * for schemas with their own merge metadata.
 */
import { ok, type Result } from "#base";
import { failure, type PatchError } from "../errors.ts";
import { fieldOf, isList, isObject, type Json, type JsonObject } from "../json.ts";
import { builtinDefinition } from "./builtin.ts";
import { parseNode } from "./definitions.ts";
import { openApiFlavour, schemaFrom } from "./lookup.ts";
import type { PatchSchema } from "./port.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/**
 * The schema of one version of a CustomResourceDefinition, with the built-in schema of metadata.
 *
 * @example crdSchema(widgetCrd, "v1") // ok: a PatchSchema, for applyStrategicMergePatch(…, { lists: "list-types" })
 */
export function crdSchema(crd: Json, version: string): Result<PatchSchema, PatchError> {
  const versions = at(crd, "spec", "versions");
  const found = isList(versions) ? versions.find((candidate) => at(candidate, "name") === version) : undefined;
  const schema = at(found, "schema", "openAPIV3Schema");
  if (!isObject(schema)) return failure("bad-schema", `the CustomResourceDefinition has no schema for version "${version}"`);
  const kind = at(crd, "spec", "names", "kind");
  return ok(structuralSchema(schema, typeof kind === "string" ? kind : "custom resource"));
}

/**
 * A schema from a structural schema alone: the value of `openAPIV3Schema`.
 *
 * @example structuralSchema({ type: "object", properties: { spec: { type: "object" } } }, "Widget")
 */
export function structuralSchema(schema: JsonObject, name: string): PatchSchema {
  const properties = fieldOf(schema, "properties");
  const metadata = { $ref: `#/components/schemas/${OBJECT_META}` };
  const whole = { ...schema, properties: { ...(isObject(properties) ? properties : {}), metadata } };
  return schemaFrom(parseNode(whole, name, builtinDefinition), openApiFlavour);
}

function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const name of path) current = isObject(current) ? fieldOf(current, name) : undefined;
  return current;
}
