/** Turning what a handler found into an answer, in the form the client asked for. */
import { ok, type Later, type Result } from "#base";
import type { KubeObject, Status } from "#kube";
import type { Call } from "./core.ts";
import { formatGoYaml } from "./go-yaml.ts";
import { negotiate, type Transform } from "./media-types.ts";
import { header, jsonAnswer, parameter, type ApiRequest, type ApiResponse } from "./request.ts";
import { RecentTexts } from "./recent-texts.ts";
import { refuse, unexplained, type Failure } from "./status.ts";
import { jsonBody, yamlBody, type ListParts } from "./list-body.ts";
import { includeObject, partialListHead, partialOf, rowOf, tableHead, tableOf, type ListMeta } from "./table.ts";
import { warningTexts } from "./warnings.ts";

export type Answered = Result<ApiResponse, Failure>;
/** Mostly there at once: only webhooks make a request wait. */
export type Answering = Later<Answered>;

export const TRANSFORMS: Readonly<Record<"object" | "list" | "plain", ReadonlySet<Transform>>> = {
  object: new Set<Transform>(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]),
  list: new Set<Transform>(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]),
  plain: new Set<Transform>(),
};

const objectTexts = new RecentTexts();

export function answerObject(call: Call, status: number, object: KubeObject): Answered {
  const { output, target } = call;
  // remembered for who reads: what somebody wrote he has, and few others ask for it before it changes
  if (output.transform === undefined && target.verb !== "get") return ok(answer(call, status, object));
  if (output.transform === undefined)
    return ok(answer(call, status, object, () => [objectTexts.of(object, () => JSON.stringify(object)), "\n"]));
  if (output.transform === "PartialObjectMetadataList") return wrongShape(call, "not a list", object.kind);
  if (output.transform !== "Table") return ok(answer(call, status, partialOf(object, call.target.type, output.version)));
  const include = includeObject(call.request.query);
  if (!include.ok) return include;
  const request = { type: target.type, output, include: include.value, now: call.core.clock.now(), withColumns: true };
  return ok(answer(call, status, tableOf([object], { resourceVersion: object.metadata.resourceVersion ?? "" }, request)));
}

export function answerList(call: Call, objects: readonly KubeObject[], metadata: ListMeta): Answered {
  const { output, target } = call;
  const { type } = target;
  if (output.transform === "Table") {
    const include = includeObject(call.request.query);
    if (!include.ok) return include;
    const request = { type, output, include: include.value, now: call.core.clock.now(), withColumns: true };
    if (objects.length === 0) return ok(answer(call, 200, tableOf(objects, metadata, request)));
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

/** Printed part by part when it is sent: a long list does not hold up other requests, and is never in memory as one text. */
function answerParts(call: Call, parts: ListParts): ApiResponse {
  const warnings = warningTexts(call.warnings);
  if (call.output.form === "yaml") return { status: 200, headers: { "content-type": "application/yaml" }, warnings, body: yamlBody(parts) };
  const body = jsonBody(parts, isPretty(call.request));
  return { status: 200, headers: { "content-type": "application/json" }, warnings, body };
}

/** One cannot be shown as many, nor many as one. The type is Go's name for what there is. */
function wrongShape({ output, target }: Call, is: string, kind: string): Answered {
  const { group } = target.type.resource;
  if (target.type.custom && is === "not a list") return unexplained("content is not a list");
  const goType = target.type.custom
    ? `unstructured.Unstructured${kind.endsWith("List") ? "List" : ""}`
    : `${group === "" ? "core" : (group.split(".")[0] ?? "")}.${kind}`;
  const message = `you requested ${output.transform ?? ""}, but the requested object is ${is} (*${goType})`;
  return refuse({ code: 406, reason: "NotAcceptable", message });
}

/** Go lists hold items whose kind is known from the list; only unstructured ones repeat it (KUBE-FACTS 13). */
function withoutType(object: KubeObject): unknown {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

export function answer(
  call: Pick<Call, "output" | "warnings" | "request">,
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

/** People with a browser or curl get line breaks. */
function isPretty(request: ApiRequest): boolean {
  const asked = parameter(request, "pretty");
  if (asked !== null && asked !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(asked);
  const agent = header(request, "user-agent");
  return agent !== "" && /^(curl|Wget|Mozilla\/5\.0)/.test(agent);
}

const NO_WARNINGS: ReadonlySet<string> = new Set();

/** A refusal is written in the language of the request too, if that can be made out. */
export function answerFailure(request: ApiRequest, status: Status, warnings: ReadonlySet<string> = NO_WARNINGS): ApiResponse {
  // nobody can make a Table of it: who accepts nothing else gets plain JSON, with line breaks
  const output = negotiate(header(request, "accept"), TRANSFORMS.plain, true);
  const yaml = output.ok && output.value.form === "yaml";
  const code = status.code ?? 500;
  const retry: Record<string, string> =
    status.details?.retryAfterSeconds === undefined ? {} : { "retry-after": String(status.details.retryAfterSeconds) };
  if (yaml) {
    const headers = { "content-type": "application/yaml", ...retry };
    return { status: code, headers, warnings: warningTexts(warnings), body: { kind: "text", text: formatGoYaml(status) } };
  }
  const plain = jsonAnswer(code, status, retry);
  return { ...plain, warnings: warningTexts(warnings), body: { kind: "json", value: status, pretty: !output.ok || isPretty(request) } };
}
