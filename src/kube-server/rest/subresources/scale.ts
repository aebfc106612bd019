/**
 * The scale subresource: an autoscaling/v1 Scale with the replicas of an object, independent of the object's kind.
 *
 * The owners of the replicas are in the object's managedFields; apply gets them as if the Scale were an object of its own.
 */
import { err, ok, timestamp, whenOk, type Result } from "#base";
import { apiVersionOf, field, fieldAt, isJsonObject, jsonEqual, type JsonObject, type KubeObject, scales } from "#kube";
import { builtinDefinition } from "#patch";
import {
  applyPatch,
  fieldPath,
  openApiSchemas,
  parentEntries,
  scaleEntries,
  trackUpdate,
  withoutManagedFields,
  type ManagedKind,
  type ReplicasPaths,
} from "../../apply/index.ts";
import { inVersion, readStored, type RequestContext } from "../../protocol/core.ts";
import { decodeBody } from "../../protocol/decode-body.ts";
import { readYaml } from "../../protocol/yaml-body.ts";
import { decodeConverted } from "../decode-converted.ts";
import { SCHEME } from "../../protocol/legacy-kinds.ts";
import { asJsonObject, asObject, gvkText } from "../../protocol/managed-kinds.ts";
import { metaText, withMetadata } from "../../protocol/object-meta.ts";
import { patchDocument, type PatchKind } from "../patch-document.ts";
import { failureOf, patchKindOf, unconvertible } from "../patches.ts";
import { bodyText } from "../../protocol/request.ts";
import type { PendingResponse } from "../../protocol/respond.ts";
import { badRequest, conflict, internalError, invalid, notFound, errorWithoutReason, type Failure } from "../../protocol/status.ts";
import { oneFromStorage } from "../../protocol/convert-objects.ts";
import { changeStored, checkUid, updateObject, type AdmissionView } from "../update-object.ts";
import { writeOptions, type WriteOptions } from "../../protocol/write-options.ts";
import { matchNameAndNamespace } from "../../protocol/namespaces.ts";
import { hiddenType, withBodyKind } from "./hidden-kinds.ts";
import { scaleResponse } from "./scale-response.ts";
import { API_VERSION, numberAt, scaleOf, setAt } from "./scale-object.ts";
import { scalePathsOf, type ScaleFieldPaths } from "./scale-paths.ts";
import type { Stored } from "../../store/index.ts";

const SCHEMA = "io.k8s.api.autoscaling.v1.Scale";

export function getScale(call: RequestContext): PendingResponse {
  const found = parentOf(call, readStored(call, call.target.name ?? ""));
  if (!found.ok) return found;
  const { stored, paths } = found.value;
  return whenOk(oneFromStorage(call.target.type, stored.object), (object) => {
    const missing = call.target.type.custom && typeof fieldAt(object, ...paths.replicas) !== "number";
    if (missing) return internalError(`the spec replicas field ".${paths.replicas.join(".")}" does not exist`);
    return scaleResponse(call, scaleOf(object, paths));
  });
}

export function updateScale(call: RequestContext): PendingResponse {
  const options = writeOptions(call.request, "UpdateOptions");
  if (!options.ok) return options;
  const scale = decodeBody(withBodyKind(call, "Scale"), options.value.fieldValidation);
  if (!scale.ok)
    return call.target.type.custom && (scale.error.message ?? "").includes("json: cannot unmarshal") ? badRequest(NO_SCALE) : scale;
  const placed = matchNameAndNamespace(call, scale.value);
  if (!placed.ok) return placed;
  const change = (previous: Stored | undefined): PendingResponse => {
    const found = parentOf(call, previous);
    if (!found.ok) return found;
    const meant = checkUid(call, placed.value, found.value.object);
    return meant.ok ? write(call, found.value, placed.value, { options: options.value, apply: false }) : meant;
  };
  return changeStored(call, change, options.value);
}

export function patchScale(call: RequestContext): PendingResponse {
  const kind = patchKindOf(call);
  if (!kind.ok) return kind;
  const options = writeOptions(call.request, "PatchOptions", kind.value === "apply");
  if (!options.ok) return options;
  const how = { kind: kind.value, options: options.value };
  const change = (previous: Stored | undefined): PendingResponse => {
    const found = parentOf(call, previous);
    if (!found.ok) return found;
    if (how.kind === "apply") return applyScale(call, found.value, how.options);
    const patched = patchedScale(call, found.value, how.kind, how.options);
    return patched.ok ? write(call, found.value, patched.value, { options: how.options, apply: false }) : patched;
  };
  return changeStored(call, change, how.options);
}

type Parent = { readonly stored: Stored; readonly object: KubeObject; readonly paths: ScaleFieldPaths };

function parentOf(call: RequestContext, stored: Stored | undefined): Result<Parent, Failure> {
  const { type, name = "" } = call.target;
  const paths = scalePathsOf(type);
  if (stored === undefined || paths === undefined) return notFound({ resource: type.resource, name });
  return ok({ stored, object: inVersion(type, stored.object), paths });
}

function patchedScale(call: RequestContext, parent: Parent, kind: PatchKind, options: WriteOptions): Result<KubeObject, Failure> {
  const current = withOwners(call, parent);
  const { fieldValidation } = options;
  const patched = patchDocument({
    kind,
    text: bodyText(call.request),
    type: hiddenType("Scale"),
    current,
    fieldValidation,
    typeOfKind: (apiVersion, kind) => call.core.types.ofKind(apiVersion, kind),
  });
  if (!patched.ok) return patched;
  for (const finding of patched.value.findings) call.warnings.add(finding);
  return matchNameAndNamespace(call, patched.value.object);
}

/** The error for custom resources, whose scheme does not contain Scale. */
const NO_SCALE = `no kind is registered for the type v1.Scale in scheme "${SCHEME}"`;

function applyScale(call: RequestContext, parent: Parent, options: WriteOptions): PendingResponse {
  const body = readYaml(bodyText(call.request));
  if (!body.ok) return badRequest(`error decoding YAML: error converting YAML to JSON: ${body.error}`);
  const applied = isJsonObject(body.value.value) ? body.value.value : {};
  const live = asJsonObject(withOwners(call, parent));
  const [manager, now] = [options.fieldManager, timestamp(call.core.clock)];
  const merged = applyPatch({ ...managedScale(), manager, now, live, applied, force: options.force });
  if (!merged.ok) return err(failureOf(merged.error));
  const scale = call.target.type.custom ? customScale(live, merged.value) : builtinScale(merged.value);
  if (!scale.ok) return errorWithoutReason(unconvertible(scales, applied, scale.error));
  const placed = matchNameAndNamespace(call, scale.value);
  return placed.ok ? write(call, parent, placed.value, { options, apply: true }) : placed;
}

/** A real server cannot convert an applied Scale to a custom resource; an apply without changes succeeds, because it needs no conversion. */
function customScale(live: JsonObject, merged: JsonObject): Result<KubeObject, string> {
  const same = jsonEqual(withoutManagedFields(live), withoutManagedFields(merged));
  return same ? ok(asObject(merged)) : err(`request to convert CR to an invalid group/version: ${API_VERSION}`);
}

function builtinScale(merged: JsonObject): Result<KubeObject, string> {
  const read = decodeConverted(hiddenType("Scale"), merged, undefined);
  return read.ok ? ok(read.value.object) : err(`unable to convert unstructured object to ${gvkText(scales)}: ${read.error}`);
}

const schemaOf = openApiSchemas((ref) => builtinDefinition(ref.slice(ref.lastIndexOf("/") + 1)));

function managedScale(): ManagedKind {
  return { apiVersion: API_VERSION, kind: "Scale", schema: schemaOf(builtinDefinition(SCHEMA) ?? {}), subresource: "scale" };
}

function replicasPaths(call: RequestContext): ReplicasPaths {
  const versions = call.core.types.versionsOf(call.target.type);
  return new Map(
    versions.map((version) => {
      const paths = scalePathsOf(version);
      return [apiVersionOf(version.resource), paths === undefined ? undefined : fieldPath(...paths.replicas)];
    }),
  );
}

/** The Scale with the owners of its replicas, for apply. */
function withOwners(call: RequestContext, { object, paths }: Parent): KubeObject {
  const entries = scaleEntries(field(asJsonObject(object)["metadata"], "managedFields"), replicasPaths(call));
  return withMetadata(scaleOf(object, paths), { managedFields: entries.ok ? entries.value : [] });
}

type How = { readonly options: WriteOptions; readonly apply: boolean };

function write(call: RequestContext, parent: Parent, scale: KubeObject, { options, apply }: How): PendingResponse {
  const tracked = apply ? asJsonObject(scale) : trackScale(call, parent, scale, options);
  const replicas = numberAt(scale, ["spec", "replicas"]);
  if (replicas < 0 && !call.target.type.custom) {
    const detail = `Invalid value: ${replicas}: must be greater than or equal to 0`;
    const cause = { reason: "FieldValueInvalid", field: "spec.replicas", detail } as const;
    return invalid({ group: scales.group, kind: scales.kind, name: parent.object.metadata.name }, [cause]);
  }
  const meant = checkScaleUid(call, parent, scale);
  if (!meant.ok) return meant;
  const entries = parentEntries({
    parent: field(asJsonObject(parent.object)["metadata"], "managedFields"),
    scale: field(tracked["metadata"], "managedFields"),
    apiVersion: apiVersionOf(call.target.type.resource),
    paths: replicasPaths(call),
  });
  const owned = entries.ok ? withMetadata(parent.object, { managedFields: entries.value }) : parent.object;
  const version = metaText(scale, "resourceVersion");
  const next = withMetadata(setAt(owned, parent.paths.replicas, replicas), version === "" ? {} : { resourceVersion: version });
  const target = { ...call.target, subresource: undefined };
  const updated = updateObject(
    { ...call, target },
    { previous: parent.stored, next, options, tracked: true, admissionView: scaleView(parent.paths) },
  );
  return whenOk(updated, (object) => scaleResponse(call, scaleOf(object, parent.paths)));
}

function checkScaleUid({ target }: RequestContext, { object }: Parent, scale: KubeObject): Result<void, Failure> {
  const [wanted, found] = [metaText(scale, "uid"), metaText(object, "uid")];
  if (wanted === "" || wanted === found || target.type.custom) return ok(undefined);
  const resource = { ...target.type.resource, plural: `${target.type.resource.plural}/scale` };
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  return conflict({ resource, name: object.metadata.name }, why);
}

function scaleView(paths: ScaleFieldPaths): AdmissionView {
  return {
    kind: scales,
    subresource: "scale",
    of: (object) => scaleOf(object, paths),
    back: (object, scale) => setAt(object, paths.replicas, numberAt(scale, ["spec", "replicas"])),
  };
}

function trackScale(call: RequestContext, parent: Parent, scale: KubeObject, options: WriteOptions): JsonObject {
  const old = asJsonObject(withOwners(call, parent));
  const request = { ...managedScale(), manager: options.fieldManager, now: timestamp(call.core.clock), old, next: asJsonObject(scale) };
  const tracked = trackUpdate(request);
  return tracked.ok ? tracked.value : asJsonObject(scale);
}
