import { expect, test } from "vitest";
import type { Json } from "#kube";
import { guardedServer, realServer, type TestServer } from "../../rest/server.test-support.ts";
import { grant, person, RBAC, type GivenRule } from "../roles.test-support.ts";

const GROUP = "rbac.authorization.k8s.io";
const bob = person("bob", "ops");
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const MERGE = "application/merge-patch+json";
const reads = (resource: string, ...verbs: readonly string[]): GivenRule => ({ verbs, apiGroups: [""], resources: [resource] });

/** Bob may write all RBAC objects, and nothing else. */
async function withBob(): Promise<TestServer> {
  const server = guardedServer();
  const all = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
  await grant(server, "bob", [{ verbs: ["get", "create", "update", "patch"], apiGroups: [GROUP], resources: all }]);
  return server;
}

const role = (name: string, ...rules: readonly GivenRule[]) => ({ user: bob, body: { metadata: { name }, rules } as unknown as Json });
const binding = (name: string, kind: string, to: string) => ({
  user: bob,
  body: { metadata: { name }, roleRef: { apiGroup: GROUP, kind, name: to }, subjects: [{ kind: "User", apiGroup: GROUP, name: "bob" }] },
});

test("a user cannot write a Role that grants more than the user has, by any request", async () => {
  const { ask } = await withBob();
  const message = `roles.${GROUP} "r" is forbidden: user "bob" (groups=["ops" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`;
  const given = role("r", reads("secrets", "get"), reads("pods", "get", "list"));
  expect((await ask("POST", ROLES, given)).body).toMatchObject({ code: 403, message, details: { name: "r", group: GROUP, kind: "roles" } });
  expect((await ask("POST", `${ROLES}?dryRun=All`, given)).status).toBe(403);
  expect((await ask("PUT", `${ROLES}/r`, given)).body).toMatchObject({ code: 403, message });
  await ask("POST", ROLES, { body: { metadata: { name: "r" }, rules: [] } });
  const rules = [reads("pods", "get")] as unknown as Json;
  expect((await ask("PATCH", `${ROLES}/r`, { user: bob, type: MERGE, body: { rules } })).status).toBe(403);
});

test("a user may grant permissions that the user has", async () => {
  const server = await withBob();
  await grant(server, "bob", [reads("pods", "*")]);
  expect((await server.ask("POST", ROLES, role("r", reads("pods", "get", "delete")))).status).toBe(201);
});

test("an aggregated ClusterRole needs all permissions", async () => {
  const server = await withBob();
  const gathering = {
    user: bob,
    body: { metadata: { name: "g" }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } },
  };
  const message = `clusterroles.${GROUP} "g" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
  expect((await server.ask("POST", `${RBAC}/clusterroles`, gathering)).body).toMatchObject({ code: 403, message });
  const labels = { user: bob, type: MERGE, body: { metadata: { labels: { a: "b" } } } };
  expect((await server.ask("PATCH", `${RBAC}/clusterroles/admin`, labels)).status).toBe(403);
  await grant(server, "bob", [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["*"], nonResourceURLs: ["*"] },
  ]);
  expect((await server.ask("POST", `${RBAC}/clusterroles`, gathering)).status).toBe(201);
});

test("a user cannot bind a role that the user does not hold, or that does not exist", async () => {
  const { ask } = await withBob();
  expect((await ask("POST", BINDINGS, binding("b", "ClusterRole", "cluster-admin"))).body).toMatchObject({
    code: 403,
    message: expect.stringContaining('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}'),
  });
  expect((await ask("POST", BINDINGS, binding("b", "Role", "nope"))).body).toMatchObject({
    code: 404,
    message: `rolebindings.${GROUP} "nope" not found`,
  });
  expect((await ask("POST", `${RBAC}/clusterrolebindings`, binding("b", "ClusterRole", "nope"))).status).toBe(404);
  expect((await ask("POST", BINDINGS, binding("b", "Alien", "x"))).body).toMatchObject({
    code: 500,
    message: 'unsupported role reference kind: "Alien"',
  });
  expect((await ask("POST", BINDINGS, binding("b", "ClusterRole", "system:discovery"))).status).toBe(201);
});

test("`escalate` and `bind` allow it for their resourceNames", async () => {
  const server = await withBob();
  await grant(server, "bob", [
    { verbs: ["escalate"], apiGroups: [GROUP], resources: ["roles"], resourceNames: ["special"] },
    { verbs: ["bind"], apiGroups: [GROUP], resources: ["clusterroles"], resourceNames: ["cluster-admin"] },
  ]);
  const special = role("special", reads("pods", "get"));
  expect((await server.ask("POST", ROLES, special)).status).toBe(403); // the name of a new object is only in its body
  expect((await server.ask("PUT", `${ROLES}/special`, special)).status).toBe(201);
  expect((await server.ask("POST", BINDINGS, binding("b", "ClusterRole", "cluster-admin"))).status).toBe(201);
});

test("a user without the granted permissions may change owners and finalizers", async () => {
  const { ask } = await withBob();
  await ask("POST", ROLES, { body: { metadata: { name: "r" }, rules: [reads("pods", "get")] as unknown as Json } });
  const body = { metadata: { finalizers: ["a.b/c"] } };
  expect((await ask("PATCH", `${ROLES}/r`, { user: bob, type: MERGE, body })).status).toBe(200);
  const others = { ...binding("b", "Role", "r").body, subjects: [{ kind: "User", apiGroup: GROUP, name: "eve" }] };
  await ask("POST", BINDINGS, { body: others });
  expect((await ask("PATCH", `${BINDINGS}/b`, { user: bob, type: MERGE, body })).status).toBe(200);
  expect((await ask("PATCH", `${BINDINGS}/b`, { user: bob, type: MERGE, body: { subjects: null } })).status).toBe(403);
});

test("the error names missing roles", async () => {
  const server = await withBob();
  await server.ask("POST", BINDINGS, { ...binding("broken", "Role", "gone"), user: person("admin", "system:masters") });
  expect((await server.ask("POST", ROLES, role("r", reads("pods", "get")))).body).toMatchObject({
    message: expect.stringContaining(`; resolution errors: [role.${GROUP} "gone" not found]`),
  });
});

test("a server without an authorizer does not check escalation either", async () => {
  const { ask } = realServer();
  expect((await ask("POST", ROLES, role("r", reads("pods", "get")))).status).toBe(201);
});
