import { expect, test } from "vitest";
import type { Json } from "#kube";
import { grant, person } from "../../auth/roles.test-support.ts";
import { guardedServer } from "../server.test-support.ts";

const AUTHZ = "/apis/authorization.k8s.io/v1";
const AUTHN = "/apis/authentication.k8s.io/v1";
const alice = person("alice");
const pods = { verb: "list", resource: "pods", namespace: "default" };

async function withAlice() {
  const server = guardedServer();
  await grant(server, "alice", [{ verbs: ["list"], apiGroups: [""], resources: ["pods"] }], "default");
  return server;
}

const REASON = 'RBAC: allowed by RoleBinding "alice-list-default/default" of ClusterRole "alice-list-default" to User "alice"';

test("a SubjectAccessReview is allowed with a reason, or denied", async () => {
  const { ask } = await withAlice();
  const review = async (spec: Json) => (await ask("POST", `${AUTHZ}/subjectaccessreviews`, { body: { spec } })).body;
  expect(await review({ user: "alice", resourceAttributes: pods })).toMatchObject({
    kind: "SubjectAccessReview",
    metadata: { managedFields: [{ manager: "test", operation: "Update" }] },
    spec: { user: "alice" },
    status: { allowed: true, reason: REASON },
  });
  expect(await review({ user: "alice", resourceAttributes: { ...pods, verb: "get" } })).toMatchObject({ status: { allowed: false } });
  expect(await review({ groups: ["system:masters"], extra: { a: ["b"] }, resourceAttributes: {} })).toMatchObject({
    status: { allowed: true },
  });
  const path = { path: "/version", verb: "get" };
  expect(await review({ groups: ["system:unauthenticated"], nonResourceAttributes: path })).toMatchObject({
    status: { allowed: true, reason: expect.stringContaining('"system:public-info-viewer"') },
  });
});

test("a SelfSubjectAccessReview needs no permission, and a LocalSubjectAccessReview is limited to its namespace", async () => {
  const { ask } = await withAlice();
  const own = { user: alice, body: { spec: { resourceAttributes: { ...pods, version: "v1", group: "", name: "x", subresource: "log" } } } };
  expect((await ask("POST", `${AUTHZ}/selfsubjectaccessreviews`, own)).body).toMatchObject({ status: { allowed: false } });
  const local = { body: { spec: { user: "alice", resourceAttributes: pods } } };
  expect((await ask("POST", `${AUTHZ}/namespaces/default/localsubjectaccessreviews`, local)).body).toMatchObject({
    metadata: { namespace: "default" },
    status: { allowed: true, reason: REASON },
  });
  const elsewhere = { body: { metadata: { namespace: "other" }, spec: local.body.spec } };
  expect((await ask("POST", `${AUTHZ}/namespaces/default/localsubjectaccessreviews`, elsewhere)).status).toBe(400);
});

const SHAPE = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
const path = { path: "/x", verb: "get" };
const refused: readonly { readonly name: string; readonly url: string; readonly body: Json; readonly want: readonly string[] }[] = [
  {
    name: "has neither attributes nor a user",
    url: "subjectaccessreviews",
    body: {},
    want: [
      `spec.resourceAttributes: Invalid value: null: ${SHAPE}`,
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
  },
  {
    name: "has both kinds of attributes",
    url: "selfsubjectaccessreviews",
    body: { spec: { resourceAttributes: pods, nonResourceAttributes: path } },
    want: [
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
  },
  {
    name: "has a name",
    url: "selfsubjectaccessreviews",
    body: { metadata: { name: "x" }, spec: { nonResourceAttributes: path } },
    want: [expect.stringMatching(/^metadata: Invalid value: \{"name":"x","managedFields":\[.*\]\}: must be empty$/) as string],
  },
  {
    name: "has another namespace",
    url: "namespaces/default/localsubjectaccessreviews",
    body: { spec: { user: "a", resourceAttributes: { verb: "get" } } },
    want: ['spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace'],
  },
  {
    name: "is local and has a path",
    url: "namespaces/default/localsubjectaccessreviews",
    body: { spec: { user: "a", nonResourceAttributes: path } },
    want: ['spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request'],
  },
  {
    name: "has empty or contradictory selectors",
    url: "subjectaccessreviews",
    body: {
      spec: {
        user: "a",
        resourceAttributes: { fieldSelector: {}, labelSelector: { rawSelector: "a", requirements: [{ key: "", operator: "In" }] } },
      },
    },
    want: [
      "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
      'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements',
      "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      expect.stringContaining("requirements[0].key: Invalid value") as string,
      expect.stringContaining("requirements[0].key: Invalid value") as string,
    ],
  },
  {
    name: "has a field without a name",
    url: "subjectaccessreviews",
    body: { spec: { user: "a", resourceAttributes: { fieldSelector: { requirements: [{ operator: "Exists", values: ["x"] }] } } } },
    want: [
      "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
      "spec.resourceAttributes.fieldSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  },
];

test.each(refused)("a review that $name is an error", async ({ url, body, want }) => {
  const { ask } = await withAlice();
  const answered = (await ask("POST", `${AUTHZ}/${url}`, { body })).body as {
    code: number;
    details: { causes: { field: string; message: string }[] };
  };
  expect(answered.code).toBe(422);
  expect(answered.details.causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(want);
});

const selectors: readonly { readonly name: string; readonly attributes: Json; readonly want: string | undefined }[] = [
  {
    name: "valid raw selectors",
    attributes: { fieldSelector: { rawSelector: "a=b" }, labelSelector: { rawSelector: "a" } },
    want: undefined,
  },
  {
    name: "invalid raw selectors",
    attributes: { fieldSelector: { rawSelector: "x" }, labelSelector: { rawSelector: "a=b,,," } },
    want: "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error",
  },
  {
    name: "unknown operators",
    attributes: {
      labelSelector: {
        requirements: [
          { key: "a", operator: "Exists" },
          { key: "b", operator: "Near" },
        ],
      },
      fieldSelector: { requirements: [{ key: "c", operator: "Exists" }] },
    },
    want: "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error",
  },
];

test.each(selectors)("for $name the response names the ignored selectors", async ({ attributes, want }) => {
  const { ask } = await withAlice();
  const spec = { user: "alice", resourceAttributes: { ...pods, ...(attributes as object) } };
  const { body } = await ask("POST", `${AUTHZ}/subjectaccessreviews`, { body: { spec } });
  expect(body).toMatchObject({ status: { allowed: true, ...(want === undefined ? {} : { evaluationError: want }) } });
});

test("a SelfSubjectRulesReview has the rules of ClusterRoleBindings and of the requested namespace", async () => {
  const { ask } = await withAlice();
  const rules = async (spec: Json) => (await ask("POST", `${AUTHZ}/selfsubjectrulesreviews`, { user: alice, body: { spec } })).body;
  expect(await rules({})).toMatchObject({ code: 400, message: "no namespace on request" });
  expect(await rules({ namespace: "default" })).toMatchObject({
    metadata: {},
    spec: {},
    status: {
      incomplete: false,
      resourceRules: expect.arrayContaining([{ verbs: ["list"], apiGroups: [""], resources: ["pods"] }]) as Json,
      nonResourceRules: expect.arrayContaining([expect.objectContaining({ verbs: ["get"] })]) as Json,
    },
  });
  expect(JSON.stringify(await rules({ namespace: "other" }))).not.toContain('"pods"');
});

test("a TokenReview checks the requested audiences", async () => {
  const { ask } = await withAlice();
  await ask("POST", "/api/v1/namespaces/default/serviceaccounts", { body: { metadata: { name: "sa" } } });
  const issued = await ask("POST", "/api/v1/namespaces/default/serviceaccounts/sa/token", { body: { spec: { audiences: ["vault"] } } });
  const { token } = (issued.body as { status: { token: string } }).status;
  const review = async (spec: Json) => (await ask("POST", `${AUTHN}/tokenreviews`, { body: { spec } })).body;
  expect(await review({ token, audiences: ["vault", "x"] })).toMatchObject({
    status: { authenticated: true, user: { username: "system:serviceaccount:default:sa" }, audiences: ["vault"] },
  });
  expect(await review({ token })).toMatchObject({
    status: { user: {}, error: expect.stringMatching(/^\[invalid bearer token, token audiences/) },
  });
  expect(await review({})).toMatchObject({ code: 400, message: "token is required for TokenReview in authentication" });
});

test("a review has no objects with names", async () => {
  const { ask } = await withAlice();
  expect((await ask("GET", `${AUTHZ}/subjectaccessreviews/x`)).status).toBe(404);
  expect((await ask("GET", `${AUTHZ}/subjectaccessreviews`)).status).toBe(405);
});
