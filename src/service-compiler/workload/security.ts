/** What a container may do by default: as little as the Pod Security Standard "restricted" asks for. Fields that it sets replace the default. */
import type { JsonObject } from "#kube";
import type { ContainerSpec } from "../rendering/render-service.ts";

/** With or without the prefix that some write. */
const ADMIN = ["SYS_ADMIN", "CAP_SYS_ADMIN"];

/** `podUser`: the user of the pod, for containers that name none. */
export function securityContextFor(given: ContainerSpec["securityContext"] = {}, podUser?: number): JsonObject {
  const { capabilities, ...rest } = given;
  const privileged = given.privileged === true;
  const root = (given.runAsUser ?? podUser) === 0;
  return {
    // the API refuses a container that is as good as root and may not gain rights
    ...(privileged || ADMIN.some((name) => capabilities?.add?.includes(name) === true) ? {} : { allowPrivilegeEscalation: false }),
    ...(root ? {} : { runAsNonRoot: true }),
    ...(privileged ? {} : { capabilities: { drop: ["ALL"], ...(capabilities as JsonObject | undefined) } }),
    seccompProfile: { type: privileged ? "Unconfined" : "RuntimeDefault" },
    ...(rest as JsonObject),
  };
}
