/** Validating policies in a server: the requests that are denied, the messages, and the values that a policy reads. */
import { describe, expect, it } from "vitest";
import { fieldAt, type Json } from "#kube";
import { addValidating, configMap, CONFIG_MAPS, MATCH_ALL, messageOf, policyServer } from "../policy.test-support.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const DENIED = "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request:";

/** The error message that a policy gives for one ConfigMap. */
async function errorFor(spec: object, given: { readonly object?: Json; readonly binding?: object } = {}): Promise<Json | undefined> {
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
      name: "the value of the messageExpression",
      given: { expression: "false", messageExpression: "'x is ' + object.data.x", message: "m" },
      want: "x is 1",
    },
    {
      name: "the message, if the messageExpression fails",
      given: { expression: "false", messageExpression: "string(object.data.nope)", message: "m" },
      want: "m",
    },
    {
      name: "the message, if the value is too long",
      given: { expression: "false", messageExpression: `'${"x".repeat(5_121)}'`, message: "m" },
      want: "m",
    },
    {
      name: "the message, if the value has two lines",
      given: { expression: "false", messageExpression: "'a\\nb'", message: "m" },
      want: "m",
    },
    {
      name: "the expression, if the value is blank",
      given: { expression: "false", messageExpression: "'  '" },
      want: "failed expression: false",
    },
  ])("contains $name", async ({ given, want }) => {
    expect(await errorFor({ validations: [given] })).toBe(denied(want));
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
    expect(await errorFor({ validations: [broken] })).toBe(
      denied("expression 'object.data.nope == '1'' resulted in error: no such key: nope"),
    );
  });

  it("is ignored under failurePolicy Ignore", async () => {
    expect(await errorFor({ failurePolicy: "Ignore", validations: [broken] })).toBeUndefined();
    const spec = { failurePolicy: "Ignore", validations: [{ expression: "false" }], matchConditions: [{ name: "m", ...broken }] };
    expect(await errorFor(spec)).toBeUndefined();
  });

  it("of a match condition denies before the validations are evaluated", async () => {
    const spec = { validations: [{ expression: "true" }], matchConditions: [{ name: "m", ...broken }] };
    expect(await errorFor(spec)).toBe(denied("expression 'object.data.nope == '1'' resulted in error: no such key: nope"));
  });

  it("of an audit annotation denies, whatever the validationActions are", async () => {
    const auditAnnotations = [{ key: "k", valueExpression: "string(object.data.nope)" }];
    const want = denied("expression 'string(object.data.nope)' resulted in error: no such key: nope");
    expect(await errorFor({ auditAnnotations }, { binding: { validationActions: ["Audit"] } })).toBe(want);
    expect(await errorFor({ failurePolicy: "Ignore", auditAnnotations })).toBeUndefined();
    expect(await errorFor({ auditAnnotations: [{ key: "k", valueExpression: "'fine'" }] })).toBeUndefined();
  });

  const ten = "[1,2,3,4,5,6,7,8,9,10]";
  const costly = ["a", "b", "c", "d", "e", "f"].reduceRight((inner, name) => `${ten}.all(${name}, ${inner})`, "a+b+c+d+e+f > 0");
  it("is also an exceeded cost limit", async () => {
    expect(await errorFor({ validations: [{ expression: costly }] })).toContain("operation cancelled: actual cost limit exceeded");
  });
});

describe("a binding", () => {
  it("may only warn", async () => {
    const running = policyServer();
    await addValidating(running, {
      spec: { validations: [{ expression: "false", message: "hm" }] },
      binding: { validationActions: ["Warn", "Audit"] },
    });
    const answer = await running.ask("POST", CONFIG_MAPS, { body: configMap("c") });
    expect(answer.status).toBe(201);
    expect(answer.response.warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': hm"]);
  });

  it("has no effect on objects that it does not select", async () => {
    const binding = { matchResources: { objectSelector: { matchLabels: { a: "b" } } } };
    const spec = { validations: [{ expression: "false", message: "no" }] };
    expect(await errorFor(spec, { binding })).toBeUndefined();
    expect(await errorFor(spec, { binding, object: configMap("c", {}, { a: "b" }) })).toBe(denied("no"));
  });

  it("has an effect from its creation to its deletion", async () => {
    const running = policyServer();
    const spec = { validations: [{ expression: "false" }] };
    const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/p-binding";
    await addValidating(running, { spec });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(422);
    await running.ask("DELETE", path);
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
  });

  it("applies a changed policy at once", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "true" }] } });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("a") })).status).toBe(201);
    const patch = { spec: { validations: [{ expression: "false" }] } };
    await running.ask("PATCH", `${POLICIES}/p`, { body: patch, type: "application/merge-patch+json" });
    expect((await running.ask("POST", CONFIG_MAPS, { body: configMap("b") })).status).toBe(422);
  });
});

describe("the values that a policy reads", () => {
  it("include the request", async () => {
    const parts = [
      "request.operation",
      "request.kind.kind",
      "request.resource.resource",
      "request.name",
      "request.namespace",
      "request.userInfo.username",
    ];
    const spec = { validations: [{ expression: "false", messageExpression: parts.join(" + ' ' + ") }] };
    expect(await errorFor(spec)).toBe(denied("CREATE ConfigMap configmaps c default admin"));
  });

  it("include the namespace, the policy's variables and the authorizer", async () => {
    const spec = {
      variables: [
        { name: "phase", expression: "namespaceObject.status.phase" },
        { name: "both", expression: "variables.phase + ' ' + namespaceObject.metadata.name" },
      ],
      validations: [{ expression: "authorizer.path('/x').check('get').allowed() && false", messageExpression: "variables.both" }],
    };
    expect(await errorFor(spec)).toBe(denied("Active default"));
  });

  it("include the old object of a deletion", async () => {
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

  it("include no namespace for cluster-scoped objects", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "namespaceObject == null || has(namespaceObject.spec)" }] } });
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } };
    expect((await running.ask("POST", "/api/v1/namespaces", { body: namespace })).status).toBe(201);
  });

  it("are in the version that matched, also when the request has another", async () => {
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

  it("are found by label, and the policy must pass with each", async () => {
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
      name: "none exists",
      binding: ref({ name: "nope" }),
      want: denied(`${wrong} no params found for policy binding with \`Deny\` parameterNotFoundAction`),
    },
    { name: "none exists, and none is required", binding: ref({ name: "nope", parameterNotFoundAction: "Allow" }), want: undefined },
    {
      name: "the binding names none",
      binding: {},
      want: denied(`expression '${validations[0]?.expression ?? ""}' resulted in error: no such key: data`),
    },
  ])("when $name", async ({ binding, want }) => {
    expect(await errorFor({ paramKind, validations }, { binding })).toBe(want);
  });

  it("of a kind that is not served make the policy fail", async () => {
    const spec = { paramKind: { apiVersion: "nope.example.com/v1", kind: "Nope" }, validations: [{ expression: "true" }] };
    expect(await errorFor(spec)).toBe(
      `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'nope.example.com/v1, Kind=Nope'`,
    );
    expect(await errorFor({ ...spec, failurePolicy: "Ignore" })).toBeUndefined();
  });

  it("that are cluster-scoped are found without a namespace", async () => {
    const spec = {
      paramKind: { apiVersion: "v1", kind: "Namespace" },
      validations: [{ expression: "params.metadata.name == 'kube-system'", message: "no" }],
    };
    expect(await errorFor(spec, { binding: ref({ name: "default" }) })).toBe(denied("no"));
    expect(await errorFor(spec, { binding: ref({ name: "default", namespace: "default" }) })).toBe(
      denied(`${wrong} paramRef.namespace must not be provided for a cluster-scoped \`paramKind\``),
    );
  });

  it("in a namespace are an error for cluster-scoped objects", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { paramKind, validations: [{ expression: "true" }] }, binding: ref({ name: "a" }) });
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "r" } };
    const answer = await running.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { body: role });
    expect(messageOf(answer)).toContain("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  });
});

describe("policies", () => {
  it("do not apply to policies, nor to access reviews", async () => {
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

  it("fail for a missing namespace only if their rules match", async () => {
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

  it("stop watching when the server closes", async () => {
    const running = policyServer();
    await addValidating(running, { spec: { validations: [{ expression: "true" }] } });
    running.server.close();
    expect(running.server.store.count("admissionregistration.k8s.io/validatingadmissionpolicies")).toBe(1);
  });
});
