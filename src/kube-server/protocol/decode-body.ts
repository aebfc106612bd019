/**
 * Decodes the body of a request into an object of its kind. Unknown and duplicate fields are warnings, an error, or ignored, depending on
 * `fieldValidation`.
 */
import { Buffer } from "node:buffer";
import { ok, type Result } from "#base";
import { apiVersionOf, field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { decodeProtobuf, isProtobuf } from "../protobuf/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { shareWith } from "../share-json.ts";
import type { RequestContext } from "./core.ts";
import { inTextOrder, ofKnownFields, strictText } from "./findings.ts";
import { isLegacyKind, isSameAsNow, SCHEME } from "./legacy-kinds.ts";
import { asJsonObject } from "./managed-kinds.ts";
import { inputForm } from "./media-types.ts";
import { bodyText, header } from "./request.ts";
import { badRequest, type Failure } from "./status.ts";
import { parseStrictJson, type StrictJson } from "./strict-json.ts";
import type { FieldValidation } from "./write-options.ts";
import { plainText } from "./go-format.ts";
import { readYaml } from "./yaml-body.ts";

/** `like`: the stored object, if the body replaces it. Equal parts of the body are shared with it and not checked again. */
export function decodeBody(call: RequestContext, fieldValidation: FieldValidation, like?: KubeObject): Result<KubeObject, Failure> {
  const { type } = call.target;
  const read = readBody(call, fieldValidation);
  if (!read.ok) return read;
  const typed = withType(read.value.value, call);
  if (!typed.ok) return typed;
  const decoded = type.decode(like === undefined ? typed.value : shareWith(asJsonObject(like), typed.value), like);
  const cannotHandle = (problem: string) =>
    badRequest(`${describeKind(typed.value)} cannot be handled as a ${type.resource.kind}: ${problem}`);
  if (!decoded.ok) return cannotHandle(decoded.error);
  const meant = type.custom ? checkVersion(typed.value, type) : READ;
  const all = [...ofKnownFields(read.value.duplicates, decoded.value.findings), ...decoded.value.findings];
  if (all.length === 0) return meant.ok ? ok(decoded.value.object) : meant;
  const findings = type.custom ? all : inTextOrder(all, jsonTextOf(call, typed.value));
  if (fieldValidation === "Strict") return cannotHandle(`strict decoding error: ${strictText(findings)}`);
  if (fieldValidation === "Warn") for (const finding of findings) call.warnings.add(finding);
  return meant.ok ? ok(decoded.value.object) : meant;
}

const READ = ok(undefined);

function bodyTextOf(call: RequestContext): string {
  const { body } = call.request;
  const isText = typeof body === "string" || (body instanceof Uint8Array && !isProtobuf(header(call.request, "content-type")));
  return isText ? bodyText(call.request) : "";
}

/** A real server converts YAML to JSON with sorted keys before it decodes it. */
function jsonTextOf(call: RequestContext, value: Json): string {
  const form = inputForm(header(call.request, "content-type"));
  if (!form.ok) return "";
  return form.value === "json" ? bodyTextOf(call) : JSON.stringify(sortedKeys(value));
}

function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sortedKeys(value[name] ?? null)]));
}

function describeKind(value: JsonObject): string {
  const apiVersion = plainText(field(value, "apiVersion"));
  return `${plainText(field(value, "kind"))} in version "${apiVersion.slice(apiVersion.indexOf("/") + 1)}"`;
}

/** The value of a body in JSON, YAML or protobuf. */
export function readBody(call: RequestContext, fieldValidation: FieldValidation): Result<StrictJson, Failure> {
  const { request, target } = call;
  const { body } = request;
  if (body !== undefined && typeof body === "object" && "value" in body) return ok({ value: body.value, duplicates: [] });
  if (isProtobuf(header(request, "content-type")) && !target.type.custom) return readProtobuf(call);
  const form = inputForm(header(request, "content-type"));
  if (!form.ok) return form;
  const text = bodyText(request);
  const read = form.value === "json" ? parseStrictJson(text, fieldValidation !== "Ignore") : readYaml(text);
  if (read.ok) return read;
  const prefix = form.value === "json" ? "couldn't get version/kind; json parse error: " : "";
  return unrecognized(target.type, `${prefix}${read.error}`, text);
}

/** Bodies of subresources have other kinds (a Scale, an Eviction); such a body names its kind. */
function readProtobuf({ request, target }: RequestContext): Result<StrictJson, Failure> {
  const { kind } = target.type.resource;
  const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const decoded = decodeProtobuf(bytes, { apiVersion: apiVersionOf(target.type.resource), kind });
  return decoded.ok ? ok({ value: decoded.value, duplicates: [] }) : unrecognized(target.type, decoded.error, bodyText(request));
}

function unrecognized(type: ResourceType, problem: string, text: string): Result<never, Failure> {
  return badRequest(`the object provided is unrecognized (must be of type ${type.resource.kind}): ${problem} (${summary(text)})`);
}

const MAX_SUMMARY = 30;

/** The start of a body that cannot be decoded, for the error message: text if it looks like JSON, else bytes. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, MAX_SUMMARY).toString(text.startsWith("{") ? "utf8" : "hex");
  return bytes.length > MAX_SUMMARY ? `${shown} ...` : shown;
}

/** Sets apiVersion and kind: optional for built-in kinds, required for custom ones. */
function withType(value: Json, call: RequestContext): Result<JsonObject, Failure> {
  const { type } = call.target;
  const text = () => (bodyTextOf(call) === "" ? JSON.stringify(value) : bodyTextOf(call));
  if (!isJsonObject(value) && value !== null) {
    const problem = `json: cannot unmarshal ${goKind(value)} into Go value of type ${TYPE_META}`;
    return unrecognized(type, `couldn't get version/kind; json parse error: ${problem}`, text());
  }
  const object = value ?? {};
  for (const name of ["apiVersion", "kind"] as const) {
    const given = field(object, name);
    if (given !== undefined && given !== null && typeof given !== "string") {
      const problem = `json: cannot unmarshal ${goKind(given)} into Go struct field .${name} of type string`;
      return unrecognized(type, `couldn't get version/kind; json parse error: ${problem}`, text());
    }
  }
  return type.custom ? customType(object, type, text) : builtinType(object, call);
}

export const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export function goKind(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function customType(object: JsonObject, type: ResourceType, text: () => string): Result<JsonObject, Failure> {
  if ((field(object, "kind") ?? "") === "") return unrecognized(type, `Object 'Kind' is missing in '${text()}'`, text());
  return ok(object);
}

function checkVersion(object: JsonObject, type: ResourceType): Result<JsonObject, Failure> {
  const given = plainText(field(object, "apiVersion") ?? "");
  const wanted = apiVersionOf(type.resource);
  if (given === wanted) return ok(object);
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${wanted})`);
}

function builtinType(given: JsonObject, call: RequestContext): Result<JsonObject, Failure> {
  const { type } = call.target;
  const apiVersion = (field(given, "apiVersion") ?? "") === "" ? apiVersionOf(type.resource) : plainText(field(given, "apiVersion"));
  const kind = (field(given, "kind") ?? "") === "" ? type.resource.kind : plainText(field(given, "kind"));
  const object = { ...given, apiVersion, kind };
  if (kind === type.resource.kind && apiVersion === apiVersionOf(type.resource)) return ok(object);
  if (kind === type.resource.kind && isSameAsNow(apiVersion, kind)) return ok({ ...object, apiVersion: apiVersionOf(type.resource) });
  const cannotHandle = (problem: string) => badRequest(`${describeKind(object)} cannot be handled as a ${type.resource.kind}: ${problem}`);
  const other = call.core.types.ofKind(apiVersion, kind);
  if ((other === undefined || other.custom) && !isLegacyKind(apiVersion, kind)) {
    return cannotHandle(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "${SCHEME}"`);
  }
  if (kind === type.resource.kind) return checkVersion(object, type);
  // a real server decodes the body as the kind that it names, before it compares that kind with the requested one
  const foreign = other?.decode(object);
  if (foreign?.ok === false) return cannotHandle(foreign.error);
  const versionName = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const internal = type.resource.group === "" ? "core" : (type.resource.group.split(".")[0] ?? "");
  return cannotHandle(`converting (${versionName}.${kind}) to (${internal}.${type.resource.kind}): unknown conversion`);
}
