/**
 * From the bytes of a request to an object of its kind, with everything the client said that nobody will hear: unknown fields and fields
 * given twice are warnings, an error, or nothing, as `fieldValidation` says.
 */
import { Buffer } from "node:buffer";
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, isJsonObject, parseYaml, type Json, type JsonObject, type KubeObject } from "#kube";
import { decodeProtobuf, isProtobuf } from "../protobuf/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { shareWith } from "../share-json.ts";
import type { Call } from "./core.ts";
import { isLegacyKind, isSameAsNow, SCHEME } from "./legacy-kinds.ts";
import { asJsonObject } from "./managed-kinds.ts";
import { inputForm } from "./media-types.ts";
import { bodyText, header } from "./request.ts";
import { badRequest, type Failure } from "./status.ts";
import { fieldOrder, parseStrictJson, type StrictJson } from "./strict-json.ts";
import type { FieldValidation } from "./write-options.ts";
import { plainText } from "./go-format.ts";

/** `like`: what is stored now, if the body is to replace it. Most of the body is the same, and need not be looked at twice. */
export function decodeBody(call: Call, fieldValidation: FieldValidation, like?: KubeObject): Result<KubeObject, Failure> {
  const { type } = call.target;
  const read = readBody(call, fieldValidation);
  if (!read.ok) return read;
  const typed = withType(read.value.value, call);
  if (!typed.ok) return typed;
  const decoded = type.decode(like === undefined ? typed.value : shareWith(asJsonObject(like), typed.value), like);
  const says = (problem: string) => badRequest(`${describeKind(typed.value)} cannot be handled as a ${type.resource.kind}: ${problem}`);
  if (!decoded.ok) return says(decoded.error);
  const meant = type.custom ? checkVersion(typed.value, type) : READ;
  const all = [...ofKnownFields(read.value.duplicates, decoded.value.findings), ...decoded.value.findings];
  if (all.length === 0) return meant.ok ? ok(decoded.value.object) : meant;
  const findings = type.custom ? all : inTextOrder(all, jsonTextOf(call, typed.value)).slice(0, MOST_FINDINGS);
  if (fieldValidation === "Strict") return says(`strict decoding error: ${strictText(findings)}`);
  if (fieldValidation === "Warn") for (const finding of findings) call.warnings.add(finding);
  return meant.ok ? ok(decoded.value.object) : meant;
}

const READ = ok(undefined);

/** Go's reader of built-in kinds says no more. */
const MOST_FINDINGS = 100;

/** Go skips what it does not know: nothing in there is counted, so nothing is there twice. */
function ofKnownFields(duplicates: readonly string[], findings: readonly string[]): readonly string[] {
  const unknown = new Set(findings.filter((finding) => finding.startsWith("unknown")).map(pathOf));
  if (unknown.size === 0 || duplicates.length === 0) return duplicates;
  const lengths = new Set(Array.from(unknown, (path) => path.length));
  const isBelow = (path: string): boolean => {
    for (let at = 0; at <= path.length; at += 1) {
      const ends = at === path.length || path[at] === "." || path[at] === "[";
      if (ends && lengths.has(at) && unknown.has(path.slice(0, at))) return true;
    }
    return false;
  };
  return duplicates.filter((finding) => isLine(finding) || !isBelow(pathOf(finding)));
}

/** What the reader of YAML found knows its line, and no path. */
function isLine(finding: string): boolean {
  return finding.startsWith("line ");
}

/** Of `unknown field "spec.x"`. */
function pathOf(finding: string): string {
  return finding.slice(finding.indexOf('"') + 1, -1);
}

function bodyTextOf(call: Call): string {
  const { body } = call.request;
  const isText = typeof body === "string" || (body instanceof Uint8Array && !isProtobuf(header(call.request, "content-type")));
  return isText ? bodyText(call.request) : "";
}

/** YAML is turned into JSON before it is read, and its keys are sorted on the way. */
function jsonTextOf(call: Call, value: Json): string {
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

/**
 * The real reader of built-in kinds reports as it goes, so unknown and doubled fields come mixed, in the order of the text. Custom resources
 * are read first and compared with their schema later.
 */
function inTextOrder(findings: readonly string[], text: string): readonly string[] {
  if (findings.length < 2 || text === "") return findings;
  const order = fieldOrder(text);
  const placeOf = (finding: string) => (isLine(finding) ? -1 : (order.get(pathOf(finding)) ?? Number.MAX_SAFE_INTEGER));
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function describeKind(value: JsonObject): string {
  const apiVersion = plainText(field(value, "apiVersion"));
  return `${plainText(field(value, "kind"))} in version "${apiVersion.slice(apiVersion.indexOf("/") + 1)}"`;
}

/** The value of a body, whichever language it is in. */
export function readBody(call: Call, fieldValidation: FieldValidation): Result<StrictJson, Failure> {
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

/** Subresources speak other kinds (a Scale, an Eviction); such a body says what it is. */
function readProtobuf({ request, target }: Call): Result<StrictJson, Failure> {
  const { kind } = target.type.resource;
  const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const decoded = decodeProtobuf(bytes, { apiVersion: apiVersionOf(target.type.resource), kind });
  return decoded.ok ? ok({ value: decoded.value, duplicates: [] }) : unrecognized(target.type, decoded.error, bodyText(request));
}

/** YAML's own findings name lines, not paths. */
export function readYaml(text: string): Result<StrictJson, string> {
  const documents = parseYaml(text);
  if (documents.ok) return ok({ value: documents.value[0] ?? null, duplicates: [] });
  const { message, line } = documents.error;
  const lenient = message.includes("duplicated mapping key") ? parseYaml(text, { duplicates: "last" }) : documents;
  if (!lenient.ok) return err(goYamlProblem(message, line));
  return ok({ value: lenient.value[0] ?? null, duplicates: doubledKeys(text, line ?? 1) });
}

/** Characters that are read again to find the others: each costs a reading of the whole text. */
const MOST_READ_AGAIN = 500_000;
/** What stands before the first key of a line, and the key. No two parts that follow each other take the same character: lines may be long. */
const FIRST_KEY = /^([\s-]*)("[^"]*"\s*|[^\s":{-][^":{]*):/;
const KEY_IN_BRACES = /[{,]\s*(?:"([^"]*)"\s*|([^\s":,{}][^":,{}]*)):/g;

/** The reader stops at the first; that one gets another name, and the rest is read again. */
function doubledKeys(text: string, first: number): readonly string[] {
  const lines = text.split("\n");
  const found: string[] = [];
  let line: number | undefined = first;
  while (line !== undefined) {
    const given: string = lines[line - 1] ?? "";
    found.push(`line ${line}: key ${JSON.stringify(doubledKey(given))} already set in map`);
    const [whole = "", before = ""] = FIRST_KEY.exec(given) ?? [];
    if (whole === "" || given.includes("{") || text.length * found.length > MOST_READ_AGAIN) break;
    lines[line - 1] = `${before}doubled-${found.length}:${given.slice(whole.length)}`;
    const again = parseYaml(lines.join("\n"));
    line = !again.ok && again.error.message.includes("duplicated mapping key") ? again.error.line : undefined;
  }
  return found;
}

/** In braces the key is somewhere in the line; else the line begins with it. */
function doubledKey(line: string): string {
  const seen = new Set<string>();
  for (const [, quoted, plain = ""] of line.matchAll(KEY_IN_BRACES)) {
    const key = quoted ?? plain.trimEnd();
    if (seen.has(key)) return key;
    seen.add(key);
  }
  const key = FIRST_KEY.exec(line)?.[2]?.trimEnd() ?? "";
  return key.startsWith('"') ? key.slice(1, -1) : key;
}

/** What Go's reader says instead; of the first line it speaks without a number when it stumbles over a single character. */
function goYamlProblem(message: string, line: number | undefined): string {
  if (message === "bad indentation of a mapping entry")
    return `yaml: ${(line ?? 1) > 1 ? `line ${line}: ` : ""}mapping values are not allowed in this context`;
  if (message === "unexpected end of the stream within a flow collection")
    return `yaml: line ${line ?? 1}: did not find expected node content`;
  return `yaml: ${line === undefined ? "" : `line ${line}: `}${message}`;
}

/** In a refusal, YAML's findings are one, with the words of its reader. */
export function strictText(findings: readonly string[]): string {
  const lines = findings.filter(isLine);
  const others = findings.filter((finding) => !isLine(finding));
  return [...(lines.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`]), ...others].join(", ");
}

function unrecognized(type: ResourceType, problem: string, text: string): Result<never, Failure> {
  return badRequest(`the object provided is unrecognized (must be of type ${type.resource.kind}): ${problem} (${summary(text)})`);
}

const MAX_SUMMARY = 30;

/** What the server shows of a body it cannot read: its text if it looks like JSON, else its bytes. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const shown = bytes.subarray(0, MAX_SUMMARY).toString(text.startsWith("{") ? "utf8" : "hex");
  return bytes.length > MAX_SUMMARY ? `${shown} ...` : shown;
}

/** apiVersion and kind as they will be read: built-in kinds may leave them out, custom ones may not (KUBE-FACTS 13). */
function withType(value: Json, call: Call): Result<JsonObject, Failure> {
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

function builtinType(given: JsonObject, call: Call): Result<JsonObject, Failure> {
  const { type } = call.target;
  const apiVersion = (field(given, "apiVersion") ?? "") === "" ? apiVersionOf(type.resource) : plainText(field(given, "apiVersion"));
  const kind = (field(given, "kind") ?? "") === "" ? type.resource.kind : plainText(field(given, "kind"));
  const object = { ...given, apiVersion, kind };
  if (kind === type.resource.kind && apiVersion === apiVersionOf(type.resource)) return ok(object);
  if (kind === type.resource.kind && isSameAsNow(apiVersion, kind)) return ok({ ...object, apiVersion: apiVersionOf(type.resource) });
  const says = (problem: string) => badRequest(`${describeKind(object)} cannot be handled as a ${type.resource.kind}: ${problem}`);
  const other = call.core.types.ofKind(apiVersion, kind);
  if ((other === undefined || other.custom) && !isLegacyKind(apiVersion, kind)) {
    return says(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "${SCHEME}"`);
  }
  if (kind === type.resource.kind) return checkVersion(object, type);
  // it is read as what it says it is, before anybody asks for something else
  const foreign = other?.decode(object);
  if (foreign?.ok === false) return says(foreign.error);
  const versionName = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const internal = type.resource.group === "" ? "core" : (type.resource.group.split(".")[0] ?? "");
  return says(`converting (${versionName}.${kind}) to (${internal}.${type.resource.kind}): unknown conversion`);
}
