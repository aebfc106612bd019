/** The default security context of a container: the Pod Security Standard "restricted". Fields that it sets replace the default. */
import type { JsonObject } from "#kube";
import type { ContainerSpec } from "../rendering/render-service.ts";

/** Capability names with or without the prefix CAP_. */
const ADMIN = ["SYS_ADMIN", "CAP_SYS_ADMIN"];

/** `podUser`: the user of the pod, for containers without one. */
export function securityContextFor(given: ContainerSpec["securityContext"] = {}, podUser?: number): JsonObject {
  const { capabilities, ...rest } = given;
  const privileged = given.privileged === true;
  const root = (given.runAsUser ?? podUser) === 0;
  return {
    // the API refuses allowPrivilegeEscalation: false together with privileged or CAP_SYS_ADMIN
    ...(privileged || ADMIN.some((name) => capabilities?.add?.includes(name) === true) ? {} : { allowPrivilegeEscalation: false }),
    ...(root ? {} : { runAsNonRoot: true }),
    ...(privileged ? {} : { capabilities: { drop: ["ALL"], ...(capabilities as JsonObject | undefined) } }),
    seccompProfile: { type: privileged ? "Unconfined" : "RuntimeDefault" },
    ...(rest as JsonObject),
  };
}
