/** PATCH: selects the kind of patch and applies it. Server-side apply may create; the others need an existing object. */
import { err, ok, timestamp, whenOk, whenThere, type Later, type Result } from "#base";
import { fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { applyPatch, type ApplyError } from "../apply/index.ts";
import { parseSeconds } from "../apply/rfc3339.ts";
import { createObject, withoutVersion } from "./create-object.ts";
import { inVersion, nextStep, type RequestContext } from "../protocol/core.ts";
import { goKind } from "../protocol/decode-body.ts";
import { strictText } from "../protocol/findings.ts";
import { readYaml } from "../protocol/yaml-body.ts";
import { decodeConverted } from "./decode-converted.ts";
import { asJsonObject, gvkText, type Gvk } from "../protocol/managed-kinds.ts";
import { matchNameAndNamespace } from "../protocol/namespaces.ts";
import { metaText } from "../protocol/object-meta.ts";
import { patchDocument, type PatchKind } from "./patch-document.ts";
import { bodyText, header } from "../protocol/request.ts";
import { objectResponse, type PendingResponse } from "../protocol/respond.ts";
import { badRequest, conflict, notFound, refuse, errorWithoutReason, unsupportedMediaType, type Failure } from "../protocol/status.ts";
import { withVersions } from "./tracked-versions.ts";
import { changeStored, updateObject } from "./update-object.ts";
import { writeOptions, type WriteOptions } from "../protocol/write-options.ts";
import type { Stored } from "../store/index.ts";

const KINDS: ReadonlyMap<string, PatchKind | "apply"> = new Map<string, PatchKind | "apply">([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);
const FOR_CUSTOM = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

/** The router of a real server accepts all four; the handler of a kind without a strategic schema rejects that one. */
export function patchKindOf(call: RequestContext): Result<PatchKind | "apply", Failure> {
  const kind = KINDS.get(header(call.request, "content-type").split(";")[0]?.trim() ?? "");
  if (kind === undefined && call.target.type.custom) return unsupportedMediaType(FOR_CUSTOM);
  if (kind === undefined) {
    return refuse({ code: 415, reason: "UnsupportedMediaType", message: "415: Unsupported Media Type", details: {} });
  }
  if (kind === "strategic" && call.target.type.strategicSchema === undefined) return unsupportedMediaType(FOR_CUSTOM);
  return ok(kind);
}

export function patch(call: RequestContext): PendingResponse {
  const kind = patchKindOf(call);
  if (!kind.ok) return kind;
  const options = writeOptions(call.request, "PatchOptions", kind.value === "apply");
  if (!options.ok) return options;
  const how = { kind: kind.value, options: options.value };
  return changeStored(
    call,
    (previous) => (how.kind === "apply" ? applied(call, how.options, previous) : patched(call, previous, { ...how, kind: how.kind })),
    how.options,
  );
}

type How = { readonly kind: PatchKind; readonly options: WriteOptions };

function patched(call: RequestContext, previous: Stored | undefined, { kind, options }: How): PendingResponse {
  const { type, name = "" } = call.target;
  if (previous === undefined) return notFound({ resource: type.resource, name });
  const next = patchedObject(call, { kind, options, current: inVersion(type, previous.object) });
  if (!next.ok) return next;
  const updated = nextStep(call, () => updateObject(call, { previous, next: next.value, options, tracked: false }));
  return whenOk(updated, (stored) => objectResponse(call, 200, stored));
}

type PatchStep = How & { readonly current: KubeObject };

function patchedObject(call: RequestContext, { kind, options, current }: PatchStep): Result<KubeObject, Failure> {
  const { type } = call.target;
  const { fieldValidation } = options;
  const patched = patchDocument({
    kind,
    text: bodyOf(call),
    type,
    current,
    fieldValidation,
    typeOfKind: (apiVersion, name) => call.core.types.ofKind(apiVersion, name),
  });
  if (!patched.ok) return patched;
  for (const finding of patched.value.findings) call.warnings.add(finding);
  return matchNameAndNamespace(call, type.applyDefaults(patched.value.object, current));
}

function bodyOf({ request }: RequestContext): string | { readonly value: Json } {
  const { body } = request;
  return body !== undefined && typeof body === "object" && "value" in body ? body : bodyText(request);
}

function applied(call: RequestContext, options: WriteOptions, previous: Stored | undefined): PendingResponse {
  const { type, name = "", subresource } = call.target;
  if (previous === undefined && subresource !== undefined) return notFound({ resource: type.resource, name });
  const live = previous === undefined ? undefined : inVersion(type, previous.object);
  return whenOk(mergeApplied(call, options, live), (merged) =>
    nextStep(call, () => writeApplied(call, options, { previous, live, merged })),
  );
}

type Merge = { readonly previous: Stored | undefined; readonly live: KubeObject | undefined; readonly merged: KubeObject };

function writeApplied(call: RequestContext, options: WriteOptions, { previous, live, merged }: Merge): PendingResponse {
  const { type, name = "" } = call.target;
  const next = matchNameAndNamespace(call, type.applyDefaults(merged, live));
  if (!next.ok) return next;
  if (previous !== undefined) {
    const updated = updateObject(call, { previous, next: next.value, options, tracked: true });
    return whenOk(updated, (stored) => objectResponse(call, 200, stored));
  }
  const uid = metaText(next.value, "uid");
  if (uid !== "")
    return conflict(
      { resource: type.resource, name },
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  const created = createObject(call, { object: withoutVersion(next.value), options, tracked: true });
  return whenOk(created, (stored) => objectResponse(call, 201, stored));
}

/** Merges the applied configuration into the live object, then decodes the result. The merge rejects unknown fields. */
function mergeApplied(call: RequestContext, options: WriteOptions, live: KubeObject | undefined): Later<Result<KubeObject, Failure>> {
  const { type, subresource } = call.target;
  const body = readApplied(call);
  if (!body.ok) return body;
  const request = {
    manager: options.fieldManager,
    now: timestamp(call.core.clock),
    live: live === undefined ? undefined : asJsonObject(live),
    applied: body.value.object,
    force: options.force,
  };
  const merging = nextStep(call, () =>
    withVersions({ types: call.core.types, type, subresource }, (kind) => applyPatch({ ...kind, ...request })),
  );
  return whenThere(merging, (merged): Result<KubeObject, Failure> => {
    if (!merged.ok) return err(failureOf(merged.error));
    const { duplicates } = body.value;
    if (duplicates.length > 0 && options.fieldValidation === "Strict")
      return badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strictText(duplicates)}`);
    if (options.fieldValidation === "Warn") for (const finding of duplicates) call.warnings.add(finding);
    const decoded = decodeConverted(type, type.custom ? withoutInvalidDeletion(merged.value) : merged.value, live);
    if (decoded.ok) return ok(decoded.value.object);
    if (type.custom) return errorWithoutReason(decoded.error);
    const problem = `unable to convert unstructured object to ${gvkText(type.resource)}: ${decoded.error}`;
    return errorWithoutReason(unconvertible(type.resource, body.value.object, problem));
  });
}

/** A real server never decodes an applied custom resource as a Go type: an invalid deletionTimestamp is ignored, elsewhere it is an error. */
function withoutInvalidDeletion(merged: JsonObject): JsonObject {
  const given = fieldAt(merged, "metadata", "deletionTimestamp");
  if (typeof given !== "string" || parseSeconds(given) !== undefined) return merged;
  const { deletionTimestamp: _invalid, ...metadata } = merged["metadata"] as JsonObject;
  return { ...merged, metadata };
}

/** The error when the merged object cannot be decoded as its Go type. */
export function unconvertible(resource: Gvk, applied: JsonObject, problem: string): string {
  const [namespace, name] = ["namespace", "name"].map((part) => fieldAt(applied, "metadata", part));
  const place = `${typeof namespace === "string" ? namespace : ""}/${typeof name === "string" ? name : ""}`;
  return `failed to convert new object (${place}; ${gvkText(resource)}) to proper version: ${problem}`;
}

type AppliedBody = { readonly object: JsonObject; readonly duplicates: readonly string[] };

function readApplied(call: RequestContext): Result<AppliedBody, Failure> {
  const { body } = call.request;
  const given =
    body !== undefined && typeof body === "object" && "value" in body
      ? ok({ value: body.value, duplicates: [] })
      : readYaml(bodyText(call.request));
  if (!given.ok) return badRequest(`error decoding YAML: error converting YAML to JSON: ${given.error}`);
  const { value, duplicates } = given.value;
  if (isJsonObject(value) || value === null) return ok({ object: value ?? {}, duplicates });
  const problem = `json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`;
  return badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${problem}`);
}

export function failureOf(error: ApplyError): Failure {
  switch (error.kind) {
    case "bad-request":
      return badRequest(error.message).error;
    case "invalid":
      return errorWithoutReason(error.message).error;
    case "conflict": {
      const causes = error.conflicts.map(({ message, fieldPath }) => ({ reason: "FieldManagerConflict", message, field: fieldPath }));
      return refuse({ code: 409, reason: "Conflict", message: error.message, details: { causes } }).error;
    }
  }
}
