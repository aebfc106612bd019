/**
 * An OpenAPI document (v2 as `/openapi/v2` serves it, or a v3 one) as a list of kinds, each with its name in paths and its schema.
 *
 * Paths have the plural, the scope, the subresources and whether strategic merge patch is supported. For a document without paths (many
 * contain only definitions) they are guessed as Kubernetes does: lower case plural, namespaced.
 */
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, fieldAt, isJsonObject, type Json, type JsonObject, type Resource } from "#kube";
import { builtinDefinition } from "#patch";

export type DescribedKind = {
  readonly resource: Resource;
  /** Its name among the definitions. */
  readonly definition: string;
  readonly subresources: ReadonlySet<string>;
  /** Whether the PATCH of its path supports it; undefined: the document has no paths. */
  readonly takesStrategicMerge: boolean | undefined;
};

export type ApiDocument = { readonly kinds: readonly DescribedKind[]; readonly schemaOf: (definition: string) => JsonObject | undefined };

export function readApiDocument(document: Json): Result<ApiDocument, string> {
  const definitions = field(document, "definitions") ?? fieldAt(document, "components", "schemas");
  if (!isJsonObject(definitions)) {
    return err("this is not an OpenAPI document: it has neither definitions (v2) nor components.schemas (v3)");
  }
  // documents often contain only the kinds of one project, so the common definitions are added
  const schemaOf = (name: string) => {
    const own = field(definitions, name);
    return isJsonObject(own) ? own : builtinDefinition(name);
  };
  const places = placesIn(field(document, "paths"));
  const kinds = Object.keys(definitions).flatMap((name) => describe(name, schemaOf(name), places));
  return ok({ kinds, schemaOf });
}

/** "#/definitions/X" and "#/components/schemas/X" alike. */
export function definitionName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string };

/** Objects only: lists, options and Status name several kinds, or have no ObjectMeta. */
function describe(definition: string, schema: JsonObject | undefined, places: ReadonlyMap<string, PathPlace>): readonly DescribedKind[] {
  const named = field(schema, "x-kubernetes-group-version-kind");
  const gvk = Array.isArray(named) && named.length === 1 ? gvkOf(named[0]) : undefined;
  if (gvk === undefined || !hasObjectMeta(schema)) return [];
  const place = places.get(keyOfKind(gvk));
  const hasStatus = fieldAt(schema, "properties", "status") !== undefined;
  const resource = { ...gvk, plural: place?.plural ?? guessPlural(gvk.kind), namespaced: place?.namespaced ?? true };
  const subresources = place?.subresources ?? new Set(hasStatus ? ["status"] : []);
  return [{ resource, definition, subresources, takesStrategicMerge: place?.takesStrategicMerge }];
}

function gvkOf(value: Json | undefined): GroupVersionKind | undefined {
  const [group, version, kind] = [field(value, "group"), field(value, "version"), field(value, "kind")];
  if (typeof group !== "string" || typeof version !== "string" || typeof kind !== "string") return undefined;
  return { group, version, kind };
}

function keyOfKind(kind: GroupVersionKind): string {
  return `${apiVersionOf(kind)} ${kind.kind}`;
}

function hasObjectMeta(schema: JsonObject | undefined): boolean {
  const metadata = fieldAt(schema, "properties", "metadata");
  const all = field(metadata, "allOf");
  const ref = field(metadata, "$ref") ?? (Array.isArray(all) ? field(all[0], "$ref") : undefined);
  return typeof ref === "string" && definitionName(ref).endsWith(".ObjectMeta");
}

/** As apimachinery's UnsafeGuessKindToResource. */
function guessPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

type PathPlace = {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly subresources: ReadonlySet<string>;
  readonly takesStrategicMerge: boolean;
};

const OBJECT_PATH = /^\/(?:api|apis\/[^/]+)\/[^/]+(\/namespaces\/\{namespace\})?\/([a-z0-9-]+)\/\{name\}(?:\/([a-z]+))?$/;

function placesIn(paths: Json | undefined): ReadonlyMap<string, PathPlace> {
  const places = new Map<string, PathPlace>();
  const below = new Map<string, Set<string>>();
  for (const [path, operations] of Object.entries(isJsonObject(paths) ? paths : {})) {
    const [, inNamespace, plural = "", subresource] = OBJECT_PATH.exec(path) ?? [];
    if (plural === "") continue;
    const place = path.slice(0, path.indexOf("/{name}"));
    const subresources = below.get(place) ?? new Set();
    below.set(place, subresources);
    if (subresource !== undefined) subresources.add(subresource);
    const gvk = kindOfOperations(operations);
    if (gvk === undefined || subresource !== undefined) continue;
    places.set(keyOfKind(gvk), {
      plural,
      namespaced: inNamespace !== undefined,
      subresources,
      takesStrategicMerge: takesStrategic(operations),
    });
  }
  return places;
}

function kindOfOperations(operations: Json | undefined): GroupVersionKind | undefined {
  for (const operation of Object.values(isJsonObject(operations) ? operations : {})) {
    const gvk = gvkOf(field(operation, "x-kubernetes-group-version-kind"));
    if (gvk !== undefined) return gvk;
  }
  return undefined;
}

const STRATEGIC = "application/strategic-merge-patch+json";

function takesStrategic(operations: Json | undefined): boolean {
  const patch = field(operations, "patch");
  const consumes = field(patch, "consumes");
  const content = fieldAt(patch, "requestBody", "content");
  return (Array.isArray(consumes) && consumes.includes(STRATEGIC)) || (isJsonObject(content) && Object.hasOwn(content, STRATEGIC));
}
