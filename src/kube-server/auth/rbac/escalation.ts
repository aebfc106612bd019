/**
 * Prevents privilege escalation: the writer of a Role or a binding must hold what it grants, or be allowed to `escalate` or `bind` it.
 *
 * A real server does this in the storage of these kinds, after admission; so this is the last admission plugin.
 */
import { ok, type Result } from "#base";
import { fieldAt, jsonEqual, type JsonObject, type KubeObject } from "#kube";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { forbidden, notFound, errorWithoutReason, type Failure } from "../../protocol/status.ts";
import type { Access } from "../../protocol/auth-port.ts";
import { MASTERS } from "../users.ts";
import { rbacOf, type Rbac } from "./rbac.ts";
import { compacted, goList, rulesOf, ruleText, uncovered, type AccessRule } from "./rules.ts";

const GROUP = "rbac.authorization.k8s.io";
type Check = (context: AdmissionContext, attributes: Attributes, object: KubeObject) => Result<undefined, Failure>;

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  [`${GROUP}/roles`, checkRole],
  [`${GROUP}/clusterroles`, checkRole],
  [`${GROUP}/rolebindings`, checkBinding],
  [`${GROUP}/clusterrolebindings`, checkBinding],
]);

export function escalationChecks(context: AdmissionContext): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    mutate: (attributes) => {
      const { object, type, user, subresource } = attributes;
      const check = CHECKS.get(type.collection);
      const exempt =
        object === undefined || attributes.operation === "DELETE" || subresource !== undefined || user.groups.includes(MASTERS);
      if (check === undefined || exempt) return ok(object);
      const checked = check(context, attributes, object);
      return checked.ok ? ok(object) : checked;
    },
  };
}

const EVERYTHING: readonly AccessRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
];

function checkRole(context: AdmissionContext, attributes: Attributes, role: KubeObject): Result<undefined, Failure> {
  const { type, user, namespace = "" } = attributes;
  // the name of a new object is only in its body, which authorization does not read
  const name = attributes.verb === "create" ? "" : attributes.name;
  const escalate = accessTo(attributes, { verb: "escalate", resource: type.resource.plural, name });
  if (context.authorize(user, escalate).allowed || isTidying(role, attributes.old)) return ok(undefined);
  const rbac = rbacOf(context.store);
  const missing = missingRights(rbac, attributes, rulesOf(role));
  if (missing !== undefined) return refused(attributes, role, missing);
  const gathers = hasAggregation(role) || hasAggregation(attributes.old);
  if (gathers && uncovered(rbac.rulesFor(user, namespace).rules, EVERYTHING).length > 0) {
    return refused(attributes, role, "must have cluster-admin privileges to use the aggregationRule");
  }
  return ok(undefined);
}

function checkBinding(context: AdmissionContext, attributes: Attributes, binding: KubeObject): Result<undefined, Failure> {
  const { type, user, namespace = "" } = attributes;
  if (isTidying(binding, attributes.old)) return ok(undefined);
  const [kind, name] = [textAt(binding, "roleRef", "kind"), textAt(binding, "roleRef", "name")];
  if (kind !== "Role" && kind !== "ClusterRole") return errorWithoutReason(`unsupported role reference kind: ${JSON.stringify(kind)}`);
  const resource = kind === "Role" ? "roles" : "clusterroles";
  if (context.authorize(user, accessTo(attributes, { verb: "bind", resource, name })).allowed) return ok(undefined);
  const rbac = rbacOf(context.store);
  const role = rbac.roleOf({ kind, name }, namespace);
  if (role === undefined) return notFound({ resource: type.resource, name });
  const missing = missingRights(rbac, attributes, rulesOf(role));
  return missing === undefined ? ok(undefined) : refused(attributes, binding, missing);
}

function accessTo(
  { namespace }: Attributes,
  { verb, resource, name }: { readonly verb: string; readonly resource: string; readonly name: string },
): Access {
  return { kind: "resource", verb, group: GROUP, version: "*", resource, subresource: undefined, namespace, name };
}

function missingRights(rbac: Rbac, { user, namespace = "" }: Attributes, wanted: readonly AccessRule[]): string | undefined {
  const held = rbac.rulesFor(user, namespace);
  const missing = uncovered(held.rules, wanted);
  if (missing.length === 0) return undefined;
  const lines = [...new Set(compacted(missing).map(ruleText))].toSorted();
  const who = `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)})`;
  const unresolved = held.error === "" ? "" : `; resolution errors: [${held.error}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}${unresolved}`;
}

function refused({ type }: Attributes, object: KubeObject, why: string): Result<never, Failure> {
  return forbidden({ resource: type.resource, name: object.metadata.name ?? "" }, why);
}

function hasAggregation(role: KubeObject | undefined): boolean {
  const selectors = fieldAt(role, "aggregationRule", "clusterRoleSelectors");
  return Array.isArray(selectors) && selectors.length > 0;
}

/** The garbage collector changes only owners and finalizers, and has none of the permissions. */
function isTidying(next: KubeObject, old: KubeObject | undefined): boolean {
  return old !== undefined && jsonEqual(bare(next), bare(old));
}

function metadataOf(object: KubeObject): JsonObject {
  return object.metadata as unknown as JsonObject;
}

function bare(object: KubeObject): JsonObject {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, ...metadata } = metadataOf(object);
  return { ...(object as unknown as JsonObject), metadata };
}

function textAt(object: KubeObject, ...path: readonly string[]): string {
  const found = fieldAt(object, ...path);
  return typeof found === "string" ? found : "";
}
