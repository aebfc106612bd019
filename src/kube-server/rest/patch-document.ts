/**
 * The three patches that change a document: JSON Patch, merge patch, strategic merge patch. Returns the patched object, decoded as its kind,
 * and its unknown and duplicate fields.
 */
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, isJsonObject, type Json, type KubeObject } from "#kube";
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, builtinSchema, httpStatusOf, type PatchError } from "#patch";
import type { Decoded, ResourceType, StrictFinding } from "../resource-type.ts";
import { decodeConverted } from "./decode-converted.ts";
import { goKind, TYPE_META } from "../protocol/decode-body.ts";
import { goFormat } from "../protocol/go-format.ts";
import { SCHEME } from "../protocol/legacy-kinds.ts";
import { asJsonObject } from "../protocol/managed-kinds.ts";
import { badRequest, invalid, refuse, tooLarge, errorWithoutReason, type Failure } from "../protocol/status.ts";
import { fieldOrder, parseStrictJson } from "../protocol/strict-json.ts";
import type { FieldValidation } from "../protocol/write-options.ts";

export type PatchKind = "json" | "merge" | "strategic";

export type PatchRequest = {
  readonly kind: PatchKind;
  /** The patch as text, or as a parsed value. */
  readonly text: string | { readonly value: Json };
  readonly type: ResourceType;
  readonly current: KubeObject;
  readonly typeOfKind: (apiVersion: string, kind: string) => ResourceType | undefined;
  readonly fieldValidation: FieldValidation;
};

export type PatchedDocument = { readonly object: KubeObject; readonly findings: readonly StrictFinding[] };

export function patchDocument(request: PatchRequest): Result<PatchedDocument, Failure> {
  const { text } = request;
  const read =
    typeof text === "string" ? parseStrictJson(text, request.fieldValidation !== "Ignore") : ok({ value: text.value, duplicates: [] });
  const shape = READERS[request.kind](request, read.ok ? ok(read.value.value) : read);
  if (!shape.ok) return shape;
  const duplicates = [...(read.ok ? read.value.duplicates : []), ...unknownInOperations(request.kind, shape.value)];
  const patched = APPLY[request.kind](request, shape.value);
  if (!patched.ok) return patched;
  // in Go a custom resource consists of maps on every level, which are printed with sorted keys
  const touched = () => (request.type.custom ? patched.value : touchedBy(shape.value));
  const written = () => request.type.asGoWrites?.(patched.value) ?? patched.value;
  const shown = () => (request.kind === "strategic" ? goFormat(shape.value) : JSON.stringify(sortTouched(written(), touched())));
  return decodePatched(request, patched.value, duplicates, shown);
}

const OPERATION_FIELDS = new Set(["op", "path", "from", "value"]);

function unknownInOperations(kind: PatchKind, patch: Json): readonly string[] {
  if (kind !== "json" || !Array.isArray(patch)) return [];
  return patch.flatMap((operation, index) =>
    Object.keys(isJsonObject(operation) ? operation : {})
      .filter((name) => !OPERATION_FIELDS.has(name))
      .map((name) => `unknown field "[${index}].${name}"`),
  );
}

type PatchReader = (request: PatchRequest, read: Result<Json, string>) => Result<Json, Failure>;

/** Checks the form of a patch before it is applied; error messages differ by kind of patch. */
const READERS: Readonly<Record<PatchKind, PatchReader>> = {
  json: (request, read) => {
    const prefix = request.fieldValidation === "Ignore" ? "" : "error decoding patch: ";
    if (!read.ok) return badRequest(`${prefix}${read.error}`);
    if (Array.isArray(read.value)) {
      const wrong = read.value.map(wrongOperation).find((problem) => problem !== undefined);
      // Go decodes null as an empty operation
      return wrong === undefined
        ? ok(read.value.map((operation) => operation ?? {}))
        : badRequest(`${prefix}json: cannot unmarshal ${wrong}`);
    }
    if (read.value === null) return ok([]);
    return badRequest(`${prefix}json: cannot unmarshal ${goKind(read.value)} into Go value of type []handlers.jsonPatchOp`);
  },
  merge: (request, read) => {
    if (request.fieldValidation === "Ignore") return read.ok ? read : badRequest("Invalid JSON Patch");
    if (!read.ok) return badRequest(`error decoding patch: ${read.error}`);
    if (read.value === null) return badRequest("Invalid JSON Patch");
    return isJsonObject(read.value) ? read : badRequest(`error decoding patch: ${notAMap(read.value)}`);
  },
  strategic: (_, read) => {
    if (!read.ok) return badRequest(read.error);
    return isJsonObject(read.value) || read.value === null ? ok(read.value ?? {}) : badRequest(notAMap(read.value));
  },
};

function wrongOperation(operation: Json): string | undefined {
  if (operation === null) return undefined;
  if (!isJsonObject(operation)) return `${goKind(operation)} into Go value of type handlers.jsonPatchOp`;
  const name = ["op", "path", "from"].find((one) => typeof (field(operation, one) ?? "") !== "string");
  return name === undefined
    ? undefined
    : `${goKind(field(operation, name) ?? null)} into Go struct field jsonPatchOp.${name} of type string`;
}

function notAMap(value: Json): string {
  return `json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`;
}

type Apply = (request: PatchRequest, patch: Json) => Result<Json, Failure>;

const APPLY: Readonly<Record<PatchKind, Apply>> = {
  json: ({ current }, patch) => orFailure(applyJsonPatch(asJsonObject(current), patch)),
  merge: ({ current }, patch) => orFailure(applyMergePatch(asJsonObject(current), patch)),
  strategic: ({ current, type }, patch) => {
    const given = type.strategicSchema;
    if (given !== undefined && "schema" in given)
      return orFailure(applyStrategicMergePatch(asJsonObject(current), patch, given.schema, { lists: given.lists }));
    const schema = given === undefined ? undefined : builtinSchema(given);
    if (schema === undefined) return errorWithoutReason("unable to find api field in struct");
    return orFailure(applyStrategicMergePatch(asJsonObject(current), patch, schema));
  },
};

function orFailure(result: Result<Json, PatchError>): Result<Json, Failure> {
  return result.ok ? result : err(failureOf(result.error).error);
}

function failureOf(error: PatchError) {
  switch (httpStatusOf(error)) {
    case 400:
      return badRequest(error.message);
    case 413:
      return tooLarge(error.message);
    case 422: {
      const message = "the server rejected our request due to an error in our request";
      return refuse({ code: 422, reason: "Invalid", message, details: {} });
    }
    case 500:
      return errorWithoutReason(error.message);
  }
}

/** Go prints parts that a patch touched or added with sorted fields, and all others in their original order. */
function sortTouched(value: Json, touched: Json | undefined): Json {
  if (Array.isArray(value) && Array.isArray(touched)) return value.map((item) => sortTouched(item, item));
  if (!isJsonObject(value) || !isJsonObject(touched)) return value;
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]) => [name, inner === undefined ? null : sortTouched(inner, field(touched, name))]));
}

/** The tree of touched fields: a merge patch itself; for operations, built from their paths. */
function touchedBy(patch: Json): Json {
  if (!Array.isArray(patch)) return patch;
  const tree: Touched = Object.create(null) as Touched;
  for (const operation of patch) {
    const path = field(operation, "path");
    let at = tree;
    for (const name of typeof path === "string" ? path.split("/").slice(1, -1) : []) at = at[name] ??= Object.create(null) as Touched;
  }
  return tree;
}

type Touched = { [name: string]: Touched };

function decodePatched(
  request: PatchRequest,
  value: Json,
  duplicates: readonly string[],
  shown: () => string,
): Result<PatchedDocument, Failure> {
  const { fieldValidation, kind } = request;
  const refused = (problem: string) => {
    const detail = `Invalid value: ${JSON.stringify(shown())}: ${problem}`;
    return invalid({ group: "", kind: "", name: "" }, [{ reason: "FieldValueInvalid", field: "patch", detail }]);
  };
  const decoded = kind === "strategic" ? decodeConverted(request.type, value, request.current) : decodeAsNamedKind(request, value, shown);
  if (!decoded.ok) return refused(decoded.error);
  const found = inOrder(decoded.value.findings, kind, shown);
  const findings = [...duplicates.map((finding) => (kind === "json" ? `json patch ${finding}` : finding)), ...found];
  if (findings.length > 0 && fieldValidation === "Strict") return refused(`strict decoding error: ${findings.join(", ")}`);
  return ok({ object: decoded.value.object, findings: fieldValidation === "Warn" ? findings : [] });
}

/** A patch must not change the kind; a real server decodes the result as the new kind before it reports that. */
function decodeAsNamedKind({ type, typeOfKind, current }: PatchRequest, value: Json, shown: () => string): Result<Decoded, string> {
  const problem = typeMetaProblem(value);
  if (problem !== undefined) return err(`couldn't get version/kind; json parse error: json: cannot unmarshal ${problem}`);
  const [apiVersion, kind] = [textIn(value, "apiVersion"), textIn(value, "kind")];
  const { resource } = type;
  if (type.custom && kind === "") return err(`Object 'Kind' is missing in '${shown()}'`);
  // without a version a real server decodes an empty object
  if (!type.custom && apiVersion === "" && (kind === "" || kind === resource.kind)) return type.decode({});
  const same = apiVersion === apiVersionOf(resource) && (kind === resource.kind || kind === "");
  if (same && kind === "" && isJsonObject(value)) return type.decode({ ...value, kind: resource.kind }, current);
  if (type.custom || same) return type.decode(value, current);
  const other = typeOfKind(apiVersion, kind);
  if (other === undefined) return err(`no kind "${kind}" is registered for version "${apiVersion}" in scheme "${SCHEME}"`);
  const decoded = other.decode(value);
  if (!decoded.ok) return decoded;
  const internal = resource.group === "" ? "core" : (resource.group.split(".")[0] ?? "");
  return err(`converting (${apiVersion.slice(apiVersion.indexOf("/") + 1)}.${kind}) to (${internal}.${resource.kind}): unknown conversion`);
}

/** apiVersion and kind are decoded before all other fields. */
function typeMetaProblem(value: Json): string | undefined {
  if (value === null) return undefined;
  if (!isJsonObject(value)) return `${goKind(value)} into Go value of type ${TYPE_META}`;
  const name = ["apiVersion", "kind"].find((one) => typeof (field(value, one) ?? "") !== "string");
  return name === undefined ? undefined : `${goKind(field(value, name) ?? null)} into Go struct field .${name} of type string`;
}

/** A strategic patch is a map without order at this point: Go sorts its findings. */
function inOrder(findings: readonly StrictFinding[], kind: PatchRequest["kind"], shown: () => string): readonly StrictFinding[] {
  if (findings.length < 2) return findings;
  return kind === "strategic" ? findings.toSorted() : inTextOrder(findings, shown());
}

/** The decoder reports unknown fields in the order of the text. */
function inTextOrder(findings: readonly StrictFinding[], text: string): readonly StrictFinding[] {
  const order = fieldOrder(text);
  const placeOf = (finding: string) => order.get(/"(.*)"$/.exec(finding)?.[1] ?? "") ?? Number.MAX_SAFE_INTEGER;
  return findings.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function textIn(value: Json, name: string): string {
  const text = field(value, name);
  return typeof text === "string" ? text : "";
}
