/**
 * /openapi/v2 and /openapi/v3. A document per group and version, created at its first request, because most documents are never requested.
 *
 * The hash in an address changes with the document; it is computed from the document's sources, so that the index needs no documents.
 */
import { once, sha256Hex } from "#base";
import type { JsonObject } from "#kube";
import { parseAccept } from "../protocol/media-types.ts";
import { header, jsonResponse, textResponse, type ApiRequest, type ApiResponse } from "../protocol/request.ts";
import type { CustomType } from "../definitions/custom-types.ts";
import type { ServedGroup, ServedVersion } from "./groups.ts";
import { pathsOf, refOf } from "./openapi-paths.ts";
import { isSwaggerProtobuf, SWAGGER_PROTOBUF, swaggerProtobuf } from "./openapi-protobuf.ts";
import { META, schemaNameOf, SchemaCollection } from "./openapi-schemas.ts";
import { swaggerOf } from "./swagger.ts";
import { GIT_VERSION } from "./version.ts";

export interface OpenApi {
  respond(request: ApiRequest, parts: readonly string[]): ApiResponse | undefined;
}

type Document = { readonly hash: string; readonly make: () => JsonObject };

const INFO = { title: "Kubernetes", version: "1.36" };
const CUSTOM_INFO = { title: "Kubernetes CRD Swagger", version: "v0.1.0" };

export function createOpenApi(groups: readonly ServedGroup[]): OpenApi {
  const documents = documentsOf(groups);
  let v2Bytes: Uint8Array | undefined;
  let v2: { readonly value: JsonObject; readonly etag: string } | undefined;
  return {
    respond(request, [version, ...path]) {
      if (version === "v2" && path.length === 0) {
        v2 ??= { value: swagger(groups, documents), etag: `"${digest([...documents.values()].map(({ hash }) => hash).join())}"` };
        const [wanted] = parseAccept(header(request, "accept"));
        if (!isSwaggerProtobuf(wanted?.type ?? "")) return cached(request, v2.value, v2.etag);
        v2Bytes ??= swaggerProtobuf(v2.value);
        return cachedBytes(request, v2Bytes, v2.etag.replace(/"$/, 'P"'));
      }
      if (version !== "v3") return undefined;
      if (path.length === 0) return index(documents);
      return documentResponse(request, documents.get(path.join("/")));
    },
  };
}

/** Documents without resources, and the schema of their only response. */
const ROOTS = [
  [".well-known/openid-configuration", undefined],
  ["api", `${META}.APIVersions`],
  ["apis", `${META}.APIGroupList`],
  ["openid/v1/jwks", undefined],
  ["version", "io.k8s.apimachinery.pkg.version.Info"],
] as const;
const GROUP_SCHEMA = `${META}.APIGroup`;

function swagger(groups: readonly ServedGroup[], documents: ReadonlyMap<string, Document>): JsonObject {
  const roots = [GROUP_SCHEMA, `${META}.APIResourceList`, ...ROOTS.flatMap(([, schema]) => schema ?? [])];
  return swaggerOf({ info: INFO, groups, roots, documents: [...documents.values()].map(({ make }) => make()) });
}

function documentsOf(groups: readonly ServedGroup[]): ReadonlyMap<string, Document> {
  const documents = new Map<string, Document>();
  for (const [path, schema] of ROOTS) {
    documents.set(path, { hash: digest(`${GIT_VERSION} ${path}`), make: () => rootDocument(path, schema) });
  }
  for (const { name, versions } of groups) {
    const root = name === "" ? "api" : `apis/${name}`;
    if (name !== "") documents.set(root, { hash: digest(`${GIT_VERSION} ${root}`), make: () => rootDocument(root, GROUP_SCHEMA) });
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

/** Everything that can change in a document: the served kinds, and the schemas of custom ones. */
function sourceOf({ version, resources }: ServedVersion): string {
  const described = resources.map(({ type }) => {
    const { published }: CustomType = type;
    return `${type.resource.plural} ${type.resource.kind} ${type.verbs.join()} ${published === undefined ? "" : JSON.stringify(published)}`;
  });
  return `${version} ${described.join("\n")}`;
}

function documentOf(group: string, version: ServedVersion): JsonObject {
  const types = new Map(version.resources.map(({ type }) => [type.resource.kind, type]));
  const nameOf = (kind: string, list: boolean) => {
    const type = types.get(kind);
    return type === undefined ? kind : schemaNameOf(type, list);
  };
  const schemas = new SchemaCollection("v3");
  schemas.addBuiltin(`${META}.APIResourceList`);
  for (const served of version.resources) schemas.addResource(served);
  const info = version.resources.every(({ type }) => type.custom) ? CUSTOM_INFO : INFO;
  return { openapi: "3.0.0", info, paths: pathsOf(group, version, nameOf), components: { schemas: schemas.sorted() } };
}

function rootDocument(path: string, schema: string | undefined): JsonObject {
  const content = schema === undefined ? { type: "string" } : refOf(schema);
  const get = { responses: { "200": { description: "OK", content: { "application/json": { schema: content } } } } };
  const document = { openapi: "3.0.0", info: INFO, paths: { [`/${path}/`]: { get } } };
  if (schema === undefined) return document;
  const schemas = new SchemaCollection("v3");
  schemas.addBuiltin(schema);
  return { ...document, components: { schemas: schemas.sorted() } };
}

function index(documents: ReadonlyMap<string, Document>): ApiResponse {
  const paths = Object.fromEntries(
    [...documents].map(([path, { hash }]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]),
  );
  return textResponse(200, JSON.stringify({ paths }));
}

function documentResponse(request: ApiRequest, document: Document | undefined): ApiResponse {
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
  return jsonResponse(200, value, headers);
}

/** Another encoding needs another etag: clients cache by it. */
function cachedBytes(request: ApiRequest, bytes: Uint8Array, etag: string): ApiResponse {
  const headers = { "content-type": SWAGGER_PROTOBUF, etag, vary: "Accept" };
  const known = header(request, "if-none-match") === etag;
  return { status: known ? 304 : 200, headers, warnings: [], body: known ? { kind: "none" } : { kind: "bytes", bytes } };
}
