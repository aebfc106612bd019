/**
 * Error responses with the exact messages of kube-apiserver: clients match on reasons, people search for messages.
 *
 * A failure is the Status itself; its `code` is the HTTP status. Everything in rest/ returns it as the error of a Result.
 */
import { err, type Err } from "#base";
import { groupResourceOf, type KubeObject, type Resource, type Status, type StatusCause } from "#kube";
import type { FieldCause, ResourceType } from "../resource-type.ts";

export type Failure = Status & { readonly code: number };
type Details = NonNullable<Status["details"]>;
type Subject = { readonly resource: Resource; readonly name: string };

type Parts = { readonly code: number; readonly reason?: string; readonly message: string; readonly details?: Details };

/** Fields in the order in which Go writes them. */
export function failure({ code, reason, message, details }: Parts): Failure {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

export function refuse(parts: Parts): Err<Failure> {
  return err(failure(parts));
}

export function badRequest(message: string): Err<Failure> {
  return refuse({ code: 400, reason: "BadRequest", message });
}

/** A 500 without a reason, only with a message. */
export function errorWithoutReason(message: string): Err<Failure> {
  return refuse({ code: 500, message });
}

export function internalError(message: string): Err<Failure> {
  return refuse({ code: 500, reason: "InternalError", message: `Internal error occurred: ${message}`, details: { causes: [{ message }] } });
}

/** No such path in a group that exists. */
export function unknownResource(): Err<Failure> {
  return refuse({ code: 404, reason: "NotFound", message: "the server could not find the requested resource", details: {} });
}

export function methodNotAllowed(): Err<Failure> {
  const message = "the server does not allow this method on the requested resource";
  return refuse({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

/** The same error from the handlers of custom resources. */
export function methodNotSupported({ group, plural }: { readonly group: string; readonly plural: string }, verb: string): Err<Failure> {
  const message = `${verb} is not supported on resources of kind "${group === "" ? plural : `${plural}.${group}`}"`;
  return refuse({ code: 405, reason: "MethodNotAllowed", message, details: { ...(group === "" ? {} : { group }), kind: plural } });
}

export function notFound(subject: Subject): Err<Failure> {
  return refuse({ code: 404, reason: "NotFound", message: `${textOf(subject)} not found`, details: detailsOf(subject) });
}

export function alreadyExists(subject: Subject, prefix = ""): Err<Failure> {
  const message = `${prefix}${textOf(subject)} already exists`;
  return refuse({ code: 409, reason: "AlreadyExists", message, details: detailsOf(subject) });
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(subject: Subject, why: string): Err<Failure> {
  const message = `Operation cannot be fulfilled on ${textOf(subject)}: ${why}`;
  return refuse({ code: 409, reason: "Conflict", message, details: detailsOf(subject) });
}

export function forbidden(subject: Subject, why: string, causes?: readonly StatusCause[]): Err<Failure> {
  const details = causes === undefined ? detailsOf(subject) : { ...detailsOf(subject), causes };
  const what = subject.name === "" ? groupResourceOf(subject.resource) : textOf(subject);
  return refuse({ code: 403, reason: "Forbidden", message: `${what} is forbidden: ${why}`, details });
}

export function unauthorized(): Failure {
  return failure({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

export function unsupportedMediaType(accepted: readonly string[]): Err<Failure> {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return refuse({ code: 415, reason: "UnsupportedMediaType", message });
}

export function notAcceptable(accepted: readonly string[]): Err<Failure> {
  const message = `only the following media types are accepted: ${accepted.join(", ")}`;
  return refuse({ code: 406, reason: "NotAcceptable", message });
}

export function tooLarge(message: string): Err<Failure> {
  return refuse({ code: 413, reason: "RequestEntityTooLarge", message: `Request entity too large: ${message}` });
}

export function expired(message: string): Failure {
  return failure({ code: 410, reason: "Expired", message });
}

/** A list at a future revision: the client is asked to retry. */
export function tooLargeResourceVersion(asked: number, current: number): Err<Failure> {
  return refuse({
    code: 504,
    reason: "Timeout",
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
  });
}

export type InvalidSubject = { readonly group: string; readonly kind: string; readonly name: string };

/**
 * The group and kind in a validation error: for a custom resource those of the object, for a built-in one the group in which it is stored,
 * which may differ from the requested group (Events).
 */
export function subjectOf({ custom, collection }: ResourceType, { apiVersion, kind, metadata }: KubeObject): InvalidSubject {
  const group = custom ? apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/"))) : collection.slice(0, collection.indexOf("/"));
  return { group, kind, name: metadata.name ?? "" };
}

/** More causes would not help to correct an object. */
const MAX_CAUSES = 1_000;

export function invalid({ group, kind, name }: InvalidSubject, all: readonly FieldCause[]): Err<Failure> {
  const causes = all.slice(0, MAX_CAUSES);
  const lines = [...new Set(causes.map((cause) => (cause.field === "" ? cause.detail : `${cause.field}: ${cause.detail}`)))];
  if (all.length > causes.length) lines.push(`and ${all.length - causes.length} more errors`);
  const list = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  return refuse({
    code: 422,
    reason: "Invalid",
    message: `${group === "" ? kind : `${kind}.${group}`} "${name}" is invalid: ${list}`,
    details: {
      ...(name === "" ? {} : { name }),
      ...(group === "" ? {} : { group }),
      ...(kind === "" ? {} : { kind }),
      causes: causes.map((cause) => ({
        reason: cause.reason,
        message: cause.detail,
        ...(cause.field === "" ? {} : { field: cause.field }),
      })),
    },
  });
}

function textOf({ resource, name }: Subject): string {
  return `${groupResourceOf(resource)} "${name}"`;
}

export function detailsOf({ resource, name }: Subject): Details {
  return { ...(name === "" ? {} : { name }), ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.plural };
}

/** The response of a DELETE that returns no object. */
export function success(details?: Details, code?: number): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    ...(details === undefined ? {} : { details }),
    ...(code === undefined ? {} : { code }),
  };
}
