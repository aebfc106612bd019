/** Everything a server says about itself: groups, resources, schemas, version, health. Made anew whenever a kind comes or goes, else kept. */
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

export type DiscoveryOptions = { readonly types: TypeRegistry; readonly store: Store; readonly address: () => string };

export interface Discovery {
  /** `undefined`: the path is not about the server itself. */
  answer(request: ApiRequest): ApiResponse | undefined;
}

type Made = {
  readonly generation: number;
  readonly groups: readonly ServedGroup[];
  readonly aggregated: Map<string, Aggregated>;
  readonly openApi: OpenApi;
};
type Aggregated = { readonly value: unknown; readonly etag: string };

export function createDiscovery(options: DiscoveryOptions): Discovery {
  let made: Made | undefined;
  const current = (): Made => {
    const { generation } = options.types;
    if (made?.generation === generation) return made;
    const groups = servedGroups(options.types);
    return (made = { generation, groups, aggregated: new Map(), openApi: createOpenApi(groups) });
  };
  return { answer: (request) => answerAbout(request, options, current) };
}

/** Most requests are about objects: their paths go deeper than anything here. */
const DEEPER = /^\/api(?:\/[^/]+|s\/[^/]+\/[^/]+)\/[^/]/;

function answerAbout(request: ApiRequest, options: DiscoveryOptions, current: () => Made): ApiResponse | undefined {
  if (DEEPER.test(request.path)) return undefined;
  const path = request.path.replace(/\/+$/, "");
  const [, root = "", ...below] = path.split("/");
  const known = ROOTS.get(root);
  if (known === undefined) return answerHealth(request, options.store);
  const answered = known(request, [root, ...below], { ...options, current });
  const allowed = answered === undefined || answered.status === 404 || request.method === "GET" || isWholesale(path);
  return allowed ? answered : failureResponse(request, methodNotAllowed().error);
}

/** Some of these documents come from handlers that never look at the method. */
function isWholesale(path: string): boolean {
  return path === "" || path === "/openapi/v2" || path === "/apis" || /^\/apis\/[^/]+$/.test(path);
}

type About = DiscoveryOptions & { readonly current: () => Made };
type Answer = (request: ApiRequest, parts: readonly string[], about: About) => ApiResponse | undefined;

const ROOTS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ["", (_, parts, { current }) => (parts.length === 1 ? pretty({ paths: rootPaths(current().groups) }) : undefined)],
  ["version", (_, parts) => (parts.length === 1 ? pretty(versionInfo) : undefined)],
  ["api", coreGroup],
  ["apis", namedGroups],
  [
    "openapi",
    (request, parts, { current }) => (request.path.endsWith("/") ? undefined : current().openApi.answer(request, parts.slice(1))),
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

function coreGroup(request: ApiRequest, parts: readonly string[], { address, current }: About): ApiResponse | undefined {
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
  return version === undefined ? notThere(request) : plain(request, apiResourceList("", version), "routed");
}

function namedGroups(request: ApiRequest, parts: readonly string[], { current }: About): ApiResponse | undefined {
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
  return isCustom(group) ? textResponse(404, "404 page not found\n") : notThere(request);
}

function isCustom(group: ServedGroup): boolean {
  return group.versions[0]?.resources[0]?.type.custom === true;
}

/** `routed`: a router looked at the Accept header first, and says no in words of its own. */
function plain(request: ApiRequest, value: unknown, way: "routed" | "direct"): ApiResponse {
  const output = negotiate(header(request, "accept"), NO_TRANSFORMS, way === "direct", false);
  return output.ok
    ? valueResponse({ output: output.value, request, warnings: new Set<string>() }, 200, value)
    : failureResponse(request, output.error);
}

const NO_TRANSFORMS: ReadonlySet<Transform> = new Set();

function notThere(request: ApiRequest): ApiResponse {
  return failureResponse(request, unknownResource().error);
}

type Both = { readonly path: string; readonly legacy: unknown; readonly made: Made; readonly groups: readonly ServedGroup[] };

/** Clients of today ask for everything at once and fall back to the old form. */
function negotiated(request: ApiRequest, { path, legacy, made, groups }: Both): ApiResponse {
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

function aggregated(request: ApiRequest, path: string, made: Made, groups: readonly ServedGroup[]): ApiResponse {
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
