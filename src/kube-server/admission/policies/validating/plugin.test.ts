/** Validating policies in a server: who is denied, in which words, and what a policy sees. */
import { describe, expect, it } from "vitest";
import { fieldAt, type Json } from "#kube";
import { addValidating, configMap, CONFIG_MAPS, MATCH_ALL, messageOf, policyServer } from "../policy.test-support.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const DENIED = "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request:";

/** What a policy says about one ConfigMap. */
async function judged(spec: object, given: { readonly object?: Json; readonly binding?: object } = {}): Promise<Json | undefined> {
  const running = policyServer();
  await addValidating(running, { spec, ...(given.binding === undefined ? {} : { binding: given.binding }) });
  return messageOf(await running.ask("POST", CONFIG_MAPS, { body: given.object ?? configMap("c", { x: "1" }) }));
}

const denied = (why: string): string => `configmaps "c" is forbidden: ${DENIED} ${why}`;

describe("a denial", () => {
  it("is a Status with the message as its cause", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "false", message: "no" }] } });
    const { status, body } = await running.ask("POST", CONFIG_MAPS, { body: configMap("c") });
    expect(status).toBe(422);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: denied("no"),
      reason: "Invalid",
      details: { name: "c", kind: "configmaps", causes: [{ message: `${DENIED} no` }] },
      code: 422,
    });
  });

  it.each([
    { reason: "Forbidden", want: 403 },
    { reason: "Invalid", want: 422 },
    { reason: "RequestEntityTooLarge", want: 413 },
  ])("for the reason $reason has the code $want", async ({ reason, want }) => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "false", reason }] } });
    const { status, body } = await running.ask("POST", CONFIG_MAPS, { body: configMap("c") });
    expect([status, fieldAt(body, "reason")]).toEqual([want, reason]);
  });

  it.each([
    { name: "the expression", given: { expression: " false " }, want: "failed expression: false" },
    { name: "the message", given: { expression: "false", message: " because " }, want: "because" },
    {
      name: "what was made of it",
      given: { expression: "false", messageExpression: "'x is ' + object.data.x", message: "m" },
      want: "x is 1",
    },
    {
      name: "the message, if nothing could be made",
      given: { expression: "false", messageExpression: "string(object.data.nope)", message: "m" },
      want: "m",
    },
    {
      name: "the message, if it was made too long",
      given: { expression: "false", messageExpression: `'${"x".repeat(5_121)}'`, message: "m" },
      want: "m",
    },
    {
      name: "the message, if it was made of two lines",
      given: { expression: "false", messageExpression: "'a\\nb'", message: "m" },
      want: "m",
    },
    {
      name: "the expression, if nothing was made",
      given: { expression: "false", messageExpression: "'  '" },
      want: "failed expression: false",
    },
  ])("says $name", async ({ given, want }) => {
    expect(await judged({ validations: [given] })).toBe(denied(want));
  });

  it("is that of the first policy, by name", async () => {
    const running = policyServer();
    await addValidating(running, { name: "b", spec: { validations: [{ expression: "false" }] } });
    await addValidating(running, {
      name: "a",
      spec: { validations: [{ expression: "true" }, { expression: "false", message: "second" }] },
    });
    const answer = await running.ask("POST", CONFIG_MAPS, { body: configMap("c") });
    expect(messageOf(answer)).toContain("ValidatingAdmissionPolicy 'a' with binding 'a-binding' denied request: second");
  });
});

describe("an error", () => {
  const broken = { expression: "object.data.nope == '1'" };
  it("denies", async () => {
    expect(await judged({ validations: [broken] })).toBe(
      denied("expression 'object.data.nope == '1'' resulted in error: no such key: nope"),
    );
  });

  it("is no objection under failurePolicy Ignore", async () => {
    expect(await judged({ failurePolicy: "Ignore", validations: [broken] })).toBeUndefined();
    const spec = { failurePolicy: "Ignore", validations: [{ expression: "false" }], matchConditions: [{ name: "m", ...broken }] };
    expect(await judged(spec)).toBeUndefined();
  });

  it("of a match condition denies before anything else is asked", async () => {
    const spec = { validations: [{ expression: "true" }], matchConditions: [{ name: "m", ...broken }] };
    expect(await judged(spec)).toBe(denied("expression 'object.data.nope == '1'' resulted in error: no such key: nope"));
  });

  it("of an audit annotation denies, whatever the binding wants", async () => {
    const auditAnnotations = [{ key: "k", valueExpression: "string(object.data.nope)" }];
    const want = denied("expression 'string(object.data.nope)' resulted in error: no such key: nope");
    expect(await judged({ auditAnnotations }, { binding: { validationActions: ["Audit"] } })).toBe(want);
    expect(await judged({ failurePolicy: "Ignore", auditAnnotations })).toBeUndefined();
    expect(await judged({ auditAnnotations: [{ key: "k", valueExpression: "'fine'" }] })).toBeUndefined();
  });

  const ten = "[1,2,3,4,5,6,7,8,9,10]";
  const costly = ["a", "b", "c", "d", "e", "f"].reduceRight((inner, name) => `${ten}.all(${name}, ${inner})`, "a+b+c+d+e+f > 0");
  it("is to cost too much", async () => {
    expect(await judged({ validations: [{ expression: costly }] })).toContain("operation cancelled: actual cost limit exceeded");
  });
});

describe("what a binding does", () => {
  it("may be only to warn", async () => {
    const running = policyServer();
    await addValidating(running, {
      spec: { validations: [{ expression: "false", message: "hm" }] },
      binding: { validationActions: ["Warn", "Audit"] },
    });
    const answer = await running.ask("POST", CONFIG_MAPS, { body: configMap("c") });
    expect(answer.status).toBe(201);
    expect(answer.response.warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': hm"]);
  });

  it("may be nothing, for objects that it does not select", async () => {
    const binding = { matchResources: { objectSelector: { matchLabels: { a: "b" } } } };
    const spec = { validations: [{ expression: "false", message: "no" }] };
    expect(await judged(spec, { binding })).toBeUndefined();
    expect(await judged(spec, { binding, object: configMap("c", {}, { a: "b" }) })).toBe(denied("no"));
  });

  it("ends with the binding, and begins with it", async () => {
    const running = policyServer();
    const spec = { validations: [{ expression: "false" }] };
    const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/p-binding";
    await addValidating(running, { spec });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(422);
    await running.ask("DELETE", path);
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
  });

  it("follows a changed policy at once", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "true" }] } });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
    const patch = { spec: { validations: [{ expression: "false" }] } };
    await running.ask("PATCH", `${POLICIES}/p`, { body: patch, type: "application/merge-patch+json" });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("b") })).status).toBe(422);
  });
});

describe("what a policy sees", () => {
  it("of a request", async () => {
    const parts = [
      "request.operation",
      "request.kind.kind",
      "request.resource.resource",
      "request.name",
      "request.namespace",
      "request.userInfo.username",
    ];
    const spec = { validations: [{ expression: "false", messageExpression: parts.join(" + ' ' + ") }] };
    expect(await judged(spec)).toBe(denied("CREATE ConfigMap configmaps c default admin"));
  });

  it("of the namespace, its own variables, and who may do what", async () => {
    const spec = {
      variables: [
        { name: "phase", expression: "namespaceObject.status.phase" },
        { name: "both", expression: "variables.phase + ' ' + namespaceObject.metadata.name" },
      ],
      validations: [{ expression: "authorizer.path('/x').check('get').allowed() && false", messageExpression: "variables.both" }],
    };
    expect(await judged(spec)).toBe(denied("Active default"));
  });

  it("of a deletion is the old object", async () => {
    const running = policyServer();
    const spec = {
      validations: [{ expression: "request.operation != 'DELETE' || (object == null && oldObject.metadata.name != 'keep')" }],
    };
    await addValidating(running, { spec });
    await running.ask("POST", CONFIG_MAPS, { body: configMap("keep") });
    await running.ask("POST", CONFIG_MAPS, { body: configMap("go") });
    expect((await running.ask("DELETE", `${CONFIG_MAPS}/keep`)).status).toBe(422);
    expect((await running.ask("DELETE", `${CONFIG_MAPS}/go`)).status).toBe(200);
  });

  it("of cluster-scoped objects has no namespace", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "namespaceObject == null || has(namespaceObject.spec)" }] } });
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } };
    expect((await running.ask("POST", "/api/v1/namespaces", { body: namespace })).status).toBe(201);
  });

  it("is the version that it matched, where another was written", async () => {
    const running = policyServer();
    const rule = { apiGroups: ["autoscaling"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["horizontalpodautoscalers"] };
    const messageExpression = "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version";
    await addValidating(running, {
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false", messageExpression }] },
    });
    const body = {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "h" },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
    };
    const answer = await running.ask("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", { body });
    expect(messageOf(answer)).toContain("denied request: autoscaling/v1 v1 v2");
  });
});

describe("params", () => {
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  const validations = [
    {
      expression: "!has(object.data) || !has(object.data.x) || object.data.x == params.data.x",
      messageExpression: "params.data.x + ' wanted'",
    },
  ];
  const ref = (more: object) => ({ paramRef: { parameterNotFoundAction: "Deny", ...more } });

  it("are found by name in the namespace of the request", async () => {
    const running = policyServer();
    await running.ask("POST", CONFIG_MAPS, { body: configMap("param", { x: "7" }) });
    await addValidating(running, { spec: { paramKind, validations }, binding: ref({ name: "param" }) });
    expect(messageOf(await running.ask("POST", CONFIG_MAPS, { body: configMap("c", { x: "1" }) }))).toBe(denied("7 wanted"));
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("d", { x: "7" }) })).status).toBe(201);
  });

  it("are found by label, and each must agree", async () => {
    const running = policyServer();
    await running.ask("POST", CONFIG_MAPS, { body: configMap("a", { x: "1" }, { role: "param" }) });
    await running.ask("POST", CONFIG_MAPS, { body: configMap("b", { x: "2" }, { role: "param" }) });
    const selector = { matchLabels: { role: "param" } };
    await addValidating(running, { spec: { paramKind, validations }, binding: ref({ selector, namespace: "default" }) });
    expect(messageOf(await running.ask("POST", CONFIG_MAPS, { body: configMap("c", { x: "1" }) }))).toBe(denied("2 wanted"));
  });

  const wrong = "failed to configure binding:";
  it.each([
    {
      name: "none is there",
      binding: ref({ name: "nope" }),
      want: denied(`${wrong} no params found for policy binding with \`Deny\` parameterNotFoundAction`),
    },
    { name: "none is there, and none is needed", binding: ref({ name: "nope", parameterNotFoundAction: "Allow" }), want: undefined },
    {
      name: "the binding names none",
      binding: {},
      want: denied(`expression '${validations[0]?.expression ?? ""}' resulted in error: no such key: data`),
    },
  ])("when $name", async ({ binding, want }) => {
    expect(await judged({ paramKind, validations }, { binding })).toBe(want);
  });

  it("of a kind that nobody serves make the policy fail", async () => {
    const spec = { paramKind: { apiVersion: "nope.example.com/v1", kind: "Nope" }, validations: [{ expression: "true" }] };
    expect(await judged(spec)).toBe(
      `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'nope.example.com/v1, Kind=Nope'`,
    );
    expect(await judged({ ...spec, failurePolicy: "Ignore" })).toBeUndefined();
  });

  it("without a namespace are not looked for in one", async () => {
    const spec = {
      paramKind: { apiVersion: "v1", kind: "Namespace" },
      validations: [{ expression: "params.metadata.name == 'kube-system'", message: "no" }],
    };
    expect(await judged(spec, { binding: ref({ name: "default" }) })).toBe(denied("no"));
    expect(await judged(spec, { binding: ref({ name: "default", namespace: "default" }) })).toBe(
      denied(`${wrong} paramRef.namespace must not be provided for a cluster-scoped \`paramKind\``),
    );
  });

  it("in a namespace are not found for objects that have none", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { paramKind, validations: [{ expression: "true" }] }, binding: ref({ name: "a" }) });
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "r" } };
    const answer = await running.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { body: role });
    expect(messageOf(answer)).toContain("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  });
});

describe("policies", () => {
  it("do not judge policies, nor questions about rights", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "false" }] } });
    await addValidating(running, { name: "other", spec: { validations: [{ expression: "true" }] } });
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { nonResourceAttributes: { path: "/", verb: "get" } },
    };
    expect((await running.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { body: review })).status).toBe(201);
  });

  it("whose namespace is not there fail only where they would have matched", async () => {
    const running = policyServer();
    const spec = {
      matchConstraints: { ...(MATCH_ALL as object), namespaceSelector: { matchLabels: { a: "b" } } },
      validations: [{ expression: "false" }],
    };
    await addValidating(running, { spec });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("c") })).status).toBe(201);
    const labelled = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n", labels: { a: "b" } } };
    expect((await running.ask("POST", "/api/v1/namespaces", { body: labelled })).status).toBe(422);
  });

  it("end with the server", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "true" }] } });
    running.server.close();
    expect(running.server.store.count("admissionregistration.k8s.io/validatingadmissionpolicies")).toBe(1);
  });
});
