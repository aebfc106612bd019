/**
 * Failures with the messages of a real server, for an action that did not reach it. Operators match on reasons and codes, and some on
 * messages.
 */
import { groupResourceOf, type Status } from "#kube";
import type { KubeErrorKind } from "#kube-client";
import type { Action } from "../actions/index.ts";

/**
 * How to fail: a kind of error, or the whole Status. "network" breaks the connection.
 *
 * @example failWith({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 418, message: "short and stout" })
 */
export type Failing = Exclude<KubeErrorKind, "cancelled" | "protocol"> | Status;

/**
 * Details of the error in addition to the kind.
 *
 * @example failWith("forbidden", { message: "exceeded quota: compute" })
 */
export type FailureDetails = { readonly message?: string; readonly retryAfterSeconds?: number };

type FailureResponse = { readonly code: number; readonly reason: string; readonly message: (subject: Subject, action: Action) => string };
type Subject = { readonly resource: string; readonly name: string };

const quoted = ({ resource, name }: Subject) => `${resource} "${name}"`;

const FAILURES: Readonly<Record<Exclude<Failing, Status>, FailureResponse>> = {
  "bad-request": { code: 400, reason: "BadRequest", message: () => "the server rejected our request for an unknown reason" },
  unauthorized: { code: 401, reason: "Unauthorized", message: () => "Unauthorized" },
  forbidden: {
    code: 403,
    reason: "Forbidden",
    message: (subject, { user, verb, namespace }) =>
      `${quoted(subject)} is forbidden: User "${user.name}" cannot ${verb === "apply" ? "patch" : verb} resource "${subject.resource.split(".")[0]}" in API group "${subject.resource.split(".").slice(1).join(".")}" ${namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`}`,
  },
  "not-found": { code: 404, reason: "NotFound", message: (subject) => `${quoted(subject)} not found` },
  "already-exists": { code: 409, reason: "AlreadyExists", message: (subject) => `${quoted(subject)} already exists` },
  conflict: {
    code: 409,
    reason: "Conflict",
    message: (subject) =>
      `Operation cannot be fulfilled on ${quoted(subject)}: the object has been modified; please apply your changes to the latest version and try again`,
  },
  gone: { code: 410, reason: "Expired", message: () => "The resourceVersion for the provided list is too old." },
  "unsupported-media-type": {
    code: 415,
    reason: "UnsupportedMediaType",
    message: () => "the body of the request was in an unknown format - accepted media types include: application/json",
  },
  invalid: { code: 422, reason: "Invalid", message: (subject) => `${quoted(subject)} is invalid` },
  "too-many-requests": { code: 429, reason: "TooManyRequests", message: () => "Too many requests, please try again later." },
  "server-error": { code: 500, reason: "InternalError", message: () => "Internal error occurred: an interceptor of this test" },
  unavailable: { code: 503, reason: "ServiceUnavailable", message: () => "the server is currently unable to handle the request" },
  timeout: { code: 504, reason: "Timeout", message: () => "Timeout: request did not complete within the allotted timeout" },
  network: { code: 500, reason: "", message: () => "" },
};

export function statusOf(failing: Failing, action: Action, { message, retryAfterSeconds }: FailureDetails): Status {
  if (typeof failing !== "string") return failing;
  const { code, reason, message: defaultMessage } = FAILURES[failing];
  const { resource } = action;
  const subject = { resource: resource === undefined ? action.path : groupResourceOf(resource), name: action.name ?? "" };
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: message ?? defaultMessage(subject, action),
    reason,
    details: {
      ...(action.name === undefined ? {} : { name: action.name }),
      ...(resource === undefined || resource.group === "" ? {} : { group: resource.group }),
      ...(resource === undefined ? {} : { kind: resource.plural }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    code,
  };
}
