/** Violations of the pod security level of the environment, each with the field and the level that it needs. */
import { field, fieldAt, type JsonObject } from "#kube";
import type { CompileError } from "../errors.ts";
import { podSecurityViolations, type Grants, type PodSecurityViolation } from "../grants/index.ts";
import type { PodParts } from "./deployment.ts";

export function securityErrors({ initContainers, containers, securityContext }: PodParts, grants: Grants): readonly CompileError[] {
  const isRoot = fieldAt(securityContext, "runAsUser") === 0;
  const ofPod = isRoot && grants.podSecurity === "restricted" ? [levelError("spec.securityContext.runAsUser", POD_ROOT, grants)] : [];
  const ofContainers = [...initContainers, ...containers].flatMap((container) =>
    podSecurityViolations(container, grants.podSecurity)
      // a consequence of the user of the pod, which is reported there
      .filter(({ field }) => !(isRoot && field === "securityContext.runAsNonRoot"))
      .map((violation) => levelError(`spec.containers.${nameOf(container)}.${violation.field}`, violation, grants)),
  );
  return [...ofPod, ...ofContainers];
}

type Violation = Pick<PodSecurityViolation, "message" | "needs">;

const POD_ROOT: Violation = { message: "must not be 0", needs: "baseline" };

/** The error for a violation, with the level that allows it. */
export function levelError(place: string, { message, needs }: Violation, { environment, podSecurity }: Grants): CompileError {
  const where = environment === undefined ? "a LatticeEnvironment that the service names" : `LatticeEnvironment ${environment}`;
  return {
    kind: "not-granted",
    place,
    message: `${message} at pod security level ${podSecurity}\nchange it, or set spec.isolation.podSecurity to ${needs} in ${where}`,
  };
}

function nameOf(container: JsonObject): string {
  const name = field(container, "name");
  return typeof name === "string" ? name : "";
}
