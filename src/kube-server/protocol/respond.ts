/** Turns the result of a handler into a response, in the form that the client accepts. */
import { ok, type Later, type Result } from "#base";
import type { KubeObject, Status } from "#kube";
import type { RequestContext } from "./core.ts";
import { formatGoYaml } from "./go-yaml.ts";
import { negotiate, type Transform } from "./media-types.ts";
import { header, jsonResponse, parameter, type ApiRequest, type ApiResponse } from "./request.ts";
import { RecentTexts } from "./recent-texts.ts";
import { refuse, errorWithoutReason, type Failure } from "./status.ts";
import { jsonBody, yamlBody, type ListParts } from "./list-body.ts";
import { includeObject, partialListHead, partialOf, rowOf, tableHead, tableOf, type ListMeta } from "./table.ts";
import { warningTexts } from "./warnings.ts";

export type ResponseResult = Result<ApiResponse, Failure>;
/** Mostly synchronous: only webhooks make a request wait. */
export type PendingResponse = Later<ResponseResult>;

export const TRANSFORMS: Readonly<Record<"object" | "list" | "plain", ReadonlySet<Transform>>> = {
  object: new Set<Transform>(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]),
  list: new Set<Transform>(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]),
  plain: new Set<Transform>(),
};

const objectTexts = new RecentTexts();

export function objectResponse(call: RequestContext, status: number, object: KubeObject): ResponseResult {
  const { output, target } = call;
  // Writes are not cached: the writer already has the object.
  if (output.transform === undefined && target.verb !== "get") return ok(valueResponse(call, status, object));
  if (output.transform === undefined)
    return ok(valueResponse(call, status, object, () => [objectTexts.of(object, () => JSON.stringify(object)), "\n"]));
  if (output.transform === "PartialObjectMetadataList") return wrongShape(call, "not a list", object.kind);
  if (output.transform !== "Table") return ok(valueResponse(call, status, partialOf(object, call.target.type, output.version)));
  const include = includeObject(call.request.query);
  if (!include.ok) return include;
  const request = { type: target.type, output, include: include.value, now: call.core.clock.now(), withColumns: true };
  return ok(valueResponse(call, status, tableOf([object], { resourceVersion: object.metadata.resourceVersion ?? "" }, request)));
}

export function listResponse(call: RequestContext, objects: readonly KubeObject[], metadata: ListMeta): ResponseResult {
  const { output, target } = call;
  const { type } = target;
  if (output.transform === "Table") {
    const include = includeObject(call.request.query);
    if (!include.ok) return include;
    const request = { type, output, include: include.value, now: call.core.clock.now(), withColumns: true };
    if (objects.length === 0) return ok(valueResponse(call, 200, tableOf(objects, metadata, request)));
    return ok(answerParts(call, { head: tableHead(metadata, request), name: "rows", objects, partOf: (object) => rowOf(object, request) }));
  }
  if (output.transform === "PartialObjectMetadata") return wrongShape(call, "a list", `${type.resource.kind}List`);
  if (output.transform !== undefined) {
    const partOf = (object: KubeObject) => partialOf(object, type, output.version);
    return ok(answerParts(call, { head: partialListHead(metadata, output.version), name: "items", objects, partOf }));
  }
  const { resource, custom, listKind = `${resource.kind}List` } = type;
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  const head = { kind: listKind, apiVersion, metadata: custom ? { continue: "", ...metadata } : metadata };
  const remembered = custom ? objectTexts : itemTexts;
  return ok(answerParts(call, { head, name: "items", objects, partOf: custom ? (object) => object : withoutType, remembered }));
}

const itemTexts = new RecentTexts();

/** Serialized part by part while it is sent: a long list does not block other requests, and is never in memory as one text. */
function answerParts(call: RequestContext, parts: ListParts): ApiResponse {
  const warnings = warningTexts(call.warnings);
  if (call.output.form === "yaml") return { status: 200, headers: { "content-type": "application/yaml" }, warnings, body: yamlBody(parts) };
  const body = jsonBody(parts, isPretty(call.request));
  return { status: 200, headers: { "content-type": "application/json" }, warnings, body };
}

/** A list cannot be returned as an object, nor an object as a list. The message has the Go type. */
function wrongShape({ output, target }: RequestContext, is: string, kind: string): ResponseResult {
  const { group } = target.type.resource;
  if (target.type.custom && is === "not a list") return errorWithoutReason("content is not a list");
  const goType = target.type.custom
    ? `unstructured.Unstructured${kind.endsWith("List") ? "List" : ""}`
    : `${group === "" ? "core" : (group.split(".")[0] ?? "")}.${kind}`;
  const message = `you requested ${output.transform ?? ""}, but the requested object is ${is} (*${goType})`;
  return refuse({ code: 406, reason: "NotAcceptable", message });
}

/** Items of a typed Go list have no kind and apiVersion; items of custom resources repeat them. */
function withoutType(object: KubeObject): unknown {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

export function valueResponse(
  call: Pick<RequestContext, "output" | "warnings" | "request">,
  status: number,
  value: unknown,
  texts?: () => Iterable<string>,
): ApiResponse {
  const warnings = warningTexts(call.warnings);
  if (call.output.form === "yaml") {
    const headers = { "content-type": "application/yaml" };
    return { status, headers, warnings, body: { kind: "text", text: formatGoYaml(value) } };
  }
  const pretty = isPretty(call.request);
  const body = { kind: "json" as const, value, pretty, texts: pretty ? undefined : texts };
  return { status, headers: { "content-type": "application/json" }, warnings, body };
}

/** Browsers and curl get line breaks. */
function isPretty(request: ApiRequest): boolean {
  const asked = parameter(request, "pretty");
  if (asked !== null && asked !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(asked);
  const agent = header(request, "user-agent");
  return agent !== "" && /^(curl|Wget|Mozilla\/5\.0)/.test(agent);
}

const NO_WARNINGS: ReadonlySet<string> = new Set();

/** An error is written in the accepted form too, if the Accept header can be parsed. */
export function failureResponse(request: ApiRequest, status: Status, warnings: ReadonlySet<string> = NO_WARNINGS): ApiResponse {
  // errors have no Table: a client that accepts nothing else gets JSON with line breaks
  const output = negotiate(header(request, "accept"), TRANSFORMS.plain, true);
  const yaml = output.ok && output.value.form === "yaml";
  const code = status.code ?? 500;
  const retry: Record<string, string> =
    status.details?.retryAfterSeconds === undefined ? {} : { "retry-after": String(status.details.retryAfterSeconds) };
  if (yaml) {
    const headers = { "content-type": "application/yaml", ...retry };
    return { status: code, headers, warnings: warningTexts(warnings), body: { kind: "text", text: formatGoYaml(status) } };
  }
  const plain = jsonResponse(code, status, retry);
  return { ...plain, warnings: warningTexts(warnings), body: { kind: "json", value: status, pretty: !output.ok || isPretty(request) } };
}
