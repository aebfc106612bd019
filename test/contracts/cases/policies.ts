/** Validating and mutating admission policies: CEL instead of a webhook. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const resourceRules = [{ operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];

/** A policy for this contract's namespace, with a binding. The server rejects `probe` as soon as the policy is in effect. */
async function policy(api: Api, spec: object, { binding = {}, probe }: { binding?: object; probe?: object } = {}): Promise<string> {
  const name = `policy-${api.id}`;
  await api.created(`${REGISTRATION}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules }, ...spec },
  });
  const matchResources = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": api.namespace } } };
  await api.created(`${REGISTRATION}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"], matchResources, ...binding },
  });
  if (probe !== undefined)
    await api.until(
      () => api.post("configmaps?dryRun=All", probe),
      ({ status, warnings }) => status !== 201 || warnings.length > 0,
    );
  return name;
}

export const policies = area("admission policies", {
  "a validation that fails denies with its message": async (api) => {
    const name = await policy(
      api,
      { validations: [{ expression: "!has(object.data) || object.data.size() < 2", message: "one entry at most" }] },
      { probe: configMap("probe", { a: "1", b: "2" }) },
    );
    (await api.post("configmaps", configMap("a", { a: "1" }))).gives(201);
    (await api.post("configmaps", configMap("b", { a: "1", b: "2" }))).refuses(
      422,
      "Invalid",
      `configmaps "b" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: one entry at most`,
      { details: { name: "b", kind: "configmaps" } },
    );
  },

  "the message is the expression, or the result of messageExpression": async (api) => {
    const expression = "object.metadata.name != 'probe' && object.metadata.name != 'bad'";
    const name = await policy(
      api,
      {
        validations: [{ expression }, { expression: "object.metadata.name != 'worse'", messageExpression: "'no ' + object.metadata.name" }],
      },
      { probe: configMap("probe") },
    );
    (await api.post("configmaps", configMap("bad"))).refuses(
      422,
      "Invalid",
      `configmaps "bad" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: failed expression: ${expression}`,
    );
    (await api.post("configmaps", configMap("worse"))).refuses(
      422,
      "Invalid",
      `configmaps "worse" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: no worse`,
    );
  },

  "the reason of a validation sets the status code": async (api) => {
    await policy(
      api,
      { validations: [{ expression: "object.metadata.name != 'probe'", reason: "Forbidden", message: "no" }] },
      { probe: configMap("probe") },
    );
    (await api.post("configmaps", configMap("probe"))).gives(403, { reason: "Forbidden" });
  },

  "a binding with the action Warn only warns": async (api) => {
    const name = await policy(
      api,
      { validations: [{ expression: "object.metadata.name != 'a'", message: "hm" }] },
      { binding: { validationActions: ["Warn"] }, probe: configMap("a") },
    );
    (await api.post("configmaps", configMap("a")))
      .gives(201)
      .warns(`Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': hm`);
  },

  "expressions can read variables, oldObject, request and namespaceObject": async (api) => {
    await policy(
      api,
      {
        variables: [{ name: "size", expression: "has(object.data) ? object.data.size() : 0" }],
        validations: [
          { expression: "variables.size < 3", message: "three are too many" },
          {
            expression: "request.operation == 'CREATE' || !has(oldObject.data) || variables.size >= oldObject.data.size()",
            message: "may only grow",
          },
          { expression: `namespaceObject.metadata.name == '${api.namespace}'`, message: "elsewhere" },
          { expression: "request.userInfo.username != 'alice'", message: "not alice" },
        ],
      },
      { probe: configMap("probe", { a: "1", b: "2", c: "3" }) },
    );
    await api.created("configmaps", configMap("a", { a: "1", b: "2" }));
    const shrunk = await api.put("configmaps/a", configMap("a", { a: "1" }));
    expect(shrunk.gives(422).textAt("message")).toContain("may only grow");
  },

  "matchConditions decide whether a policy applies": async (api) => {
    await policy(
      api,
      {
        matchConditions: [{ name: "named", expression: "object.metadata.name.startsWith('x')" }],
        validations: [{ expression: "false", message: "never" }],
      },
      { probe: configMap("x") },
    );
    (await api.post("configmaps", configMap("a"))).gives(201);
    (await api.post("configmaps", configMap("xa"))).gives(422);
  },

  "params are read from an object": async (api) => {
    await api.created("configmaps", configMap("limits", { max: "1" }, { labels: { params: "yes" } }));
    const name = await policy(
      api,
      {
        paramKind: { apiVersion: "v1", kind: "ConfigMap" },
        validations: [{ expression: "!has(object.data) || object.data.size() <= int(params.data.max)", message: "more than the limit" }],
      },
      { binding: { paramRef: { name: "limits", namespace: api.namespace, parameterNotFoundAction: "Deny" } } },
    );
    await api.until(
      () => api.post("configmaps?dryRun=All", configMap("probe", { a: "1", b: "2" })),
      ({ text }) => text.includes("more than the limit"),
    );
    (await api.post("configmaps", configMap("a", { a: "1" }))).gives(201);
    (await api.post("configmaps", configMap("b", { a: "1", b: "2" }))).refuses(
      422,
      "Invalid",
      `configmaps "b" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: more than the limit`,
    );
  },

  "with failurePolicy Fail a runtime error denies": async (api) => {
    await policy(
      api,
      { failurePolicy: "Fail", validations: [{ expression: "object.data.nothing == 'x'" }] },
      { probe: configMap("probe", { a: "1" }) },
    );
    const answer = await api.post("configmaps", configMap("a", { a: "1" }));
    expect(answer.gives(422).textAt("message")).toContain("no such key: nothing");
  },

  "an expression that does not compile is rejected": async (api) => {
    const bad = (spec: object) =>
      api.post(`${REGISTRATION}/validatingadmissionpolicies?dryRun=All`, {
        metadata: { name: `bad-${api.id}` },
        spec: { matchConstraints: { resourceRules }, ...spec },
      });
    (await bad({ validations: [{ expression: "object." }] })).gives(422, { reason: "Invalid" });
    (await bad({ validations: [{ expression: "1 + 1" }] })).refuses(422, "Invalid", expect.stringContaining("must evaluate to bool"));
    (await bad({ validations: [] })).gives(422);
    (await bad({ validations: [{ expression: "unknown.name" }] })).refuses(
      422,
      "Invalid",
      expect.stringContaining("undeclared reference to 'unknown'"),
    );
  },

  "a mutating policy changes the object": async (api) => {
    const name = `policy-${api.id}`;
    const mutations = [
      {
        patchType: "ApplyConfiguration",
        applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"mutated": "yes"}}}' },
      },
    ];
    await api.created(`${REGISTRATION}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: { matchConstraints: { resourceRules }, mutations, reinvocationPolicy: "Never", failurePolicy: "Fail" },
    });
    const matchResources = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": api.namespace } } };
    await api.created(`${REGISTRATION}/mutatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, matchResources },
    });
    await api.until(
      () => api.post("configmaps?dryRun=All", configMap("probe")),
      (answer) => answer.at("metadata.labels.mutated") === "yes",
    );
    (await api.post("configmaps", configMap("a"))).gives(201).has("metadata.labels", { mutated: "yes" });
  },
});
