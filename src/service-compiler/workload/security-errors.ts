/** Containers that do more than the pod security level of their environment allows, each with the field and the level that it needs. */
import { field, type JsonObject } from "#kube";
import type { CompileError } from "../errors.ts";
import { podSecurityViolations, type Grants } from "../grants/index.ts";
import type { PodParts } from "./deployment.ts";

export function securityErrors({ initContainers, containers }: PodParts, grants: Grants): readonly CompileError[] {
  return [...initContainers, ...containers].flatMap((container) =>
    podSecurityViolations(container, grants.podSecurity).map(({ field, message, needs }): CompileError => {
      const where =
        grants.environment === undefined ? "a LatticeEnvironment that the service names" : `LatticeEnvironment ${grants.environment}`;
      return {
        kind: "not-granted",
        place: `spec.containers.${nameOf(container)}.${field}`,
        message: `${message} at pod security level ${grants.podSecurity}\nchange it, or set spec.isolation.podSecurity to ${needs} in ${where}`,
      };
    }),
  );
}

function nameOf(container: JsonObject): string {
  const name = field(container, "name");
  return typeof name === "string" ? name : "";
}
