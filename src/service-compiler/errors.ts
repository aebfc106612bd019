/** Errors of a service that its schema cannot detect. Each has the field, and a stable, searchable first line. */
import { didYouMean } from "#crds";
import { PROVISIONER_LABEL, type ResourceError } from "./provisioners/index.ts";

export type CompileError =
  | { readonly kind: "template-variable"; readonly container: string; readonly variable: string; readonly message: string }
  | { readonly kind: "template-file"; readonly container: string; readonly path: string; readonly message: string }
  | { readonly kind: "invalid-file-mount"; readonly container: string; readonly path: string; readonly message: string }
  | { readonly kind: "invalid-volume-mount"; readonly container: string; readonly path: string; readonly message: string }
  /** `place`: the field, in any part of the spec. */
  | { readonly kind: "invalid-field"; readonly place: string; readonly message: string }
  /** Follows the last error that is listed. */
  | { readonly kind: "not-listed" }
  /** `place`: the field that uses what is not granted. */
  | { readonly kind: "not-granted"; readonly place: string; readonly message: string }
  | ResourceError;

/** A probable mistake in a service that compiles. `place`: the field. */
export type Warning = { readonly place: string; readonly message: string };

/** @example describeWarning({ place: "spec.service.ports.dns", message: "is UDP" }) // "spec.service.ports.dns: is UDP" */
export function describeWarning({ place, message }: Warning): string {
  return `${place}: ${message}`;
}

/** The field that is wrong. */
export function placeOf(error: CompileError): string {
  switch (error.kind) {
    case "template-variable":
      return `spec.containers.${error.container}.variables${/^\w+$/.test(error.variable) ? `.${error.variable}` : `["${error.variable}"]`}`;
    case "template-file":
    case "invalid-file-mount":
      return `spec.containers.${error.container}.files["${error.path}"]`;
    case "invalid-volume-mount":
      return `spec.containers.${error.container}.volumes["${error.path}"]`;
    case "not-granted":
    case "invalid-field":
      return error.place;
    case "circular-dependency":
      return error.of === "containers" ? "spec.containers" : "spec.resources";
    case "not-listed":
      return "spec";
    default:
      return `spec.resources.${error.name}`;
  }
}

/** The same, including the param if known: `spec.resources.db.params.port`. */
export function fieldOf(error: CompileError): string {
  if (error.kind === "unsupported-resource-type") return `${placeOf(error)}.type`;
  return error.kind === "provisioner" && error.field !== undefined ? `${placeOf(error)}.${error.field}` : placeOf(error);
}

export function describeCompileError(error: CompileError): string {
  switch (error.kind) {
    case "template-variable":
      return `template error in container '${error.container}' variable '${error.variable}': ${error.message}`;
    case "template-file":
      return `template error in container '${error.container}' file '${error.path}': ${error.message}`;
    case "invalid-file-mount":
      return `invalid file mount at '${error.path}': ${error.message}`;
    case "invalid-volume-mount":
      return `invalid volume mount at '${error.path}': ${error.message}`;
    case "resource-not-found":
      return `resource '${error.name}' of type '${error.type}' not found\n${whatIsMissing(error.type, error.id)}`;
    case "unsupported-resource-type": {
      const near = didYouMean(error.type, error.known);
      return `no provisioner registered for resource type '${error.type}'\nresource '${error.name}' uses it${near}; there are ${error.known.join(", ")}\na ConfigMap with the label ${PROVISIONER_LABEL} declares another type`;
    }
    case "not-granted":
    case "invalid-field":
    case "resource-not-granted":
      return error.message;
    case "provisioner":
      return `resource '${error.name}' provisioner error: ${error.message}`;
    case "not-listed":
      return "further mistakes are not listed; correct these first";
    case "circular-dependency":
      return `circular dependency detected: ${error.path.join(" -> ")}`;
  }
}

/** Limit of errors of one service, so that they fit into a status, an event and a terminal. */
export const MOST_ERRORS = 50;
const MOST_WARNINGS = 50;
const LONGEST_MESSAGE = 1_024;

/** Limits the number and the length of errors: messages quote user input. */
export function boundErrors(errors: readonly CompileError[]): readonly CompileError[] {
  const shown = errors
    .slice(0, MOST_ERRORS)
    .map((error) => ("message" in error && error.message.length > LONGEST_MESSAGE ? { ...error, message: cut(error.message) } : error));
  return errors.length > MOST_ERRORS ? [...shown, { kind: "not-listed" }] : shown;
}

export function boundWarnings(warnings: readonly Warning[]): readonly Warning[] {
  return warnings
    .slice(0, MOST_WARNINGS)
    .map((warning) => (warning.message.length > LONGEST_MESSAGE ? { ...warning, message: cut(warning.message) } : warning));
}

function cut(text: string): string {
  return `${text.slice(0, LONGEST_MESSAGE)}…`;
}

function whatIsMissing(type: string, id: string): string {
  const kind = type === "external-service" ? "LatticeExternalService" : "LatticeService";
  return `a template reads its outputs, and there is no ${kind} ${id}; add it, or correct the id`;
}
