/**
 * /openapi/v2 and /openapi/v3. A document per group and version, made when it is first asked for: most servers are never asked for most.
 *
 * The hash in an address says when a document changed; it is taken of what the document is made from, so that the list of addresses costs nothing.
 */
import { sha256Hex } from "#base";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { parseAccept } from "../rest/media-types.ts";
import { header, jsonAnswer, textAnswer, type ApiRequest, type ApiResponse } from "../rest/request.ts";
import type { CustomType } from "../rest/custom-types.ts";
import type { ServedGroup, ServedVersion } from "./groups.ts";
import { pathsOf, refOf } from "./openapi-paths.ts";
import { isSwaggerProtobuf, SWAGGER_PROTOBUF, swaggerProtobuf } from "./openapi-protobuf.ts";
import { schemaNameOf, schemasOf } from "./openapi-schemas.ts";
import { GIT_VERSION } from "./version.ts";
import { plainText } from "../rest/go-format.ts";

export interface OpenApi {
  answer(request: ApiRequest, parts: readonly string[]): ApiResponse | undefined;
}

type Document = { readonly hash: string; readonly make: () => JsonObject };

const INFO = { title: "Kubernetes", version: "1.36" };
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

export function createOpenApi(groups: readonly ServedGroup[]): OpenApi {
  const documents = documentsOf(groups);
  let v2Bytes: Uint8Array | undefined;
  let v2: { readonly value: JsonObject; readonly etag: string } | undefined;
  return {
    answer(request, [version, ...path]) {
      if (version === "v2" && path.length === 0) {
        v2 ??= { value: swaggerOf(documents), etag: `"${digest([...documents.values()].map(({ hash }) => hash).join())}"` };
        const [wanted] = parseAccept(header(request, "accept"));
        if (!isSwaggerProtobuf(wanted?.type ?? "")) return cached(request, v2.value, v2.etag);
        v2Bytes ??= swaggerProtobuf(v2.value);
        return cachedBytes(request, v2Bytes, v2.etag.replace(/"$/, 'P"'));
      }
      if (version !== "v3") return undefined;
      if (path.length === 0) return index(documents);
      return documentAnswer(request, documents.get(path.join("/")));
    },
  };
}

/** Documents without resources, and what their one path answers with. */
const ROOTS = [
  [".well-known/openid-configuration", ""],
  ["api", "APIVersions"],
  ["apis", "APIGroupList"],
  ["openid/v1/jwks", ""],
  ["version", ""],
] as const;

function documentsOf(groups: readonly ServedGroup[]): ReadonlyMap<string, Document> {
  const documents = new Map<string, Document>();
  for (const [path, schema] of ROOTS) {
    documents.set(path, { hash: digest(`${GIT_VERSION} ${path}`), make: () => rootDocument(path, schema) });
  }
  for (const { name, versions } of groups) {
    const root = name === "" ? "api" : `apis/${name}`;
    if (name !== "") documents.set(root, { hash: digest(`${GIT_VERSION} ${root}`), make: () => rootDocument(root, "APIGroup") });
    for (const version of versions) {
      const made = once(() => documentOf(name, version));
      documents.set(`${root}/${version.version}`, { hash: digest(`${GIT_VERSION} ${root} ${sourceOf(version)}`), make: made });
    }
  }
  return new Map([...documents].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function digest(text: string): string {
  return sha256Hex(text).toUpperCase();
}

/** What can change: which kinds there are, and what custom ones say of themselves. */
function sourceOf({ version, resources }: ServedVersion): string {
  const described = resources.map(({ type }) => {
    const { openApi }: CustomType = type;
    return `${type.resource.plural} ${type.resource.kind} ${type.verbs.join()} ${openApi === undefined ? "" : JSON.stringify(openApi)}`;
  });
  return `${version} ${described.join("\n")}`;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function documentOf(group: string, version: ServedVersion): JsonObject {
  const types = new Map(version.resources.map(({ type }) => [type.resource.kind, type]));
  const nameOf = (kind: string, list: boolean) => {
    const type = types.get(kind);
    return type === undefined ? kind : schemaNameOf(type, list);
  };
  return { openapi: "3.0.0", info: INFO, paths: pathsOf(group, version, nameOf), components: { schemas: schemasOf(version) } };
}

function rootDocument(path: string, schema: string): JsonObject {
  const content = schema === "" ? { type: "object" } : refOf(`${META}.${schema}`);
  const get = { responses: { "200": { description: "OK", content: { "application/json": { schema: content } } } } };
  return { openapi: "3.0.0", info: INFO, paths: { [`/${path}/`]: { get } } };
}

function index(documents: ReadonlyMap<string, Document>): ApiResponse {
  const paths = Object.fromEntries(
    [...documents].map(([path, { hash }]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
  );
  return textAnswer(200, JSON.stringify({ paths }));
}

function documentAnswer(request: ApiRequest, document: Document | undefined): ApiResponse {
  if (document === undefined) return { status: 404, headers: {}, warnings: [], body: { kind: "none" } };
  const asked = request.query.get("hash");
  if (asked !== null && asked !== "" && asked !== document.hash) {
    const query = new URLSearchParams(request.query);
    query.set("hash", document.hash);
    return { status: 301, headers: { location: `${request.path}?${query.toString()}` }, warnings: [], body: { kind: "none" } };
  }
  return cached(request, document.make(), `"${document.hash}"`);
}

function cached(request: ApiRequest, value: JsonObject, etag: string): ApiResponse {
  const headers = { etag, vary: "Accept" };
  if (header(request, "if-none-match") === etag) return { status: 304, headers, warnings: [], body: { kind: "none" } };
  return jsonAnswer(200, value, headers);
}

/** Another language, so another tag: clients keep what they got by it. */
function cachedBytes(request: ApiRequest, bytes: Uint8Array, etag: string): ApiResponse {
  const headers = { "content-type": SWAGGER_PROTOBUF, etag, vary: "Accept" };
  const known = header(request, "if-none-match") === etag;
  return { status: known ? 304 : 200, headers, warnings: [], body: known ? { kind: "none" } : { kind: "bytes", bytes } };
}

/** Swagger is the older form of the same: definitions instead of components, and no defaults. */
function swaggerOf(documents: ReadonlyMap<string, Document>): JsonObject {
  const definitions: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const { make } of documents.values()) {
    const document = make();
    const schemas = field(document["components"], "schemas");
    if (isJsonObject(schemas)) for (const [name, schema] of Object.entries(schemas)) definitions[name] ??= downgraded(schema ?? {});
    for (const [path, item] of Object.entries(document["paths"] ?? {})) paths[path] = swaggerPath(item as Json);
  }
  return { swagger: "2.0", info: INFO, paths, definitions };
}

function downgraded(value: Json): Json {
  if (Array.isArray(value)) return value.map(downgraded);
  if (!isJsonObject(value)) return value;
  const all = field(value, "allOf");
  const [only] = Array.isArray(all) ? all : [];
  const inlined = isJsonObject(only) && Array.isArray(all) && all.length === 1 ? { ...value, ...only, allOf: undefined } : value;
  const kept = Object.entries(inlined).filter(
    ([name, inner]) => inner !== undefined && name !== "default" && name !== "oneOf" && name !== "nullable",
  );
  return Object.fromEntries(
    kept.map(([name, inner]) => [
      name,
      name === "$ref" ? plainText(inner).replace("#/components/schemas/", "#/definitions/") : downgraded(inner ?? null),
    ]),
  );
}

/** Operations keep what clients look for: the kind, the action, and the names of the parameters. */
function swaggerPath(item: Json): Json {
  if (!isJsonObject(item)) return item;
  const operations = Object.entries(item).map(([method, operation]) => {
    if (method === "parameters" || !isJsonObject(operation)) return [method, flatParameters(operation)];
    const { requestBody: _, responses, ...rest } = operation;
    return [
      method,
      {
        ...rest,
        parameters: flatParameters(rest["parameters"]),
        responses: Object.fromEntries(Object.keys(responses ?? {}).map((code) => [code, { description: "" }])),
      },
    ];
  });
  return Object.fromEntries(operations) as Json;
}

function flatParameters(parameters: Json | undefined): Json {
  if (!Array.isArray(parameters)) return [];
  return parameters.map((parameter) => {
    if (!isJsonObject(parameter)) return parameter;
    const { schema: _, ...rest } = parameter;
    return { ...rest, type: "string", uniqueItems: true };
  });
}
