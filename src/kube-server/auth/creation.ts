/**
 * PUT and apply may create an object. The user then needs `create` as well: the gate authorized only `update` or `patch`, because it does not
 * read the store.
 */
import { ok } from "#base";
import type { AdmissionContext, AdmissionPlugin } from "../protocol/admission-port.ts";
import { forbiddenAccess } from "./forbidden.ts";
import type { Access } from "../protocol/auth-port.ts";

export function creationChecks({ authorize }: AdmissionContext): AdmissionPlugin {
  return {
    name: "CreateAuthorization",
    validate: ({ operation, verb, type, subresource, namespace, name, user }) => {
      if (operation !== "CREATE" || subresource !== undefined || verb === undefined || verb === "create") return ok(undefined);
      const { group, version, plural } = type.resource;
      const access: Access = { kind: "resource", verb: "create", group, version, resource: plural, subresource, namespace, name };
      const { allowed, reason } = authorize(user, access);
      return allowed ? ok(undefined) : forbiddenAccess(user, access, reason);
    },
  };
}
