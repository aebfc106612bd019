import { expect, test } from "vitest";
import { guardedServer, realServer } from "../rest/server.test-support.ts";
import { grant, person } from "./roles.test-support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const alice = person("alice", "devs");

test("403 has precedence over 404 and over errors of the body", async () => {
  const { ask } = guardedServer();
  for (const [method, url] of [
    ["GET", "/api/v1/namespaces/nope/nothings/x"],
    ["GET", "/apis/nope.io/v1/things"],
    ["GET", "/nothing"],
    ["POST", MAPS],
    ["PATCH", `${MAPS}/x`],
  ] as const) {
    expect((await ask(method, url, { user: alice, body: method === "GET" ? undefined : "{" })).status).toBe(403);
  }
});

const sentences: readonly { readonly name: string; readonly given: readonly [string, string]; readonly want: object }[] = [
  {
    name: "a list in a namespace",
    given: ["GET", MAPS],
    want: {
      message: 'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
      details: { kind: "configmaps" },
    },
  },
  {
    name: "one object of a group",
    given: ["DELETE", "/apis/apps/v1/namespaces/default/deployments/d/scale"],
    want: {
      message:
        'deployments.apps "d" is forbidden: User "alice" cannot delete resource "deployments/scale" in API group "apps" in the namespace "default"',
      details: { name: "d", group: "apps", kind: "deployments" },
    },
  },
  {
    name: "the whole cluster",
    given: ["GET", "/api/v1/nodes"],
    want: { message: 'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope' },
  },
  {
    name: "a path, made safe for browsers",
    given: ["GET", "/logs<b>&"],
    want: { message: 'forbidden: User "alice" cannot get path "/logs&lt;b&gt;&amp;"', details: {} },
  },
];

test.each(sentences)("a 403 names user, verb, resource and namespace: $name", async ({ given: [method, url], want }) => {
  const { ask } = guardedServer();
  expect((await ask(method, url, { user: alice })).body).toMatchObject({ code: 403, reason: "Forbidden", ...want });
});

test("every user may read its own identity and discovery, and an anonymous user may read no more", async () => {
  const { ask } = guardedServer();
  for (const url of ["/api", "/apis", "/apis/apps/v1", "/openapi/v2", "/version", "/healthz"]) {
    expect((await ask("GET", url, { user: alice })).status).toBe(200);
  }
  expect((await ask("GET", "/healthz/etcd", { user: alice })).status).toBe(403);
  expect((await ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { user: alice, body: {} })).status).toBe(201);
});

test("resourceNames of a rule allow get, and list with a selector for that name", async () => {
  const server = guardedServer();
  const { ask } = server;
  await ask("POST", MAPS, { body: { metadata: { name: "ok" } } });
  await grant(
    server,
    "alice",
    [{ verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["ok"] }],
    "default",
  );
  const as = { user: alice };
  expect((await ask("GET", `${MAPS}/ok`, as)).status).toBe(200);
  expect((await ask("GET", `${MAPS}/no`, as)).status).toBe(403);
  expect((await ask("GET", MAPS, as)).status).toBe(403);
  expect((await ask("GET", `${MAPS}?fieldSelector=metadata.name%3Dok`, as)).body).toMatchObject({ items: [{ metadata: { name: "ok" } }] });
});

test("PUT and apply that create need `create` as well", async () => {
  const server = guardedServer();
  const { ask } = server;
  const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  await grant(
    server,
    "alice",
    [{ verbs: ["get", "update", "patch"], apiGroups: ["coordination.k8s.io"], resources: ["leases"] }],
    "default",
  );
  const put = { user: alice, body: { metadata: { name: "l" } } };
  const apply = {
    user: alice,
    type: "application/apply-patch+yaml",
    body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" } },
  };
  const message =
    'leases.coordination.k8s.io "l" is forbidden: User "alice" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"';
  expect((await ask("PUT", LEASE, put)).body).toMatchObject({ code: 403, message });
  expect((await ask("PATCH", `${LEASE}?fieldManager=m`, apply)).body).toMatchObject({ code: 403, message });
  expect((await ask("PATCH", LEASE, { user: alice, type: "application/merge-patch+json", body: {} })).status).toBe(404);
  await grant(server, "alice", [{ verbs: ["create"], apiGroups: ["coordination.k8s.io"], resources: ["leases"] }], "default");
  expect((await ask("PUT", LEASE, put)).status).toBe(201);
  expect((await ask("PATCH", `${LEASE}?fieldManager=m`, apply)).status).toBe(200);
});

test("an incomplete watch path is a 500, as on a real server", async () => {
  const { ask } = guardedServer();
  const answered = await ask("GET", "/api/v1/watch?x=y");
  expect(answered).toMatchObject({ status: 500, body: expect.stringContaining("unable to determine kind and namespace from url") });
});

test("a 403 for a client that accepts only Tables is JSON with line breaks", async () => {
  const { ask } = guardedServer();
  const refused = (accept: string) => ask("GET", MAPS, { user: alice, headers: { accept } });
  const table = await refused("application/json;as=Table;v=v1;g=meta.k8s.io");
  expect(table.response.body).toMatchObject({ kind: "json", pretty: true });
  expect((await refused("application/yaml")).response.headers["content-type"]).toBe("application/yaml");
  expect((await refused("application/json")).response.body).toMatchObject({ pretty: false });
});

test("a server without an authorizer does not authorize", async () => {
  const { ask } = realServer();
  expect((await ask("GET", "/api/v1/nodes", { user: person("anybody") })).status).toBe(200);
  const may = { user: person("anybody"), body: { spec: { resourceAttributes: { verb: "delete", resource: "nodes" } } } };
  expect((await ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", may)).body).toMatchObject({
    status: { allowed: true },
  });
});
