/**
 * Expressions of admission policies on large objects. A user who may create a ConfigMap controls how much work a policy has to do;
 * the server rejects work beyond its limits before it starts, and responds to other requests meanwhile.
 */
import { expect, test } from "vitest";
import { IN_DOUBT } from "../../builders/api-server/exchange.ts";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const SPENT = "operation cancelled: actual cost limit exceeded";
const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

type Variable = { readonly name: string; readonly expression: string };
type Policy = { readonly expression: string; readonly variables?: readonly Variable[] };

async function withPolicy(server: MeasuredApiServer, { expression, variables = [] }: Policy): Promise<void> {
  const made = [
    {
      path: POLICIES,
      body: {
        kind: "ValidatingAdmissionPolicy",
        spec: { matchConstraints: { resourceRules: [RULE] }, variables, validations: [{ expression }] },
      },
    },
    {
      path: BINDINGS,
      body: { kind: "ValidatingAdmissionPolicyBinding", spec: { policyName: "attack", validationActions: ["Deny"] } },
    },
  ];
  for (const { path, body } of made) {
    const content = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: "attack" }, ...body };
    expect(await server.exchange.request({ method: "POST", path, body: content })).toMatchObject({ code: 201 });
  }
  await server.process.reset();
}

/** The status code, and the message of an error. */
async function create(server: MeasuredApiServer, data: Readonly<Record<string, string>>): Promise<string> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "large" }, data };
  const answer = await server.exchange.request({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
  return answer === IN_DOUBT ? answer : `${answer.code} ${JSON.stringify(answer.body["message"])}`;
}

function keys(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, "value"]));
}

/** Each variable is twice as large as its predecessor. */
function doubling(first: string, steps: number): readonly Variable[] {
  return Array.from({ length: steps + 1 }, (_, at) => ({
    name: `v${at}`,
    expression: at === 0 ? first : `variables.v${at - 1} + variables.v${at - 1}`,
  }));
}

const ATTACKS: readonly {
  readonly name: string;
  readonly policy: Policy;
  readonly data: Readonly<Record<string, string>>;
  readonly want: string;
}[] = [
  {
    name: "map() over 30,000 keys takes time in proportion to their number",
    policy: { expression: "object.data.map(k, k.size()).all(n, n < 200)" },
    data: keys(30_000),
    want: "201",
  },
  {
    name: "a loop that looks up each of 30,000 keys takes time in proportion to their number",
    policy: { expression: "object.data.all(k, object.data[k].size() < 200)" },
    data: keys(30_000),
    want: "201",
  },
  {
    name: "the equivalence of two sets of 20,000 is rejected before it is computed",
    policy: { expression: "sets.equivalent(lists.range(20000), lists.range(20000))" },
    data: {},
    want: OUT_OF_BUDGET,
  },
  {
    name: "the equivalence of two sets of 1,000 is rejected before it is computed",
    policy: { expression: "sets.equivalent(lists.range(1000), lists.range(1000))" },
    data: {},
    want: SPENT,
  },
  {
    name: "a list that doubles 40 times is rejected before it fills the memory",
    policy: { expression: "variables.v40.size() > 0", variables: doubling("[1, 2]", 40) },
    data: {},
    want: "a list may have at most 1000000 items",
  },
  {
    name: "bytes that double 40 times are rejected before they fill the memory",
    policy: { expression: "variables.v40.size() > 0", variables: doubling("b'ab'", 40) },
    data: {},
    want: "a value of type bytes may have at most 4194304 bytes",
  },
  {
    name: "a string that doubles 40 times is rejected before it fills the memory",
    policy: { expression: "variables.v40.size() > 0", variables: doubling("'ab'", 40) },
    data: {},
    want: "a string may have at most 4194304 characters",
  },
];

for (const { name, policy, data, want } of ATTACKS) {
  test(name, { timeout: 60_000 }, async () => {
    await using server = await startMeasuredApiServer({ controllers: false });
    await withPolicy(server, policy);
    expect(await create(server, data)).toContain(want);
    await server.process.expectWithinLimits(name);
  });
}
