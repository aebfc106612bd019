/**
 * Kinds that no CustomResourceDefinition defines, served from an OpenAPI document: objects are validated by the schema, and patched and
 * applied by its list metadata.
 *
 * Each is built as a custom kind of one version. Built-in kinds are not changed: they have more rules than a document contains.
 */
import { collect, err, map, ok, type Result } from "#base";
import type { Json, JsonObject, KubeObject } from "#kube";
import { openApiSchemas, customResourceTypes, type ResourceType } from "#kube-server";
import { openApiSchema } from "#patch";
import { inlineSchema } from "./inline-schema.ts";
import { definitionName, readApiDocument, type ApiDocument, type DescribedKind } from "./open-api-document.ts";

export function describedTypes(document: Json, builtin: readonly ResourceType[]): Result<readonly ResourceType[], string> {
  const read = readApiDocument(document);
  if (!read.ok) return read;
  const known = new Set(builtin.map(({ resource }) => nameOf(resource)));
  const missing = read.value.kinds.filter(({ resource }) => !known.has(nameOf(resource)));
  const types = collect(missing.map((kind) => typeOf(kind, read.value)));
  return types.ok ? types : err(types.error.join("; "));
}

function nameOf({ group, version, kind }: DescribedKind["resource"]): string {
  return `${group}/${version}/${kind}`;
}

function typeOf(kind: DescribedKind, document: ApiDocument): Result<ResourceType, string> {
  const schema = inlineSchema(kind.definition, document.schemaOf);
  const [type] = customResourceTypes(definitionOf(kind, schema));
  if (type === undefined) return err(`${kind.resource.kind} cannot be served from its schema`);
  const node = document.schemaOf(kind.definition) ?? {};
  const lists = openApiSchemas((ref) => document.schemaOf(definitionName(ref)));
  const typeSchema = lists(node);
  return map(strategicSchemaOf(kind, schema, document), (strategicSchema) => ({ ...type, typeSchema, strategicSchema }));
}

/** Supported when the document lists it; without paths, when the schema has patch strategies. */
function strategicSchemaOf(
  kind: DescribedKind,
  schema: JsonObject,
  document: ApiDocument,
): Result<ResourceType["strategicSchema"], string> {
  const taken = kind.takesStrategicMerge ?? JSON.stringify(schema).includes('"x-kubernetes-patch-strategy"');
  if (!taken) return ok(undefined);
  const found = openApiSchema({ definitions: definitionsOf(document, kind.definition) }, kind.definition);
  return found.ok ? ok({ schema: found.value, lists: "patch-metadata" }) : err(`${kind.resource.kind}: ${found.error.message}`);
}

/** The definition and all definitions that it refers to. */
function definitionsOf({ schemaOf }: ApiDocument, root: string): JsonObject {
  const found = new Map<string, JsonObject>();
  const waiting = [root];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const schema = found.has(name) ? undefined : schemaOf(name);
    if (schema === undefined) continue;
    found.set(name, schema);
    for (const match of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)) waiting.push(definitionName(match[1] ?? ""));
  }
  return Object.fromEntries(found);
}

function definitionOf({ resource, subresources }: DescribedKind, schema: JsonObject): KubeObject {
  const { group, version, kind, plural, namespaced } = resource;
  const names = { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const status = subresources.has("status") ? { status: {} } : {};
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names,
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: status }],
    },
    status: { acceptedNames: names },
  };
  return definition;
}
