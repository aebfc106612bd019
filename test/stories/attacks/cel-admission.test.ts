/** Expressions of mutating policies and of webhooks' match conditions, and many concurrent requests with a slow policy. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "#kube";
import { IN_DOUBT } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const GROUP = "admissionregistration.k8s.io/v1";
const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const matchConstraints = { resourceRules: [RULE] };

async function make(server: MeasuredApiServer, kind: string, content: JsonObject): Promise<void> {
  const plural = kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  const body = { apiVersion: GROUP, kind, metadata: { name: "attack" }, ...content };
  const answer = await server.exchange.request({ method: "POST", path: `/apis/${GROUP}/${plural.toLowerCase()}`, body });
  expect(answer).toMatchObject({ code: 201 });
}

async function create(server: MeasuredApiServer, name: string, data: Json = {}): Promise<string> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
  const answer = await server.exchange.request({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
  return answer === IN_DOUBT ? answer : `${answer.code} ${JSON.stringify(answer.body["message"])}`;
}

/** Small as values that share their parts; as JSON, each is twice as large as its predecessor. */
const SHARED = Array.from({ length: 41 }, (_, at) => ({
  name: `v${at}`,
  expression: at === 0 ? "['x']" : `[variables.v${at - 1}, variables.v${at - 1}].map(v, dyn(v))`,
}));

test("a mutation whose value is a list of 2^40 parts is rejected", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const expression = `[JSONPatch{op: "add", path: "/data", value: variables.v40}]`;
  const mutations = [{ patchType: "JSONPatch", jsonPatch: { expression } }];
  const spec = { matchConstraints, variables: SHARED, reinvocationPolicy: "Never", mutations };
  await make(server, "MutatingAdmissionPolicy", { spec });
  await make(server, "MutatingAdmissionPolicyBinding", { spec: { policyName: "attack" } });
  await server.process.reset();
  expect(await create(server, "a")).toContain("the value of the expression has more than 300000 parts");
  await server.process.expectWithinLimits("a mutation with a value of 2^40 parts");
});

test("match conditions of a webhook that cost too much are handled by its failure policy", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const matchConditions = Array.from({ length: 10 }, (_, at) => ({
    name: `c${at}`,
    expression: "lists.range(100000).all(i, i >= 0 && object.data.size() > 0)",
  }));
  const clientConfig = { url: "https://127.0.0.1:1/" };
  const webhooks = [
    { name: "a.attack.test", clientConfig, rules: [RULE], sideEffects: "None", admissionReviewVersions: ["v1"], matchConditions },
  ];
  await make(server, "ValidatingWebhookConfiguration", { webhooks });
  await server.process.reset();
  expect(await create(server, "a", { a: "1" })).toContain("running out of cost budget");
  await server.process.expectWithinLimits("match conditions that cost too much");
});

test("other requests get responses while many wait for a slow policy", { timeout: 60_000 }, async () => {
  await using server = await startMeasuredApiServer({ controllers: false });
  const validations = Array.from({ length: 4 }, () => ({ expression: "lists.range(60000).all(i, i >= 0 && object.data.size() > 0)" }));
  await make(server, "ValidatingAdmissionPolicy", { spec: { matchConstraints, validations } });
  await make(server, "ValidatingAdmissionPolicyBinding", { spec: { policyName: "attack", validationActions: ["Deny"] } });
  await server.process.reset();
  const slow = Promise.all(Array.from({ length: 10 }, (_, at) => create(server, `n-${at}`, { a: "1" })));
  let answered = 0;
  const isOver = slow.then(() => true);
  while (
    !(await Promise.race([isOver, server.exchange.request({ method: "GET", path: "/api/v1/namespaces/default" }).then(() => false)]))
  ) {
    answered += 1;
  }
  expect(await slow).toEqual(Array.from({ length: 10 }, () => "201 undefined"));
  expect(answered).toBeGreaterThan(10);
  await server.process.expectWithinLimits("many requests that a policy is slow for");
});
