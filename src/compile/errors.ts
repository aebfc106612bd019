/** What keeps a service from being compiled, as people read it. */
import { describeCompileError, placeOf, type CompileError } from "#service-compiler";
import { describePlacementError, type PlacementError } from "./placement.ts";

export type ServiceError = CompileError | PlacementError | { readonly kind: "name-taken"; readonly namespace: string; readonly by: string };

export function describeServiceError(error: ServiceError): string {
  switch (error.kind) {
    case "target-not-allowed":
    case "system-namespace":
      return describePlacementError(error);
    case "name-taken":
      return `${error.by} has the same name in namespace ${error.namespace} and came first\nrename one of the two`;
    default:
      return describeCompileError(error);
  }
}

export function placeOfError(error: ServiceError): string {
  switch (error.kind) {
    case "target-not-allowed":
    case "system-namespace":
      return "spec.environment";
    case "name-taken":
      return "metadata.name";
    default:
      return placeOf(error);
  }
}
