/**
 * A definition of an OpenAPI document as one structural schema without references, for the validation of objects.
 *
 * A recursive type (JSONSchemaProps) is expanded once; below that every value is allowed. Types that Go decodes more leniently than their
 * schema (quantities, int-or-string) are lenient here too.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { definitionName } from "./open-api-document.ts";

type Definitions = (name: string) => JsonObject | undefined;
type Walk = { readonly schemaOf: Definitions; readonly within: readonly string[] };

const ANYTHING: JsonObject = { "x-kubernetes-preserve-unknown-fields": true };
const INT_OR_STRING: JsonObject = { "x-kubernetes-int-or-string": true };
const SPECIAL: ReadonlyMap<string, JsonObject> = new Map([
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", INT_OR_STRING],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", INT_OR_STRING],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", { type: "object", ...ANYTHING }],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.Time", { type: "string", format: "date-time", nullable: true }],
]);

export function inlineSchema(definition: string, schemaOf: Definitions): JsonObject {
  const whole = inline(schemaOf(definition) ?? {}, { schemaOf, within: [definition] });
  // metadata is validated by the server itself
  const { metadata: _, ...properties } = asObject(field(whole, "properties"));
  return { ...whole, properties };
}

function inline(node: JsonObject, walk: Walk): JsonObject {
  const ref = refOf(node);
  if (ref !== undefined) return inlineRef(definitionName(ref), node, walk);
  if (field(node, "format") === "int-or-string") return INT_OR_STRING;
  const { description: _description, "x-kubernetes-group-version-kind": _gvk, ...kept } = node;
  const properties = field(node, "properties");
  const items = field(node, "items");
  const rest = field(node, "additionalProperties");
  const isUntyped = field(node, "type") === undefined && properties === undefined && items === undefined;
  return {
    ...kept,
    ...(isUntyped ? ANYTHING : {}),
    ...(isJsonObject(properties) ? { properties: inlineAll(properties, node, walk) } : {}),
    ...(isJsonObject(items) ? { items: inline(items, walk) } : {}),
    ...(isJsonObject(rest) ? { additionalProperties: inline(rest, walk) } : {}),
  };
}

/** v3 documents wrap a reference that has siblings into `allOf`. */
function refOf(node: JsonObject): string | undefined {
  const all = field(node, "allOf");
  const ref = field(node, "$ref") ?? (Array.isArray(all) && all.length === 1 ? field(all[0], "$ref") : undefined);
  return typeof ref === "string" ? ref : undefined;
}

function inlineRef(name: string, node: JsonObject, { schemaOf, within }: Walk): JsonObject {
  const special = SPECIAL.get(name);
  if (special !== undefined) return special;
  const target = schemaOf(name);
  if (target === undefined || within.includes(name)) return ANYTHING;
  return { ...inline(target, { schemaOf, within: [...within, name] }), ...siblingsOf(node) };
}

/** Fields beside a reference apply to this use of it: how the list is merged, whether it is atomic. */
function siblingsOf(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([name]) => name.startsWith("x-kubernetes-")));
}

function inlineAll(properties: JsonObject, node: JsonObject, walk: Walk): JsonObject {
  const required = field(node, "required");
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const entries = Object.entries(properties).map(([name, property]): [string, Json] => {
    const inlined = inline(asObject(property), walk);
    return [name, isGoZero(inlined, isRequired(name)) ? withoutDefault(inlined) : inlined];
  });
  return Object.fromEntries(entries);
}

/** Generated documents give every required field its Go zero value as a default. A server does not apply those. */
function isGoZero(property: JsonObject, required: boolean): boolean {
  const value = field(property, "default");
  return required && (value === "" || value === 0 || value === false || (isJsonObject(value) && Object.keys(value).length === 0));
}

function withoutDefault(property: JsonObject): JsonObject {
  const { default: _, ...rest } = property;
  return rest;
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
