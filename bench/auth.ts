/**
 * The cost of authorization: the same create with and without RBAC, with 10,000 bindings of other users in the store, and a user who is
 * authorized by one of them.
 */
import { expectOk } from "#base";
import type { KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { BENCH_USER, costOf, inGroup } from "./support/guarded-servers.ts";

const RBAC = "rbac.authorization.k8s.io";
const BINDINGS = [100, 10_000];

export async function run(): Promise<readonly BenchResult[]> {
  const results: BenchResult[] = [];
  for (const count of BINDINGS) {
    const name = `RBAC with ${count.toLocaleString("en-GB")} bindings`;
    results.push(...(await costOf({ name, rbac: true, prepare: (admin) => bindings(admin, count) })));
  }
  return results;
}

const clusterRoles = inGroup(RBAC, "ClusterRole", "clusterroles");
/** About as many rules as the role "edit" has; the matching one is last. */
const rules = [
  ...Array.from({ length: 20 }, (_, at) => ({ apiGroups: [`group-${at}.test`], resources: ["things"], verbs: ["get", "list", "watch"] })),
  { apiGroups: [""], resources: ["secrets", "services", "configmaps", "pods"], verbs: ["get", "update", "create", "delete"] },
];

/** Nine in ten are of namespaces, as in most clusters; one in ten names groups. The user's bindings are last. */
async function bindings(admin: KubeClient, count: number): Promise<void> {
  const role = { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: "developer" }, rules } as KubeObject;
  expectOk(await admin.create(clusterRoles, role));
  for (let at = 0; at < count; at += 1) {
    const subject = at % 10 === 3 ? { kind: "Group", name: `team-${at}` } : { kind: "User", name: `user-${at}` };
    const cluster = at % 10 === 0;
    const namespace = at % 2 === 0 ? "default" : "kube-system";
    expectOk(
      await admin.create(cluster ? clusterRoleBindings : roleBindings, binding(`b-${at}`, cluster ? undefined : namespace, subject)),
    );
  }
  expectOk(await admin.create(roleBindings, binding("mine", "default", { kind: "User", name: BENCH_USER })));
}

const roleBindings = inGroup(RBAC, "RoleBinding", "rolebindings", true);
const clusterRoleBindings = inGroup(RBAC, "ClusterRoleBinding", "clusterrolebindings");

function binding(name: string, namespace: string | undefined, subject: { readonly kind: string; readonly name: string }): KubeObject {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const kind = namespace === undefined ? "ClusterRoleBinding" : "RoleBinding";
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "developer" };
  return { apiVersion: `${RBAC}/v1`, kind, metadata, roleRef, subjects: [{ apiGroup: RBAC, ...subject }] } as KubeObject;
}
