/**
 * Role-based access control, evaluated on the current Roles and bindings of the store.
 *
 * One instance per store, created on first use: it watches the store, and two would duplicate the work.
 */
import { memoizeByObject } from "#base";
import type { KubeObject } from "#kube";
import type { User } from "../../protocol/request.ts";
import type { Access, Authorizer, Decision } from "../../protocol/auth-port.ts";
import { MASTERS } from "../users.ts";
import { BindingIndex, subjectFor, type IndexedBinding, type IndexedSubject } from "./binding-index.ts";
import { ruleAllows, rulesOf, type AccessRule } from "./rules.ts";
import type { Store } from "../../store/index.ts";

export type HeldRules = {
  readonly rules: readonly AccessRule[];
  /** The error about bindings with missing roles; "" if there are none. */
  readonly error: string;
};

export type Rbac = {
  readonly authorize: Authorizer;
  /** The rules of a user in a namespace ("": cluster-wide). */
  readonly rulesFor: (user: User, namespace: string) => HeldRules;
  /** The rules of a role that a binding in this namespace would refer to. */
  readonly roleOf: (role: IndexedBinding["role"], namespace: string) => KubeObject | undefined;
};

/** One index of the bindings per store. */
export const rbacOf = memoizeByObject(createRbac);

const GROUP = "rbac.authorization.k8s.io";
const MASTER: Decision = { allowed: true, reason: "" };
const NOT_ALLOWED: Decision = { allowed: false, reason: "" };

function createRbac(store: Store): Rbac {
  let index: BindingIndex | undefined;
  const bindings = () => (index ??= new BindingIndex(store));
  const roleOf = (role: IndexedBinding["role"], namespace: string) => findRole(store, role, namespace);
  return {
    roleOf,
    authorize: (user, access) => (user.groups.includes(MASTERS) ? MASTER : decide(bindings(), roleOf, user, access)),
    rulesFor: (user, namespace) => heldBy(bindings(), roleOf, user, namespace),
  };
}

type RoleOf = Rbac["roleOf"];

function findRole(store: Store, { kind, name }: IndexedBinding["role"], namespace: string): KubeObject | undefined {
  if (kind === "ClusterRole") return store.get(`${GROUP}/clusterroles`, name)?.object;
  return kind === "Role" && namespace !== "" ? store.get(`${GROUP}/roles`, `${namespace}/${name}`)?.object : undefined;
}

function decide(index: BindingIndex, roleOf: RoleOf, user: User, access: Access): Decision {
  let missing: Set<string> | undefined;
  for (const namespace of access.kind === "resource" && access.namespace !== undefined ? ["", access.namespace] : [""]) {
    for (const binding of index.about(user, namespace)) {
      const role = roleOf(binding.role, binding.namespace);
      if (role === undefined) (missing ??= new Set()).add(missingRole(binding));
      else if (rulesOf(role).some((rule) => ruleAllows(rule, access))) return { allowed: true, reason: allowedBy(binding, user) };
    }
  }
  return missing === undefined ? NOT_ALLOWED : { allowed: false, reason: `RBAC: ${aggregate(missing)}` };
}

function heldBy(index: BindingIndex, roleOf: RoleOf, user: User, namespace: string): HeldRules {
  const bindings = new Set([...index.about(user, ""), ...(namespace === "" ? [] : index.about(user, namespace))]);
  const missing = new Set<string>();
  const rules: AccessRule[] = [];
  for (const binding of bindings) {
    const role = roleOf(binding.role, binding.namespace);
    if (role === undefined) missing.add(missingRole(binding));
    else rules.push(...rulesOf(role));
  }
  return { rules, error: missing.size === 0 ? "" : aggregate(missing) };
}

function missingRole({ role }: IndexedBinding): string {
  if (role.kind !== "Role" && role.kind !== "ClusterRole") return `unsupported role reference kind: ${JSON.stringify(role.kind)}`;
  return `${role.kind.toLowerCase()}.${GROUP} ${JSON.stringify(role.name)} not found`;
}

/** Go's format of several errors. */
function aggregate(errors: ReadonlySet<string>): string {
  const all = [...errors];
  return all.length === 1 ? (all[0] ?? "") : `[${all.join(", ")}]`;
}

function allowedBy(binding: IndexedBinding, user: User): string {
  const { name, namespace, role } = binding;
  const [kind, full] = namespace === "" ? ["ClusterRoleBinding", name] : ["RoleBinding", `${name}/${namespace}`];
  const to = subjectText(subjectFor(binding, user), namespace);
  return `RBAC: allowed by ${kind} ${JSON.stringify(full)} of ${role.kind} ${JSON.stringify(role.name)} to ${to}`;
}

function subjectText(subject: IndexedSubject | undefined, bindingNamespace: string): string {
  const { kind = "", name = "", namespace = "" } = subject ?? {};
  if (kind !== "ServiceAccount") return `${kind} ${JSON.stringify(name)}`;
  return `${kind} ${JSON.stringify(`${name}/${namespace === "" ? bindingNamespace : namespace}`)}`;
}
