import { expect, test } from "vitest";
import type { Json } from "#kube";
import { realServer, type TestServer } from "../server.test-support.ts";

const PODS = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const deployment = (selector: Json = { matchLabels: { a: "b" } }) => ({
  metadata: { name: "d" },
  spec: {
    replicas: 2,
    selector,
    template: { metadata: { labels: { a: "b", z: "y" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});

async function withDeployment(selector?: Json): Promise<TestServer> {
  const made = realServer();
  await made.ask("POST", DEPLOYMENTS, { body: deployment(selector) });
  return made;
}

test("a Scale shows the replicas of an object and its selector as text", async () => {
  const matchExpressions = [
    { key: "z", operator: "In", values: ["y", "x"] },
    { key: "q", operator: "DoesNotExist" },
    { key: "a", operator: "Exists" },
    { key: "r", operator: "NotIn", values: ["1"] },
  ];
  const { ask } = await withDeployment({ matchLabels: { a: "b" }, matchExpressions });
  expect((await ask("GET", `${DEPLOYMENTS}/d/scale`)).body).toMatchObject({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name: "d", namespace: "default", uid: expect.any(String) },
    spec: { replicas: 2 },
    status: { replicas: 0, selector: "a=b,a,!q,r notin (1),z in (x,y)" },
  });
});

test("a write to a Scale changes the object, and its manager owns the replicas", async () => {
  const { ask } = await withDeployment();
  const put = await ask("PUT", `${DEPLOYMENTS}/d/scale?fieldManager=scaler`, { body: { metadata: { name: "d" }, spec: { replicas: 5 } } });
  expect(put).toMatchObject({ status: 200, body: { spec: { replicas: 5 } } });
  expect((await ask("GET", `${DEPLOYMENTS}/d`)).body).toMatchObject({
    spec: { replicas: 5 },
    metadata: {
      generation: 2,
      managedFields: expect.arrayContaining([
        expect.objectContaining({ manager: "scaler", subresource: "scale", fieldsV1: { "f:spec": { "f:replicas": {} } } }),
      ]),
    },
  });
  expect((await ask("PATCH", `${DEPLOYMENTS}/d/scale`, { body: { spec: { replicas: 0 } }, type: MERGE })).body).toMatchObject({ spec: {} });
  expect(
    (
      await ask("PATCH", `${DEPLOYMENTS}/d/scale?dryRun=All`, {
        body: [{ op: "replace", path: "/spec/replicas", value: 7 }],
        type: "application/json-patch+json",
      })
    ).body,
  ).toMatchObject({ spec: { replicas: 7 } });
});

test("unknown fields of a Scale are reported", async () => {
  const { ask } = await withDeployment();
  const url = `${DEPLOYMENTS}/d/scale`;
  const body = { metadata: { name: "d" }, spec: { replicas: 1, x: 1 }, zz: 1 };
  expect((await ask("PUT", url, { body })).response.warnings).toEqual(['unknown field "spec.x"', 'unknown field "zz"']);
  expect((await ask("PUT", `${url}?fieldValidation=Strict`, { body })).body).toMatchObject({
    code: 400,
    message: expect.stringContaining("strict decoding error"),
  });
  expect((await ask("PATCH", url, { body: { spec: { x: 1 } }, type: MERGE })).response.warnings).toEqual(['unknown field "spec.x"']);
});

test("a Scale can be applied, and conflicts with the owner of the replicas", async () => {
  const { ask } = await withDeployment();
  const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas: 3 } };
  const url = `${DEPLOYMENTS}/d/scale?fieldManager=applier`;
  expect((await ask("PATCH", url, { body, type: APPLY })).body).toMatchObject({ code: 409, reason: "Conflict" });
  expect((await ask("PATCH", `${url}&force=true`, { body, type: APPLY })).body).toMatchObject({ spec: { replicas: 3 } });
  expect((await ask("PATCH", url, { body: "{:", type: APPLY })).status).toBe(400);
  expect((await ask("PATCH", url, { body: { ...body, metadata: { name: "other" } }, type: APPLY })).status).toBe(400);
});

const refusedScales: readonly { name: string; method: string; url?: string; body: Json | string; type?: string; want: object }[] = [
  {
    name: "negative replicas",
    method: "PUT",
    body: { metadata: { name: "d" }, spec: { replicas: -1 } },
    want: { code: 422, message: 'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0' },
  },
  {
    name: "a text",
    method: "PUT",
    body: { metadata: { name: "d" }, spec: { replicas: "x" } },
    want: { code: 400, message: expect.stringContaining("of type int32") },
  },
  { name: "a fraction of a replica", method: "PATCH", body: { spec: { replicas: 1.5 } }, type: MERGE, want: { code: 422 } },
  { name: "a list", method: "PUT", body: [], want: { code: 400 } },
  { name: "invalid JSON", method: "PUT", body: "{", want: { code: 400 } },
  { name: "another name", method: "PUT", body: { metadata: { name: "e" } }, want: { code: 400 } },
  { name: "another uid", method: "PUT", body: { metadata: { name: "d", uid: "u" } }, want: { code: 409 } },
  { name: "a stale version", method: "PUT", body: { metadata: { name: "d", resourceVersion: "1" } }, want: { code: 409 } },
  { name: "a missing object", method: "PUT", url: `${DEPLOYMENTS}/nope/scale`, body: { metadata: { name: "nope" } }, want: { code: 404 } },
  { name: "a missing object to patch", method: "PATCH", url: `${DEPLOYMENTS}/nope/scale`, body: {}, type: MERGE, want: { code: 404 } },
  { name: "a bad option", method: "PUT", url: `${DEPLOYMENTS}/d/scale?dryRun=x`, body: {}, want: { code: 422 } },
  { name: "a bad patch option", method: "PATCH", url: `${DEPLOYMENTS}/d/scale?dryRun=x`, body: {}, type: MERGE, want: { code: 422 } },
  { name: "an unknown patch", method: "PATCH", body: {}, type: "text/plain", want: { code: 415 } },
];

test.each(refusedScales)("a Scale with $name is an error", async ({ method, url = `${DEPLOYMENTS}/d/scale`, body, type, want }) => {
  const { ask } = await withDeployment();
  expect((await ask(method, url, { body, ...(type === undefined ? {} : { type }) })).body).toMatchObject(want);
});

test("ReplicationControllers have a selector of labels", async () => {
  const { ask } = realServer();
  const url = "/api/v1/namespaces/default/replicationcontrollers";
  await ask("POST", url, {
    body: {
      metadata: { name: "r" },
      spec: { template: { metadata: { labels: { b: "2", a: "1" } }, spec: { containers: [{ name: "c", image: "i" }] } } },
    },
  });
  expect((await ask("GET", `${url}/r/scale`)).body).toMatchObject({ status: { selector: "a=1,b=2" } });
});

const pod = { metadata: { name: "p", labels: { app: "p" } }, spec: { containers: [{ name: "c", image: "i" }] } };

test("a pod is bound once, by its subresource or by a Binding", async () => {
  const { ask } = realServer();
  await ask("POST", PODS, { body: pod });
  await ask("POST", PODS, { body: { ...pod, metadata: { name: "q" } } });
  const target = { metadata: { name: "p" }, target: { kind: "Node", name: "n1" } };
  expect((await ask("POST", `${PODS}/p/binding?dryRun=All`, { body: target })).body).toMatchObject({ status: "Success", code: 201 });
  expect((await ask("POST", `${PODS}/p/binding`, { body: target })).status).toBe(201);
  expect((await ask("GET", `${PODS}/p`)).body).toMatchObject({
    spec: { nodeName: "n1" },
    status: { conditions: [{ type: "PodScheduled", status: "True" }] },
  });
  expect((await ask("POST", `${PODS}/p/binding`, { body: target })).body).toMatchObject({
    code: 409,
    message: expect.stringContaining('pod p is already assigned to node "n1"'),
  });
  const bindings = "/api/v1/namespaces/default/bindings";
  expect((await ask("POST", bindings, { body: { ...target, metadata: { name: "q" } } })).status).toBe(201);
  expect((await ask("POST", bindings, { body: {} })).status).toBe(400);
  expect((await ask("POST", bindings, { body: "{" })).status).toBe(400);
  for (const [url, body] of [
    [`${PODS}/nope/binding`, target],
    [`${PODS}/q/binding`, {}],
    [`${PODS}/q/binding?dryRun=x`, {}],
    [`${PODS}/q/binding`, "{"],
  ] as const) {
    expect((await ask("POST", url, { body })).status).toBeGreaterThanOrEqual(400);
  }
});

test("an eviction deletes the pod, unless a budget forbids it", async () => {
  const { ask } = realServer();
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" }, deleteOptions: { gracePeriodSeconds: 0 } };
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const running = (name: string, ready = "True") => {
    const status = { phase: "Running", conditions: [{ type: "Ready", status: ready }] };
    return ask("PATCH", `${PODS}/${name}/status`, { body: { status }, type: MERGE });
  };
  const evict = (name: string) => ask("POST", `${PODS}/${name}/eviction`, { body: eviction });
  const allow = (name: string, disruptionsAllowed: number) =>
    ask("PATCH", `${budgets}/${name}/status`, {
      body: { status: { observedGeneration: 1, disruptionsAllowed, desiredHealthy: 1, currentHealthy: 1, expectedPods: 1 } },
      type: MERGE,
    });
  const budget = (name: string) =>
    ask("POST", budgets, { body: { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app: "p" } } } } });
  await ask("POST", PODS, { body: pod });
  expect((await evict("p")).body).toMatchObject({ status: "Success", code: 201 });
  await ask("POST", PODS, { body: pod });
  await running("p");
  await budget("b");
  expect((await evict("p")).body).toMatchObject({
    code: 429,
    reason: "TooManyRequests",
    details: {
      retryAfterSeconds: 10,
      causes: [{ reason: "DisruptionBudget", message: "The disruption budget b is still being processed by the server." }],
    },
  });
  await allow("b", 0);
  const needs = "The disruption budget b needs 1 healthy pods and has 1 currently";
  expect((await evict("p")).body).toMatchObject({ code: 429, details: { causes: [{ reason: "DisruptionBudget", message: needs }] } });
  await allow("b", 1);
  expect((await ask("POST", `${PODS}/p/eviction?dryRun=All`, { body: eviction })).status).toBe(201);
  expect((await ask("GET", `${budgets}/b`)).body).toMatchObject({ status: { disruptionsAllowed: 1 } });
  expect((await evict("p")).status).toBe(201);
  const spent = { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" };
  expect((await ask("GET", `${budgets}/b`)).body).toMatchObject({
    metadata: { managedFields: expect.arrayContaining([expect.objectContaining({ manager: "kube-apiserver", subresource: "status" })]) },
    status: { disruptionsAllowed: 0, disruptedPods: { p: expect.any(String) }, conditions: [spent] },
  });
  await ask("POST", PODS, { body: pod });
  await running("p", "False"); // enough others are healthy
  expect((await evict("p")).status).toBe(201);
  await ask("POST", PODS, { body: pod });
  await running("p");
  await budget("c");
  expect((await evict("p")).body).toMatchObject({ code: 500, message: expect.stringContaining("more than one PodDisruptionBudget") });
  const wrongOnes = [
    ["nope", eviction],
    ["p?dryRun=x", eviction],
    ["p", "{"],
  ] as const;
  for (const [name, body] of wrongOnes) {
    const [path = "", query = ""] = name.split("?");
    expect((await ask("POST", `${PODS}/${path}/eviction?${query}`, { body })).status).toBeGreaterThanOrEqual(400);
  }
});

test("requests that need a kubelet get the errors of a server without one", async () => {
  const { ask } = realServer();
  await ask("POST", PODS, { body: pod });
  expect((await ask("GET", `${PODS}/p/log`)).status).toBe(204);
  for (const [query, code, message] of [
    ["container=zz", 400, "container zz is not valid for pod p"],
    ["tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ["tailLines=-1", 422, 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
    [
      "sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
      422,
      'PodLogOptions "p" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
  ] as const) {
    expect((await ask("GET", `${PODS}/p/log?${query}`)).body).toMatchObject({ code, message });
  }
  expect((await ask("GET", `${PODS}/p/exec`)).body).toMatchObject({ code: 400, message: "pod p does not have a host assigned" });
  await ask("POST", `${PODS}/p/binding`, { body: { metadata: { name: "p" }, target: { name: "n1" } } });
  expect((await ask("GET", `${PODS}/p/log`)).body).toMatchObject({ code: 404, message: 'pods "n1" not found' });
  await ask("POST", "/api/v1/nodes", { body: { metadata: { name: "n1" } } });
  expect((await ask("POST", `${PODS}/p/attach`)).body).toMatchObject({ code: 500, message: expect.stringContaining("has no kubelet") });
  for (const below of ["log", "exec", "portforward", "proxy"]) expect((await ask("GET", `${PODS}/nope/${below}`)).status).toBe(404);
  expect((await ask("GET", "/api/v1/nodes/n1/proxy/metrics")).body).toMatchObject({
    code: 503,
    message: expect.stringContaining("node n1 has no kubelet"),
  });
  await ask("PATCH", `${PODS}/p/status`, { type: "application/merge-patch+json", body: { status: { podIP: "10.0.0.9" } } });
  expect((await ask("GET", `${PODS}/p:8080/proxy/x`)).body).toMatchObject({
    code: 503,
    message: expect.stringMatching(/^error trying to reach service: dial tcp 10\.0\.0\.9:8080: /),
  });
  expect((await ask("GET", "/api/v1/nodes/nope/proxy")).status).toBe(404);
});

test("finalize rejects invalid bodies", async () => {
  const { ask } = realServer();
  const url = "/api/v1/namespaces/default/finalize";
  for (const [query, body] of [
    ["?dryRun=x", {}],
    ["", "{"],
    ["", { metadata: { name: "x" } }],
  ] as const) {
    expect((await ask("PUT", `${url}${query}`, { body })).status).toBeGreaterThanOrEqual(400);
  }
});

const reviews: readonly { name: string; url: string; body: Json; want: object }[] = [
  {
    name: "SelfSubjectReview",
    url: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: {},
    want: { status: { userInfo: { username: "admin", groups: ["system:masters"] } } },
  },
  {
    name: "SelfSubjectAccessReview",
    url: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: { spec: { resourceAttributes: { verb: "get" } } },
    want: { status: { allowed: true } },
  },
  {
    name: "SelfSubjectRulesReview",
    url: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    body: { spec: { namespace: "x" } },
    want: { status: { resourceRules: [{ verbs: ["*"] }] } },
  },
  {
    name: "TokenReview of a valid token",
    url: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { spec: { token: "good" } },
    want: { status: { authenticated: true, user: { username: "bob", uid: "1" } } },
  },
  {
    name: "TokenReview of an invalid token",
    url: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { spec: { token: "bad" } },
    want: { status: { error: expect.any(String) } },
  },
];

test.each(reviews)("a $name is evaluated and not stored", async ({ url, body, want }) => {
  const authenticate = (token: string) => (token === "good" ? { name: "bob", uid: "1", groups: [] } : undefined);
  const { ask, server } = realServer({ authenticate });
  const before = server.store.revision;
  expect(await ask("POST", url, { body })).toMatchObject({ status: 201, body: want });
  expect(server.store.revision).toBe(before);
  expect((await ask("POST", `${url}?dryRun=x`, { body })).status).toBe(422);
  expect((await ask("POST", url, { body: "{" })).status).toBe(400);
});
