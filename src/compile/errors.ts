/** The errors of a service that cannot be compiled, and their messages. */
import { describeCompileError, fieldOf, placeOf, type CompileError } from "#service-compiler";
import { describeWorkloadError, placeOfWorkloadError, type WorkloadError } from "./patch-target.ts";
import { describePlacementError, type PlacementError } from "./placement.ts";

/** An error that prevents a service from being compiled. */
export type ServiceError =
  | CompileError
  | PlacementError
  | WorkloadError
  | { readonly kind: "name-taken"; readonly namespace: string; readonly by: string }
  | { readonly kind: "name-reserved"; readonly name: string; readonly for: string }
  | ObjectTaken;

/** `object`: `Secret api-main-secrets`. `flagger`: Flagger creates it for a canary. */
export type ObjectTaken = {
  readonly kind: "object-taken";
  readonly object: string;
  readonly by: string;
  readonly flagger?: { readonly canary: string; readonly other: string };
};

/**
 * The error as text; the first line is stable and searchable, the rest explains how to fix it.
 *
 * @example for (const [key, errors] of compileAll(world).errors) for (const error of errors) console.error(key, describeServiceError(error));
 */
export function describeServiceError(error: ServiceError): string {
  switch (error.kind) {
    case "target-not-allowed":
    case "system-namespace":
    case "reserved-namespace":
      return describePlacementError(error);
    case "name-taken":
      return `${error.by} has the same name in namespace ${error.namespace} and takes precedence\nrename one of the two`;
    case "name-reserved":
      return `the name ${error.name} is reserved for ${error.for}\nrename the service`;
    case "object-taken":
      if (error.flagger !== undefined) return describeFlaggerName(error.object, error.flagger);
      return `${error.object} would also be created for ${error.by}, which takes precedence\n${remedyFor(error.object)}`;
    case "workload-namespace":
    case "workload-claimed":
    case "workload-owned":
    case "workload-copy":
    case "workload-not-shared":
    case "shared-service-account":
      return describeWorkloadError(error);
    default:
      return describeCompileError(error);
  }
}

/**
 * The field that is wrong: `spec.containers.main.variables.DB_HOST`.
 *
 * @example console.error(`${placeOfError(error)}: ${describeServiceError(error)}`);
 */
export function placeOfError(error: ServiceError): string {
  switch (error.kind) {
    case "target-not-allowed":
    case "system-namespace":
    case "reserved-namespace":
      return "spec.environment";
    case "name-taken":
    case "name-reserved":
    case "object-taken":
      return "metadata.name";
    case "workload-namespace":
    case "workload-claimed":
    case "workload-owned":
    case "workload-copy":
    case "workload-not-shared":
    case "shared-service-account":
      return placeOfWorkloadError(error);
    default:
      return placeOf(error);
  }
}

/** The same, including the param if known: for the position in a file. */
export function fieldOfError(error: ServiceError): string {
  return error.kind === "provisioner" || error.kind === "unsupported-resource-type" ? fieldOf(error) : placeOfError(error);
}

/**
 * The missing object whose creation fixes the error; undefined: the service itself must change.
 *
 * @example absentObject({ kind: "resource-not-found", name: "api", type: "service", id: "shop/api" }) // "service shop/api"
 */
export function absentObject(error: ServiceError): string | undefined {
  if (error.kind === "target-not-allowed") return error.absent === true ? `LatticeEnvironment ${error.environment}` : undefined;
  if (error.kind !== "resource-not-found") return undefined;
  return `${error.type === "external-service" ? "external service" : "service"} ${error.id}`;
}

/** Flagger's copies of ConfigMaps and Secrets end in -primary too, but no name from Lattice does, so only services can conflict. */
function describeFlaggerName(object: string, { canary, other }: NonNullable<ObjectTaken["flagger"]>): string {
  const name = object.slice(object.indexOf(" ") + 1);
  const what = `Flagger makes Deployment and Service ${name} beside ${canary}, whose deploy.strategy is canary`;
  return `${what}\nrename ${other}, or give ${canary} another strategy`;
}

function remedyFor(object: string): string {
  if (object.startsWith("PersistentVolumeClaim ")) return "leave out params.size of the volume here, and it is used as the other makes it";
  return "rename one of the two services, or its container or resource";
}
