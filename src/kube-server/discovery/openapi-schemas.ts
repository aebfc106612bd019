/** The `components.schemas` of a document: what its paths speak of, and all that these refer to. Built-in kinds come from the committed tables. */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { builtinDefinition, builtinDefinitionNameOf } from "#patch";
import type { ResourceType } from "../resource-type.ts";
import type { CustomType } from "../rest/custom-types.ts";
import type { ServedVersion } from "./groups.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** What every document with resources that can be written has. */
const WITH_WRITES = ["DeleteOptions", "Patch", "Status", "WatchEvent"].map((name) => `${META}.${name}`);

export function schemaNameOf(type: ResourceType, list: boolean): string {
  const { group, version, kind } = type.resource;
  const name = builtinDefinitionNameOf({ group, version, kind });
  if (name !== undefined) return list ? `${name}List` : name;
  const reversed = group.split(".").toReversed().join(".");
  return `${reversed}.${version}.${kind}${list ? "List" : ""}`;
}

export function schemasOf(version: ServedVersion): JsonObject {
  const found = new Map<string, JsonObject>();
  const add = (name: string) => {
    if (found.has(name)) return;
    const definition = builtinDefinition(name);
    if (definition !== undefined) keep(name, definition);
  };
  const keep = (name: string, schema: JsonObject) => {
    found.set(name, schema);
    for (const ref of refsIn(schema)) add(ref);
  };
  add(`${META}.APIResourceList`);
  for (const { type, subresources } of version.resources) {
    if (type.custom) for (const [name, schema] of customSchemas(type)) keep(name, schema);
    else {
      add(schemaNameOf(type, false));
      if (type.verbs.includes("list")) add(schemaNameOf(type, true));
    }
    if (type.verbs.includes("patch")) WITH_WRITES.forEach(add);
    for (const { kind } of subresources) {
      const name = builtinDefinitionNameOf(kind);
      if (name !== undefined) add(name);
    }
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function refsIn(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (!isJsonObject(value)) return [];
  const ref = field(value, "$ref");
  const own = typeof ref === "string" ? [ref.slice(ref.lastIndexOf("/") + 1)] : [];
  return [...own, ...Object.values(value).flatMap(refsIn)];
}

function customSchemas(type: CustomType): readonly (readonly [string, JsonObject])[] {
  const { group, version, kind } = type.resource;
  const gvk = (name: string) => ({ "x-kubernetes-group-version-kind": [{ group, version, kind: name }] });
  const meta = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${META}.${name}` }] });
  const schema = type.openApi ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const properties = field(schema, "properties");
  const own = {
    ...schema,
    ...(isJsonObject(properties)
      ? { properties: { ...properties, apiVersion: { type: "string" }, kind: { type: "string" }, metadata: meta("ObjectMeta") } }
      : {}),
    ...gvk(kind),
  };
  const list = {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: meta("ListMeta"),
      items: { type: "array", items: { $ref: `#/components/schemas/${schemaNameOf(type, false)}` } },
    },
    ...gvk(`${kind}List`),
  };
  return [
    [schemaNameOf(type, false), own],
    [schemaNameOf(type, true), list],
  ];
}
