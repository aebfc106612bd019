/** Turns an error response to an apply into a failure that users can act on. */
import { describeObject, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
import { ADOPT_ANNOTATION } from "../identity.ts";
import type { ApplyFailure, ApplyFailureKind } from "./change-set.ts";

const UNREACHABLE: ReadonlySet<KubeError["kind"]> = new Set([
  "timeout",
  "network",
  "unavailable",
  "cancelled",
  "too-many-requests",
  "server-error",
  "protocol",
]);

export function failureOf(object: KubeObject, error: KubeError): ApplyFailure {
  const managers = managersIn(error);
  const retry = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  if (managers.length > 0) {
    const fields = (error.status?.details?.causes ?? []).flatMap((cause) => (cause.field === undefined ? [] : [cause.field]));
    const message = `${managers.join(", ")} owns ${fields.join(", ")}; let it go there or leave the field to it`;
    return { object: describeObject(object), kind: "conflict", message, managers, ...retry };
  }
  const kind: ApplyFailureKind = UNREACHABLE.has(error.kind) ? "unreachable" : error.kind === "conflict" ? "conflict" : "rejected";
  return { object: describeObject(object), kind, message: error.message, ...retry };
}

/** The API server names the other manager only inside the cause's sentence; there is no field for it. */
function managersIn(error: KubeError): readonly string[] {
  const causes = (error.status?.details?.causes ?? []).filter((cause) => cause.reason === "FieldManagerConflict");
  const names = causes.flatMap((cause) => /^conflict with "([^"]+)"/.exec(cause.message ?? "")?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

/** Kubernetes creates these itself, and again when they are deleted. "*": in every namespace. */
const SYSTEM_OBJECTS: ReadonlySet<string> = new Set([
  "Service default/kubernetes",
  "EndpointSlice default/kubernetes",
  "Endpoints default/kubernetes",
  "ServiceAccount */default",
  "ConfigMap */kube-root-ca.crt",
]);

/** Why an object with that name cannot be applied. Deleting it is suggested only where that helps and is harmless. */
export function describeForeign({ kind, metadata }: KubeObject): string {
  const { name, namespace = "" } = metadata;
  if ([namespace, "*"].some((where) => SYSTEM_OBJECTS.has(`${kind} ${where}/${name}`)))
    return "it belongs to Kubernetes itself and must stay; choose another name";
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller !== undefined) return `it exists already and ${controller.kind} ${controller.name} controls it; choose another name`;
  return `it exists already and Lattice did not make it; delete it, or annotate it with ${ADOPT_ANNOTATION}=true to hand it over`;
}

export function notOurs(object: KubeObject, why: string): ApplyFailure {
  return { object: describeObject(object), kind: "not-ours", message: why };
}
