/**
 * One request as a verb on a resource instead of a method on a path. The log records it, interceptors are selected by it.
 *
 * `apply` is a separate verb here, though it is sent as a PATCH, so that tests can count applies without other patches. The body is decoded
 * on first access.
 */
import { Buffer } from "node:buffer";
import { once } from "#base";
import { apiVersionOf, field, fieldAt, parseJson, parseYaml, type Json, type Resource } from "#kube";
import {
  decodeProtobuf,
  isProtobuf,
  requestInfoOf,
  routeOf,
  type ApiRequest,
  type ApiServer,
  type RequestTarget,
  type User,
} from "#kube-server";

/**
 * What a request does. `request` is every path that is not a resource: discovery, health checks, /version.
 *
 * @example cluster.actions.filter({ verb: ["create", "apply"] })
 */
export type ActionVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete" | "deletecollection" | "request";

/**
 * A request to the cluster, parsed.
 *
 * @example const [first] = cluster.actions; // first.verb === "create", first.resource?.plural === "configmaps", first.name === "a"
 */
export type Action = {
  readonly verb: ActionVerb;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Absent for paths that are not a resource. */
  readonly resource: Resource | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** For a create: the name in its body, if any. */
  readonly name: string | undefined;
  readonly user: User;
  /** The body of the request; absent without one, or when it cannot be decoded. */
  readonly body: Json | undefined;
  readonly patchType: "json" | "merge" | "strategic" | "apply" | undefined;
  readonly dryRun: boolean;
  readonly fieldManager: string | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
};

const PATCH_TYPES: ReadonlyMap<string, NonNullable<Action["patchType"]>> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
  ["application/apply-patch+cbor", "apply"],
]);

export function actionOf(request: ApiRequest, types: ApiServer["types"]): Action {
  const info = requestInfoOf(request);
  const routed = info.ok && info.value.kind === "resource" ? routeOf(info.value, request.method, types) : undefined;
  const target = routed?.ok === true ? routed.value : undefined;
  const { method, path, query, user } = request;
  const patchType = method === "PATCH" ? PATCH_TYPES.get(contentType(request)) : undefined;
  const bodyOnce = once(() => bodyOf(request, target));
  return {
    verb: patchType === "apply" ? "apply" : (target?.verb ?? "request"),
    method,
    path,
    // a copy: requests with equal queries share one, and a test may change what it gets
    query: new URLSearchParams(query),
    resource: target?.type.resource,
    subresource: target?.subresource,
    namespace: target?.namespace,
    get name() {
      return target?.name ?? (target?.verb === "create" ? nameIn(bodyOnce()) : undefined);
    },
    user,
    get body() {
      return bodyOnce();
    },
    patchType,
    get dryRun() {
      return isDryRun(request, bodyOnce);
    },
    fieldManager: query.get("fieldManager") ?? undefined,
    labelSelector: query.get("labelSelector") ?? undefined,
    fieldSelector: query.get("fieldSelector") ?? undefined,
  };
}

function contentType({ headers }: ApiRequest): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
}

function bodyOf(request: ApiRequest, target: RequestTarget | undefined): Json | undefined {
  const { body } = request;
  if (body === undefined) return undefined;
  if (typeof body === "object" && "value" in body) return body.value;
  if (body instanceof Uint8Array && isProtobuf(contentType(request))) return protobufBody(body, target);
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
  if (!/yaml/.test(contentType(request))) {
    const json = parseJson(text);
    return json.ok ? json.value : undefined;
  }
  const yaml = parseYaml(text, { duplicates: "last" });
  return yaml.ok ? yaml.value[0] : undefined;
}

function protobufBody(bytes: Uint8Array, target: RequestTarget | undefined): Json | undefined {
  const resource = target?.type.resource;
  const fallback = resource === undefined ? { apiVersion: "", kind: "" } : { apiVersion: apiVersionOf(resource), kind: resource.kind };
  const decoded = decodeProtobuf(bytes, fallback);
  return decoded.ok ? decoded.value : undefined;
}

function nameIn(body: Json | undefined): string | undefined {
  const name = fieldAt(body, "metadata", "name");
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** A DELETE may have dryRun in its body. */
function isDryRun({ method, query }: ApiRequest, body: () => Json | undefined): boolean {
  if (query.getAll("dryRun").length > 0) return true;
  const given = method === "DELETE" ? field(body(), "dryRun") : undefined;
  return Array.isArray(given) && given.length > 0;
}
