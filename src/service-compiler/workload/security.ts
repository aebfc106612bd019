/** What a container may do when it says nothing: as little as the "restricted" Pod Security Standard asks for. What it says, counts. */
import type { JsonObject } from "#kube";
import type { ContainerSpec } from "../rendering/render-service.ts";

/** With or without the prefix that some write. */
const ADMIN = ["SYS_ADMIN", "CAP_SYS_ADMIN"];

export function securityContextFor(given: ContainerSpec["securityContext"] = {}): JsonObject {
  const { capabilities, ...rest } = given;
  const privileged = given.privileged === true;
  const root = given.runAsUser === 0;
  return {
    // the API refuses a container that is as good as root and may not gain rights
    ...(privileged || ADMIN.some((name) => capabilities?.add?.includes(name) === true) ? {} : { allowPrivilegeEscalation: false }),
    ...(root ? {} : { runAsNonRoot: true }),
    ...(privileged ? {} : { capabilities: { drop: ["ALL"], ...(capabilities as JsonObject | undefined) } }),
    seccompProfile: { type: privileged ? "Unconfined" : "RuntimeDefault" },
    ...(rest as JsonObject),
  };
}
