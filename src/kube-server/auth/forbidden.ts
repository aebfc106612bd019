/** The error for a user without permission, with kube-apiserver's message. */
import type { Err } from "#base";
import { refuse, type Failure } from "../protocol/status.ts";
import type { User } from "../protocol/request.ts";
import type { Access } from "../protocol/auth-port.ts";

export function forbiddenAccess(user: User, access: Access, reason: string): Err<Failure> {
  const why = `${safe(sentence(user, access))}${reason === "" ? "" : `: ${reason}`}`;
  if (access.kind === "path") return refuse({ code: 403, reason: "Forbidden", message: `forbidden: ${why}`, details: {} });
  const { group, resource, name } = access;
  const plural = group === "" ? resource : `${resource}.${group}`;
  const subject = name === "" ? plural : `${plural} ${JSON.stringify(name)}`;
  const details = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource };
  return refuse({ code: 403, reason: "Forbidden", message: `${subject} is forbidden: ${why}`, details });
}

function sentence({ name: who }: User, access: Access): string {
  const user = JSON.stringify(who);
  if (access.kind === "path") return `User ${user} cannot ${access.verb} path ${JSON.stringify(access.path)}`;
  const { verb, resource, subresource, group, namespace } = access;
  const what = JSON.stringify(subresource === undefined ? resource : `${resource}/${subresource}`);
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `User ${user} cannot ${verb} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}

/** Paths come from the client, and the response may be shown in a browser. */
function safe(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
