import { expect, test } from "vitest";
import { guardedServer, type TestServer } from "../rest/server.test-support.ts";
import type { User } from "../protocol/request.ts";
import { grant, person } from "./roles.test-support.ts";

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const alice = person("alice");

const whoAmI = (server: TestServer, headers: Readonly<Record<string, string>>, user?: User) =>
  server.ask("POST", WHO, { body: {}, headers, ...(user === undefined ? {} : { user }) });

const becoming: readonly { readonly name: string; readonly headers: Readonly<Record<string, string>>; readonly want: object }[] = [
  { name: "a user", headers: { "impersonate-user": "zoe" }, want: { username: "zoe", groups: ["system:authenticated"] } },
  {
    name: "a user in a group",
    headers: { "impersonate-user": "zoe", "impersonate-group": "g" },
    want: { username: "zoe", groups: ["g", "system:authenticated"] },
  },
  {
    name: "a user with a uid and more",
    headers: {
      "impersonate-user": "zoe",
      "impersonate-uid": "7",
      "impersonate-extra-acme.io%2fproject": "p",
      "impersonate-extra-%zz": "q",
    },
    want: { username: "zoe", uid: "7", extra: { "acme.io/project": ["p"], "%zz": ["q"] } },
  },
  {
    name: "a ServiceAccount with its groups",
    headers: { "impersonate-user": "system:serviceaccount:n:sa" },
    want: { groups: ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"] },
  },
  {
    name: "a node with its group",
    headers: { "impersonate-user": "system:node:n1" },
    want: { username: "system:node:n1", groups: ["system:nodes", "system:authenticated"] },
  },
  {
    name: "a name that only resembles a ServiceAccount",
    headers: { "impersonate-user": "system:serviceaccount:n" },
    want: { groups: ["system:authenticated"] },
  },
];

test.each(becoming)("an administrator may impersonate $name", async ({ headers, want }) => {
  expect((await whoAmI(guardedServer(), headers)).body).toMatchObject({ status: { userInfo: want } });
});

test("an impersonated anonymous user has the rights of an anonymous user", async () => {
  const refused = await whoAmI(guardedServer(), { "impersonate-user": "system:anonymous" });
  expect(refused.body).toMatchObject({ code: 403, message: expect.stringContaining('User "system:anonymous" cannot create resource') });
});

test("other impersonation headers without Impersonate-User are an error", async () => {
  const server = guardedServer();
  expect((await whoAmI(server, { "impersonate-group": "g" })).body).toMatchObject({
    code: 400,
    message:
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name',
  });
  expect((await whoAmI(server, { "impersonate-extra-a": "b", "impersonate-uid": "1" })).body).toMatchObject({
    message: expect.stringContaining('UID:"1", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}}}'),
  });
  expect((await whoAmI(server, { "impersonate-user": "" })).body).toMatchObject({ status: { userInfo: { username: "admin" } } });
});

test("a 403 is about the first mode, or about a mode that was allowed before", async () => {
  const server = guardedServer();
  const message = async (headers: Readonly<Record<string, string>>) =>
    ((await whoAmI(server, headers, alice)).body as { message?: string }).message;
  expect(await message({ "impersonate-user": "zoe" })).toBe(
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "alice" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
  );
  expect(await message({ "impersonate-user": "system:serviceaccount:n:sa", "impersonate-group": "g" })).toBe(
    'serviceaccounts "sa" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "n"',
  );
  await grant(server, "alice", [{ verbs: ["impersonate"], apiGroups: [""], resources: ["users"], resourceNames: ["zoe"] }]);
  expect(await message({ "impersonate-user": "zoe" })).toBeUndefined();
  expect(await message({ "impersonate-user": "yan" })).toBe(
    'users "yan" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
  expect(await message({ "impersonate-user": "zoe", "impersonate-group": "g" })).toContain('cannot impersonate resource "groups"');
  expect(await message({ "impersonate-user": "zoe", "impersonate-uid": "1" })).toContain('cannot impersonate resource "uids"');
  expect(await message({ "impersonate-user": "zoe", "impersonate-extra-a": "b" })).toContain('cannot impersonate resource "userextras/a"');
});

const AUTHENTICATION = { apiGroups: ["authentication.k8s.io"] };

test("a permission to impersonate for one action allows only that action", async () => {
  const server = guardedServer();
  await grant(server, "alice", [
    { verbs: ["impersonate:user-info"], ...AUTHENTICATION, resources: ["users"], resourceNames: ["zoe"] },
    { verbs: ["impersonate-on:user-info:create"], ...AUTHENTICATION, resources: ["selfsubjectreviews"] },
  ]);
  expect((await whoAmI(server, { "impersonate-user": "zoe" }, alice)).status).toBe(201);
  const other = await server.ask("GET", "/api/v1/nodes", { user: alice, headers: { "impersonate-user": "zoe" } });
  expect(other.body).toMatchObject({ code: 403, message: expect.stringContaining("impersonate-on:user-info:list") });
});

const faults: readonly { readonly name: string; readonly headers: Readonly<Record<string, string>>; readonly want: string }[] = [
  {
    name: "system:masters",
    headers: { "impersonate-group": "system:masters" },
    want: "impersonating the system:masters group is not allowed",
  },
  { name: "a group without a name", headers: { "impersonate-group": "" }, want: "impersonating the empty string group is not allowed" },
  { name: "an extra key without a domain", headers: { "impersonate-extra-a": "b" }, want: "must be a domain-prefixed path" },
  { name: "an extra key with an invalid domain", headers: { "impersonate-extra-a_b%2fc": "b" }, want: "a lowercase RFC 1123 subdomain" },
  { name: "an extra key without a name", headers: { "impersonate-extra-": "b" }, want: "the empty string key in extra" },
  { name: "an empty extra value", headers: { "impersonate-extra-a.b%2fc": "" }, want: "the empty string value in extra" },
];

test.each(faults)("constrained modes never allow $name", async ({ headers, want }) => {
  const server = guardedServer();
  await grant(server, "alice", [
    { verbs: ["impersonate:user-info"], ...AUTHENTICATION, resources: ["users", "groups", "uids", "userextras/*"] },
    { verbs: ["impersonate-on:user-info:create"], ...AUTHENTICATION, resources: ["selfsubjectreviews"] },
  ]);
  expect((await whoAmI(server, { "impersonate-user": "zoe" }, alice)).status).toBe(201);
  const refused = await whoAmI(server, { "impersonate-user": "zoe", ...headers }, alice);
  expect(refused.body).toMatchObject({ code: 403, message: expect.stringContaining(want) });
});

test("a pod's account may act as the node it runs on, and as no other", async () => {
  const server = guardedServer();
  const extra = new Map([["authentication.kubernetes.io/node-name", ["n1"]]]);
  const robot: User = { ...person("system:serviceaccount:n:sa"), extra };
  await grant(server, robot.name, [
    { verbs: ["impersonate:associated-node"], ...AUTHENTICATION, resources: ["nodes"] },
    { verbs: ["impersonate-on:associated-node:create"], ...AUTHENTICATION, resources: ["selfsubjectreviews"] },
  ]);
  expect((await whoAmI(server, { "impersonate-user": "system:node:n1" }, robot)).status).toBe(201);
  expect((await whoAmI(server, { "impersonate-user": "system:node:n2" }, robot)).status).toBe(403);
});

test("a rule without resourceNames allows all groups at once", async () => {
  const server = guardedServer();
  await grant(server, "alice", [
    { verbs: ["impersonate:user-info"], ...AUTHENTICATION, resources: ["users", "groups"] },
    { verbs: ["impersonate-on:user-info:create"], ...AUTHENTICATION, resources: ["selfsubjectreviews"] },
  ]);
  const repeated = new Map([["impersonate-group", ["a", "b", "c", "d"]]]);
  const request = {
    method: "POST",
    path: WHO,
    query: new URLSearchParams(),
    headers: { "impersonate-user": "zoe", "impersonate-group": "a, b, c, d" },
    repeated,
    body: "{}",
    user: alice,
  };
  const answered = await server.server.handle(request, new AbortController().signal);
  expect(answered.body).toMatchObject({ value: { status: { userInfo: { groups: ["a", "b", "c", "d", "system:authenticated"] } } } });
});
