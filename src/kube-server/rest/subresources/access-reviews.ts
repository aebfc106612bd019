/** The three access reviews: SubjectAccessReview, LocalSubjectAccessReview and SelfSubjectAccessReview. */
import { ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import type { RequestContext } from "../../protocol/core.ts";
import type { User } from "../../protocol/request.ts";
import { badRequest, invalid, type Failure } from "../../protocol/status.ts";
import { selectorCauses, selectorsIgnored } from "./review-selectors.ts";
import type { Access } from "../../protocol/auth-port.ts";

type Spec = JsonObject;

export function subjectAccess(call: RequestContext, asked: JsonObject): Result<JsonObject, Failure> {
  const spec = objectAt(asked, "spec");
  const causes = [...shapeCauses(spec), ...subjectCauses(spec), ...selectorCauses(spec), ...metadataCauses(asked, "must be empty", false)];
  return causes.length > 0 ? refused(causes) : decided(call, asked, subjectOf(spec));
}

export function ownAccess(call: RequestContext, asked: JsonObject): Result<JsonObject, Failure> {
  const spec = objectAt(asked, "spec");
  const causes = [...shapeCauses(spec), ...selectorCauses(spec), ...metadataCauses(asked, "must be empty", false)];
  return causes.length > 0 ? refused(causes) : decided(call, asked, call.request.user);
}

export function localAccess(call: RequestContext, asked: JsonObject): Result<JsonObject, Failure> {
  const spec = objectAt(asked, "spec");
  const causes = [
    ...shapeCauses(spec),
    ...subjectCauses(spec),
    ...selectorCauses(spec),
    ...metadataCauses(asked, "must be empty except for namespace", true),
    ...localCauses(spec, textAt(asked, "metadata", "namespace")),
  ];
  if (causes.length > 0) return refused(causes);
  if ((call.target.namespace ?? "") === "") return badRequest("namespace is required on this type: ");
  return decided(call, asked, subjectOf(spec));
}

/** The kind is empty in a real server's message. */
function refused(causes: readonly FieldCause[]): Result<never, Failure> {
  return invalid({ group: "authorization.k8s.io", kind: "", name: "" }, causes);
}

function decided(call: RequestContext, { metadata = {}, spec = {} }: JsonObject, user: User): Result<JsonObject, Failure> {
  const { allowed, reason } = call.core.authorize(user, accessIn(spec));
  const evaluationError = selectorsIgnored(spec);
  const status = { allowed, ...(reason === "" ? {} : { reason }), ...(evaluationError === "" ? {} : { evaluationError }) };
  return ok({ metadata, spec, status });
}

function accessIn(spec: unknown): Access {
  const path = field(spec, "nonResourceAttributes");
  if (isJsonObject(path)) return { kind: "path", verb: textAt(path, "verb"), path: textAt(path, "path") };
  const text = (name: string) => textAt(spec, "resourceAttributes", name);
  const orNothing = (name: string) => (text(name) === "" ? undefined : text(name));
  return {
    kind: "resource",
    verb: text("verb"),
    group: text("group"),
    version: text("version") === "" ? "*" : text("version"),
    resource: text("resource"),
    subresource: orNothing("subresource"),
    namespace: orNothing("namespace"),
    name: text("name"),
  };
}

function subjectOf(spec: Spec): User {
  const groups = field(spec, "groups");
  const texts = (value: unknown) => (Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []);
  const extra = new Map(Object.entries(objectAt(spec, "extra")).map(([key, values]) => [key, texts(values)]));
  return { name: textAt(spec, "user"), uid: textAt(spec, "uid"), groups: texts(groups), extra };
}

function shapeCauses(spec: Spec): readonly FieldCause[] {
  const [resource, path] = [field(spec, "resourceAttributes"), field(spec, "nonResourceAttributes")];
  if (isJsonObject(resource) && isJsonObject(path)) {
    return [cause("spec.nonResourceAttributes", goPath(path), "cannot be specified in combination with resourceAttributes")];
  }
  if (isJsonObject(resource) || isJsonObject(path)) return [];
  return [cause("spec.resourceAttributes", "null", "exactly one of nonResourceAttributes or resourceAttributes must be specified")];
}

function subjectCauses(spec: Spec): readonly FieldCause[] {
  const groups = field(spec, "groups");
  const named = textAt(spec, "user") !== "" || (Array.isArray(groups) && groups.length > 0);
  return named ? [] : [cause("spec.user", '""', "at least one of user or group must be specified")];
}

/** managedFields do not count, because the server sets them. */
function metadataCauses(asked: JsonObject, why: string, local: boolean): readonly FieldCause[] {
  const metadata = objectAt(asked, "metadata");
  const own = Object.keys(metadata).filter((name) => name !== "managedFields" && !(local && name === "namespace"));
  return own.length === 0 ? [] : [cause("metadata", JSON.stringify(metadata), why)];
}

function localCauses(spec: Spec, namespace: string): readonly FieldCause[] {
  const [resource, path] = [field(spec, "resourceAttributes"), field(spec, "nonResourceAttributes")];
  const asked = textAt(resource, "namespace");
  return [
    ...(isJsonObject(resource) && asked !== namespace
      ? [cause("spec.resourceAttributes.namespace", JSON.stringify(asked), "must match metadata.namespace")]
      : []),
    ...(isJsonObject(path) ? [cause("spec.nonResourceAttributes", goPath(path), "disallowed on this kind of request")] : []),
  ];
}

/** The internal Go type has no JSON names, so the message has Go's field names. */
function goPath(path: JsonObject): string {
  return JSON.stringify({ Path: textAt(path, "path"), Verb: textAt(path, "verb") });
}

function cause(name: string, shown: string, why: string): FieldCause {
  return { reason: "FieldValueInvalid", field: name, detail: `Invalid value: ${shown}: ${why}` };
}

function objectAt(value: unknown, name: string): JsonObject {
  const found = field(value, name);
  return isJsonObject(found) ? found : {};
}

function textAt(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === "string" ? found : "";
}
