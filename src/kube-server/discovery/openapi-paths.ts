/**
 * The `paths` of an OpenAPI document: the kind of each resource and the parameters of each write, which `kubectl explain` and `kubectl apply`
 * read. Descriptions and redundant media types are omitted.
 */
import type { JsonObject } from "#kube";
import type { ServedResourceType, ServedVersion } from "./groups.ts";

type Operation = { readonly action: string; readonly verb: string; readonly method: string };

const COLLECTION: readonly Operation[] = [
  { method: "get", verb: "list", action: "list" },
  { method: "post", verb: "create", action: "post" },
  { method: "delete", verb: "deletecollection", action: "deletecollection" },
];
const ITEM: readonly Operation[] = [
  { method: "get", verb: "get", action: "get" },
  { method: "put", verb: "update", action: "put" },
  { method: "patch", verb: "patch", action: "patch" },
  { method: "delete", verb: "delete", action: "delete" },
];
const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"];
const LIST_PARAMETERS = [
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "timeoutSeconds",
  "watch",
];
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  list: LIST_PARAMETERS,
  post: WRITE_PARAMETERS,
  put: WRITE_PARAMETERS,
  patch: [...WRITE_PARAMETERS, "force"],
  delete: ["dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"],
  deletecollection: ["dryRun", ...LIST_PARAMETERS],
};
const PATCH_TYPES = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
const STRATEGIC = "application/strategic-merge-patch+json";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

export const refOf = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** `nameOf`: the schema name of a kind or of its list. */
export function pathsOf(group: string, { version, resources }: ServedVersion, nameOf: (kind: string, list: boolean) => string): JsonObject {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const paths: Record<string, JsonObject> = {
    [`${root}/`]: { get: { responses: responsesWith(`${META}.APIResourceList`) } },
  };
  for (const served of resources) Object.assign(paths, resourcePaths(root, served, nameOf));
  return paths;
}

function resourcePaths(
  root: string,
  { type, subresources }: ServedResourceType,
  nameOf: (kind: string, list: boolean) => string,
): Record<string, JsonObject> {
  const { resource } = type;
  const inside = resource.namespaced ? `${root}/namespaces/{namespace}/${resource.plural}` : `${root}/${resource.plural}`;
  const paths: Record<string, JsonObject> = {};
  const add = (path: string, operations: readonly Operation[], verbs: readonly string[], kind: Kind) => {
    const served = operations
      .filter(({ verb }) => verbs.includes(verb))
      .map((operation) => [operation.method, operationOf(operation, kind)] as const);
    if (served.length > 0) paths[path] = { ...Object.fromEntries(served), parameters: pathParameters(path) };
  };
  const own: Kind = {
    group: resource.group,
    version: resource.version,
    kind: resource.kind,
    schema: nameOf(resource.kind, false),
    list: nameOf(resource.kind, true),
    strategic: !type.custom,
  };
  add(inside, COLLECTION, type.verbs, own);
  if (resource.namespaced) add(`${root}/${resource.plural}`, COLLECTION.slice(0, 1), type.verbs, own);
  add(`${inside}/{name}`, ITEM, type.verbs, own);
  for (const { name, kind, verbs } of subresources) {
    const bodyKind =
      kind.group === "" && kind.version === ""
        ? own
        : { ...own, ...kind, schema: kind.kind === resource.kind ? own.schema : schemaName(kind) };
    add(
      `${inside}/{name}/${name}`,
      [...ITEM, COLLECTION[1] ?? ITEM[0]].filter((one) => one !== undefined),
      verbs,
      bodyKind,
    );
  }
  return paths;
}

function schemaName({ group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string }): string {
  return `io.k8s.api.${group === "" ? "core" : (group.split(".")[0] ?? "")}.${version}.${kind}`;
}

type Kind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: string;
  readonly list: string;
  readonly strategic: boolean;
};

function operationOf({ action, verb }: Operation, kind: Kind): JsonObject {
  const names = PARAMETERS[action] ?? [];
  const schema = verb === "list" ? kind.list : verb === "delete" || verb === "deletecollection" ? `${META}.Status` : kind.schema;
  return {
    ...(names.length === 0
      ? {}
      : { parameters: names.map((name) => ({ name, in: "query", schema: { type: "string", uniqueItems: true } })) }),
    ...bodyOf(verb, kind),
    responses: responsesWith(schema),
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group: kind.group, version: kind.version, kind: kind.kind },
  };
}

function bodyOf(verb: string, kind: Kind): JsonObject {
  if (verb === "create" || verb === "update")
    return { requestBody: { content: { "*/*": { schema: refOf(kind.schema) } }, required: true } };
  if (verb === "delete" || verb === "deletecollection")
    return { requestBody: { content: { "*/*": { schema: refOf(`${META}.DeleteOptions`) } } } };
  if (verb !== "patch") return {};
  const types = kind.strategic ? [...PATCH_TYPES, STRATEGIC] : PATCH_TYPES;
  const content = Object.fromEntries(types.map((type) => [type, { schema: refOf(`${META}.Patch`) }]));
  return { requestBody: { content, required: true } };
}

function responsesWith(schema: string): JsonObject {
  return {
    "200": { description: "OK", content: { "application/json": { schema: refOf(schema) } } },
    "401": { description: "Unauthorized" },
  };
}

function pathParameters(path: string): readonly JsonObject[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return [...names, "pretty"].map((name) => ({
    name,
    in: name === "pretty" ? "query" : "path",
    ...(name === "pretty" ? {} : { required: true }),
    schema: { type: "string", uniqueItems: true },
  }));
}
