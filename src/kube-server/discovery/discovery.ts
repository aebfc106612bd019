/** Discovery documents: groups, resources, schemas, version, health. Cached until a kind is added or removed. */
import { sha256Hex } from "#base";
import { negotiate, parseAccept, type Transform } from "../protocol/media-types.ts";
import { header, jsonResponse, textResponse, type ApiRequest, type ApiResponse } from "../protocol/request.ts";
import { valueResponse, failureResponse } from "../protocol/respond.ts";
import { methodNotAllowed, unknownResource } from "../protocol/status.ts";
import type { TypeRegistry } from "../protocol/type-registry.ts";
import { servedGroups, type ServedGroup } from "./groups.ts";
import { answerHealth, HEALTH_PATHS } from "./health.ts";
import { AGGREGATED_TYPE, apiGroup, apiResourceList, groupDiscoveryList } from "./listings.ts";
import { createOpenApi, type OpenApi } from "./openapi.ts";
import { versionInfo } from "./version.ts";
import type { Store } from "../store/index.ts";

export type DiscoveryOptions = {
  readonly types: TypeRegistry;
  readonly store: Store;
  readonly address: () => string;
  /** The Kubernetes version in /version; default: the one that is emulated. */
  readonly version?: (() => string | undefined) | undefined;
};

export interface Discovery {
  /** `undefined`: not a discovery path. */
  respond(request: ApiRequest): ApiResponse | undefined;
}

type DiscoveryCache = {
  readonly generation: number;
  readonly groups: readonly ServedGroup[];
  readonly aggregated: Map<string, Aggregated>;
  readonly openApi: OpenApi;
};
type Aggregated = { readonly value: unknown; readonly etag: string };

export function createDiscovery(options: DiscoveryOptions): Discovery {
  let made: DiscoveryCache | undefined;
  const current = (): DiscoveryCache => {
    const { generation } = options.types;
    if (made?.generation === generation) return made;
    const groups = servedGroups(options.types);
    return (made = { generation, groups, aggregated: new Map(), openApi: createOpenApi(groups) });
  };
  return { respond: (request) => respondTo(request, options, current) };
}

/** Paths of objects, of which most requests are: longer than any path here. */
const OBJECT_PATH = /^\/api(?:\/[^/]+|s\/[^/]+\/[^/]+)\/[^/]/;

function respondTo(request: ApiRequest, options: DiscoveryOptions, current: () => DiscoveryCache): ApiResponse | undefined {
  if (OBJECT_PATH.test(request.path)) return undefined;
  const path = request.path.replace(/\/+$/, "");
  const [, root = "", ...below] = path.split("/");
  const known = ROOTS.get(root);
  if (known === undefined) return answerHealth(request, options.store);
  const answered = known(request, [root, ...below], { ...options, current });
  const allowed = answered === undefined || answered.status === 404 || request.method === "GET" || ignoresMethod(path);
  return allowed ? answered : failureResponse(request, methodNotAllowed().error);
}

/** Some handlers of a real server ignore the method. */
function ignoresMethod(path: string): boolean {
  return path === "" || path === "/openapi/v2" || path === "/apis" || /^\/apis\/[^/]+$/.test(path);
}

type DiscoveryContext = DiscoveryOptions & { readonly current: () => DiscoveryCache };
type DiscoveryHandler = (request: ApiRequest, parts: readonly string[], context: DiscoveryContext) => ApiResponse | undefined;

const ROOTS: ReadonlyMap<string, DiscoveryHandler> = new Map<string, DiscoveryHandler>([
  ["", (_, parts, { current }) => (parts.length === 1 ? pretty({ paths: rootPaths(current().groups) }) : undefined)],
  ["version", (_, parts, { version }) => (parts.length === 1 ? pretty(versionInfo(version?.())) : undefined)],
  ["api", coreGroup],
  ["apis", namedGroups],
  [
    "openapi",
    (request, parts, { current }) => (request.path.endsWith("/") ? undefined : current().openApi.respond(request, parts.slice(1))),
  ],
]);

function pretty(value: unknown): ApiResponse {
  return { ...jsonResponse(200, value), body: { kind: "json", value, pretty: true } };
}

function rootPaths(groups: readonly ServedGroup[]): readonly string[] {
  const named = groups.filter(({ name }) => name !== "");
  const paths = named.flatMap(({ name, versions }) => [`/apis/${name}`, ...versions.map(({ version }) => `/apis/${name}/${version}`)]);
  const others = [...HEALTH_PATHS, "/openapi/v2", "/openapi/v3", "/version", "/.well-known/openid-configuration", "/openid/v1/jwks"];
  return ["/api", "/api/v1", "/apis", ...paths, ...others].toSorted();
}

function coreGroup(request: ApiRequest, parts: readonly string[], { address, current }: DiscoveryContext): ApiResponse | undefined {
  if (parts.length > 2) return undefined;
  const core = current().groups.filter(({ name }) => name === "");
  if (parts.length === 1) {
    const legacy = {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address() }],
    };
    return negotiated(request, { path: "/api", legacy, made: current(), groups: core });
  }
  const version = core[0]?.versions.find((one) => one.version === parts[1]);
  return version === undefined ? unknownPath(request) : plain(request, apiResourceList("", version), "routed");
}

function namedGroups(request: ApiRequest, parts: readonly string[], { current }: DiscoveryContext): ApiResponse | undefined {
  if (parts.length > 3) return undefined;
  const groups = current().groups.filter(({ name }) => name !== "");
  if (parts.length === 1) {
    const legacy = { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(apiGroup) };
    return negotiated(request, { path: "/apis", legacy, made: current(), groups });
  }
  const group = groups.find(({ name }) => name === parts[1]);
  if (group === undefined) return textResponse(404, "404 page not found\n");
  if (parts.length === 2) return plain(request, { kind: "APIGroup", apiVersion: "v1", ...apiGroup(group) }, "direct");
  const version = group.versions.find((one) => one.version === parts[2]);
  if (version !== undefined) return plain(request, apiResourceList(group.name, version), isCustom(group) ? "direct" : "routed");
  return isCustom(group) ? textResponse(404, "404 page not found\n") : unknownPath(request);
}

function isCustom(group: ServedGroup): boolean {
  return group.versions[0]?.resources[0]?.type.custom === true;
}

/** `routed`: the router of a real server checks the Accept header first, and has its own error message. */
function plain(request: ApiRequest, value: unknown, way: "routed" | "direct"): ApiResponse {
  const output = negotiate(header(request, "accept"), NO_TRANSFORMS, way === "direct", false);
  return output.ok
    ? valueResponse({ output: output.value, request, warnings: new Set<string>() }, 200, value)
    : failureResponse(request, output.error);
}

const NO_TRANSFORMS: ReadonlySet<Transform> = new Set();

function unknownPath(request: ApiRequest): ApiResponse {
  return failureResponse(request, unknownResource().error);
}

type NegotiatedForms = {
  readonly path: string;
  readonly legacy: unknown;
  readonly made: DiscoveryCache;
  readonly groups: readonly ServedGroup[];
};

/** Current clients request aggregated discovery and fall back to the legacy form. */
function negotiated(request: ApiRequest, { path, legacy, made, groups }: NegotiatedForms): ApiResponse {
  for (const { type, parameters } of parseAccept(header(request, "accept"))) {
    const json = type === "application/json" || type === "application/*" || type === "*/*";
    if (!json) continue;
    if (!["as", "g", "v"].some((name) => parameters.has(name))) break;
    const wanted =
      parameters.get("g") === "apidiscovery.k8s.io" && parameters.get("v") === "v2" && parameters.get("as") === "APIGroupDiscoveryList";
    if (wanted) return aggregated(request, path, made, groups);
  }
  return plain(request, legacy, path === "/api" ? "routed" : "direct");
}

function aggregated(request: ApiRequest, path: string, made: DiscoveryCache, groups: readonly ServedGroup[]): ApiResponse {
  let known = made.aggregated.get(path);
  if (known === undefined) {
    const value = groupDiscoveryList(groups);
    known = { value, etag: `"${sha256Hex(JSON.stringify(value)).toUpperCase()}"` };
    made.aggregated.set(path, known);
  }
  const headers = { "content-type": AGGREGATED_TYPE, etag: known.etag, vary: "Accept", "cache-control": "public" };
  if (header(request, "if-none-match") === known.etag) return { status: 304, headers, warnings: [], body: { kind: "none" } };
  return jsonResponse(200, known.value, headers);
}
