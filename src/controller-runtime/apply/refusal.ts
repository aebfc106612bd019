/** Turns what an API server answered to an apply into a failure that people can act on. */
import { describeObject, type KubeObject } from "#kube";
import type { KubeError } from "#kube-client";
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

export function notOurs(object: KubeObject, why: string): ApplyFailure {
  return { object: describeObject(object), kind: "not-ours", message: why };
}
