/**
 * The schemas of a document (`components.schemas` of v3, `definitions` of v2): all that its paths refer to, directly and indirectly. Schemas
 * of built-in kinds are in generated tables, those of custom kinds in their definitions.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { builtinDefinition, builtinDefinitionNameOf } from "#patch";
import { modelName, publishedSchemas, type OpenApiVersion, type PublishedKind } from "../custom-resources/index.ts";
import type { ResourceType } from "../resource-type.ts";
import type { CustomType } from "../definitions/custom-types.ts";
import { META_DESCRIPTIONS } from "./generated/meta-descriptions.ts";
import type { ServedResourceType } from "./groups.ts";
import { swaggerSchema } from "./swagger-schemas.ts";

export const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** Part of every document with writable resources. */
const WITH_WRITES = ["DeleteOptions", "Patch", "Status", "WatchEvent"].map((name) => `${META}.${name}`);
const IN_CUSTOM_KINDS = ["ObjectMeta", "ListMeta"].map((name) => `${META}.${name}`);

export function schemaNameOf(type: ResourceType, list: boolean): string {
  if (type.custom) {
    const kind = publishedKind(type);
    return modelName(kind, list ? kind.listKind : kind.kind);
  }
  const { group, version, kind } = type.resource;
  const name = builtinDefinitionNameOf({ group, version, kind }) ?? `${group.split(".").toReversed().join(".")}.${version}.${kind}`;
  return list ? `${name}List` : name;
}

/** Collects schemas and all schemas that they refer to. */
export class SchemaCollection {
  readonly #form: OpenApiVersion;
  readonly #found = new Map<string, JsonObject>();

  constructor(form: OpenApiVersion) {
    this.#form = form;
  }

  addBuiltin(name: string): void {
    if (this.#found.has(name)) return;
    const definition = describedDefinition(name);
    if (definition === undefined) return;
    this.#found.set(name, this.#form === "v2" ? swaggerSchema(definition) : definition);
    for (const ref of refsIn(definition)) this.addBuiltin(ref);
  }

  addResource({ type, subresources }: ServedResourceType): void {
    if (type.custom) this.#addCustom(publishedKind(type));
    else {
      this.addBuiltin(schemaNameOf(type, false));
      if (type.verbs.includes("list")) this.addBuiltin(schemaNameOf(type, true));
    }
    if (type.verbs.includes("patch")) for (const name of WITH_WRITES) this.addBuiltin(name);
    for (const { kind } of subresources) {
      const name = builtinDefinitionNameOf(kind);
      if (name !== undefined) this.addBuiltin(name);
    }
  }

  /** Sorted by name. */
  sorted(): JsonObject {
    return Object.fromEntries([...this.#found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #addCustom(kind: PublishedKind): void {
    for (const [name, schema] of publishedSchemas(kind, this.#form)) this.#found.set(name, schema);
    for (const name of IN_CUSTOM_KINDS) this.addBuiltin(name);
  }
}

/** The tables have no descriptions, except for the metadata that custom resources share. */
function describedDefinition(name: string): JsonObject | undefined {
  const definition = builtinDefinition(name);
  const described = Object.hasOwn(META_DESCRIPTIONS, name) ? META_DESCRIPTIONS[name] : undefined;
  if (definition === undefined || described === undefined) return definition;
  const properties = field(definition, "properties");
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).map(([key, schema]) => {
    const description = described.fields[key];
    return [key, description === undefined || !isJsonObject(schema) ? schema : { description, ...schema }] as const;
  });
  return { description: described.description, ...definition, ...(fields.length === 0 ? {} : { properties: Object.fromEntries(fields) }) };
}

function publishedKind(type: CustomType): PublishedKind {
  const { group, version, kind, plural } = type.resource;
  return type.published ?? { group, version, kind, listKind: `${kind}List`, plural, schema: undefined, selectableFields: [] };
}

/** For built-in definitions only: in the schema of a CRD, a default or a property may have the name `$ref` without being a reference. */
function refsIn(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (!isJsonObject(value)) return [];
  const ref = field(value, "$ref");
  const own = typeof ref === "string" ? [ref.slice(ref.lastIndexOf("/") + 1)] : [];
  return [...own, ...Object.values(value).flatMap(refsIn)];
}
