/** A CRD with any schema, and functions that create and update its objects as the REST layer does. Only for tests. */
import { expectOk } from "#base";
import type { Json, JsonObject, KubeObject } from "#kube";
import type { FieldCause } from "../resource-type.ts";
import { admitCrd, type PreparedCrd } from "./crd/admit.ts";
import { customResourceTypes, type CustomResourceType } from "./resource/custom-resource-type.ts";

export const GROUP = "widgets.lattice.test";

export function crdOf(schema: JsonObject, version: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  const served = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version };
  return crdWithVersions([served], spec);
}

export function crdWithVersions(versions: readonly JsonObject[], spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${GROUP}` },
    spec: { group: GROUP, scope: "Namespaced", names: { plural: "widgets", kind: "Widget" }, versions, ...spec },
  };
}

/** A CRD whose `spec` has these fields. */
export function crdOfSpec(properties: JsonObject, more: JsonObject = {}, version: JsonObject = {}): JsonObject {
  return crdOf({ type: "object", properties: { spec: { type: "object", properties, ...more } } }, version);
}

export function admitted(crd: JsonObject): PreparedCrd {
  return expectOk(admitCrd(crd));
}

/** "field: detail" of every error of a CRD. */
export function refusalsOf(crd: JsonObject, previous?: JsonObject): readonly string[] {
  const result = admitCrd(crd, previous);
  if (result.ok) return [];
  return result.error.kind === "invalid" ? result.error.causes.map(lineOf) : [result.error.message];
}

export function typeOf(crd: JsonObject, version = "v1"): CustomResourceType {
  const type = customResourceTypes(admitted(crd).object as unknown as KubeObject).find((one) => one.resource.version === version);
  if (type === undefined) throw new Error(`${version} is not served`);
  return type;
}

export function widget(spec: Json | undefined, more: JsonObject = {}): JsonObject {
  return { apiVersion: `${GROUP}/v1`, kind: "Widget", metadata: { name: "x" }, ...(spec === undefined ? {} : { spec }), ...more };
}

export type Outcome =
  | { readonly status: 400; readonly message: string }
  | { readonly status: 422; readonly causes: readonly FieldCause[] }
  | { readonly status: 200; readonly object: JsonObject; readonly findings: readonly string[] };

export function create(type: CustomResourceType, raw: Json): Outcome {
  const decoded = type.decode(raw);
  if (!decoded.ok) return { status: 400, message: decoded.error };
  const placed = withMetadata(type.prepareForCreate(type.applyDefaults(decoded.value.object)), place(type));
  return outcome(placed, type.validate(placed, undefined, undefined), decoded.value.findings);
}

export function update(type: CustomResourceType, previous: JsonObject, raw: JsonObject, subresource?: string): Outcome {
  const decoded = type.decode(raw);
  if (!decoded.ok) return { status: 400, message: decoded.error };
  const old = withMetadata(previous as unknown as KubeObject, { ...place(type), resourceVersion: "1" });
  const placed = withMetadata(type.applyDefaults(decoded.value.object), { ...place(type), resourceVersion: "1" });
  const next = type.prepareForUpdate(placed, old, subresource);
  return outcome(next, type.validate(next, old, subresource), decoded.value.findings);
}

function place(type: CustomResourceType): JsonObject {
  return type.resource.namespaced ? { namespace: "default" } : {};
}

function withMetadata(object: KubeObject, fields: JsonObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...fields } };
}

function outcome(object: KubeObject, causes: readonly FieldCause[], findings: readonly string[]): Outcome {
  return causes.length > 0 ? { status: 422, causes } : { status: 200, object: object as unknown as JsonObject, findings };
}

export function lineOf(cause: FieldCause): string {
  return `${cause.field}: ${cause.detail}`;
}

/** "field: detail" of a refused object; empty when it was accepted. */
export function linesOf(result: Outcome): readonly string[] {
  if (result.status === 400) return [result.message];
  return result.status === 422 ? result.causes.map(lineOf) : [];
}
