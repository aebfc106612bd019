/** What a policy or a binding may look like: compared cause by cause with a real server. */
import { describe, expect, it } from "vitest";
import type { JsonObject, KubeObject } from "#kube";
import { builtinTypes } from "../builtin-types.ts";

const types = [...builtinTypes().values()];

function causesOf(kind: string, spec: object, name = "p"): readonly string[] {
  const type = types.find(({ resource }) => resource.kind === kind && resource.version === "v1");
  if (type === undefined) throw new Error(`there is no ${kind}`);
  const given = { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name }, spec } as unknown as KubeObject;
  return type.validate(type.applyDefaults(given), undefined, undefined).map(({ field, detail }) => `${field}: ${detail}`);
}

const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
const matchConstraints = { resourceRules: [rule] };
const validating = (spec: object) =>
  causesOf("ValidatingAdmissionPolicy", { matchConstraints, validations: [{ expression: "true" }], ...spec });
const mutating = (spec: object) =>
  causesOf("MutatingAdmissionPolicy", {
    matchConstraints,
    reinvocationPolicy: "Never",
    mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
    ...spec,
  });

const CAUGHT = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^";

describe("a validating policy", () => {
  it.each<{ readonly name: string; readonly given: object; readonly want: readonly string[] }>([
    { name: "may be small", given: {}, want: [] },
    {
      name: "says something",
      given: { validations: [] },
      want: [
        "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
        "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
      ],
    },
    { name: "matches something", given: { matchConstraints: {} }, want: ["spec.matchConstraints.resourceRules: Required value"] },
    { name: "says what it matches", given: { matchConstraints: undefined }, want: ["spec.matchConstraints: Required value"] },
    {
      name: "compiles",
      given: { validations: [{ expression: "foo" }] },
      want: [`spec.validations[0].expression: Invalid value: "foo": ${CAUGHT}`],
    },
    {
      name: "evaluates to bool",
      given: { validations: [{ expression: "object" }] },
      want: ['spec.validations[0].expression: Invalid value: "object": must evaluate to bool but got dyn'],
    },
    {
      name: "has messages of one line, and reasons that are known",
      given: { validations: [{ expression: "true", message: "a\nb", messageExpression: " ", reason: "Unauthorized" }] },
      want: [
        'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
        'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
        'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    },
    {
      name: "has conditions with names of their own",
      given: { matchConditions: [{ name: "a", expression: " " }, { name: "a", expression: "true" }, { expression: " foo " }] },
      want: [
        "spec.matchConditions[0].expression: Required value",
        'spec.matchConditions[1].name: Duplicate value: "a"',
        `spec.matchConditions[2].expression: Invalid value: "foo": ${CAUGHT}`,
        "spec.matchConditions[2].name: Required value",
      ],
    },
    {
      name: "has at most 64 of them",
      given: { matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `n${index}`, expression: "true" })) },
      want: ["spec.matchConditions: Too many: 65: must have at most 64 items"],
    },
    {
      name: "has variables with names that can be written",
      given: {
        variables: [
          { name: "for", expression: "1" },
          { name: "", expression: " " },
          { name: "x", expression: "foo" },
        ],
      },
      want: [
        'spec.variables[0].name: Invalid value: "for": must be a valid CEL identifier',
        "spec.variables[1].name: Required value: name is not specified",
        "spec.variables[1].expression: Required value: expression is not specified",
        `spec.variables[2].expression: Invalid value: "foo": ${CAUGHT}`,
      ],
    },
    {
      name: "has audit annotations with values",
      given: {
        auditAnnotations: [
          { key: "a", valueExpression: " foo " },
          { key: "a", valueExpression: "" },
          { key: "b c", valueExpression: `'${"x".repeat(5_120)}'` },
        ],
      },
      want: [
        `spec.auditAnnotations[0].valueExpression: Invalid value: " foo ": ${CAUGHT}`,
        "spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
        'spec.auditAnnotations[1].key: Duplicate value: "a"',
        expect.stringContaining('spec.auditAnnotations[2].key: Invalid value: "p/b c": name part must consist of') as string,
        "spec.auditAnnotations[2].valueExpression: Required value: must not exceed 5120 bytes in length",
      ],
    },
    {
      name: "has at most twenty of them",
      given: { auditAnnotations: Array.from({ length: 21 }, (_, index) => ({ key: `n${index}`, valueExpression: "'a'" })) },
      want: [
        expect.stringMatching(
          /^spec.auditAnnotations: Invalid value: \[\{"Key":"n0","ValueExpression":"'a'"\}.*: must not have more than 20 auditAnnotations$/,
        ) as string,
      ],
    },
    {
      name: "has params of a kind",
      given: { paramKind: { apiVersion: "A_/", kind: "1" } },
      want: [
        expect.stringContaining('spec.paramKind.apiVersion: Invalid value: "A_": a lowercase RFC 1123 subdomain') as string,
        'spec.paramKind.apiVersion: Invalid value: "A_/": version must be specified',
        expect.stringContaining(
          'spec.paramKind.kind: Invalid value: "1": may have mixed case, but should otherwise match: a DNS-1035 label',
        ) as string,
      ],
    },
    {
      name: "has params of a version",
      given: { paramKind: { apiVersion: "a/b/c", kind: "" } },
      want: [
        'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        "spec.paramKind.kind: Required value",
      ],
    },
    {
      name: "has params of something",
      given: { paramKind: {} },
      want: ["spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"],
    },
    {
      name: "has params of a version that is one",
      given: { paramKind: { apiVersion: `apps/V${"1".repeat(63)}`, kind: "K" } },
      want: [expect.stringContaining("must be no more than 63 characters,a DNS-1035 label") as string],
    },
  ])("$name", ({ given, want }) => {
    expect(validating(given)).toEqual(want);
  });

  it("without a name has no audit annotations", () => {
    const spec = { matchConstraints, auditAnnotations: [{ key: "k", valueExpression: "'v'" }] };
    expect(causesOf("ValidatingAdmissionPolicy", spec, "")).toContain(
      'spec.auditAnnotations[0].key: Invalid value: "k": requires metadata.name be non-empty',
    );
  });

  it("has a status that says where and what", () => {
    const type = types.find(({ resource }) => resource.kind === "ValidatingAdmissionPolicy");
    const status = {
      typeChecking: { expressionWarnings: [{ fieldRef: " ", warning: "" }] },
      conditions: [
        { type: "a b", status: "Maybe", observedGeneration: -1, reason: "1" },
        {
          type: "ok",
          status: "True",
          lastTransitionTime: "2026-01-01T00:00:00Z",
          reason: `A${"a".repeat(1_024)}`,
          message: "m".repeat(32_769),
        },
        { type: "ok", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z", reason: "" },
      ],
    };
    const metadata = { name: "p", resourceVersion: "1", uid: "u" };
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata,
      status,
    } as unknown as KubeObject;
    const causes = type?.validate(policy, policy, "status").map(({ field }) => field);
    expect(causes).toEqual([
      "status.typeChecking.expressionWarnings[0].warning",
      "status.typeChecking.expressionWarnings[0].fieldRef",
      "status.conditions[0].type",
      "status.conditions[0].status",
      "status.conditions[0].observedGeneration",
      "status.conditions[0].lastTransitionTime",
      "status.conditions[0].reason",
      "status.conditions[1].reason",
      "status.conditions[1].message",
      "status.conditions[2].type",
      "status.conditions[2].reason",
    ]);
  });
});

describe("a rule", () => {
  const rules = (more: object) =>
    validating({ matchConstraints: { resourceRules: [{ ...rule, ...more }] } }).map((cause) =>
      cause.replace("spec.matchConstraints.resourceRules[0].", ""),
    );
  it.each<{ readonly given: JsonObject; readonly want: readonly string[] }>([
    { given: { operations: [] }, want: ["operations: Required value"] },
    {
      given: { apiGroups: ["*", "a"] },
      want: [`apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`],
    },
    { given: { apiVersions: [""] }, want: ["apiVersions[0]: Required value"] },
    { given: { resources: [] }, want: ["resources: Required value"] },
    { given: { resources: [""] }, want: ["resources[0]: Required value"] },
    {
      given: { resources: ["*", "pods"] },
      want: [`resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`],
    },
    { given: { resources: ["pods", "*"] }, want: [] },
    {
      given: { resources: ["*/*", "pods"] },
      want: [`resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`],
    },
    {
      given: { resources: ["pods/*", "pods/status"] },
      want: [`resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`],
    },
    {
      given: { resources: ["*/status", "pods/status"] },
      want: [`resources[1]: Invalid value: "pods/status": if '*/status' is present, must not specify pods/status`],
    },
    {
      given: { resourceNames: ["a/b", "c", "c"] },
      want: [`resourceNames[0]: Invalid value: "a/b": may not contain '/'`, 'resourceNames[2]: Duplicate value: "c"'],
    },
    { given: { scope: "Some" }, want: ['scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"'] },
  ])("$given", ({ given, want }) => {
    expect(rules(given)).toEqual(want);
  });
});

describe("a mutating policy", () => {
  it.each<{ readonly name: string; readonly given: object; readonly want: readonly string[] }>([
    { name: "may be small", given: {}, want: [] },
    {
      name: "mutates something",
      given: { mutations: [] },
      want: ["spec.mutations: Required value: mutations must contain at least one item"],
    },
    {
      name: "knows two kinds of patches",
      given: { mutations: [{}, { patchType: "Foo" }] },
      want: [
        "spec.mutations[0].patchType: Required value",
        'spec.mutations[1].patchType: Unsupported value: "Foo": supported values: "ApplyConfiguration", "JSONPatch"',
      ],
    },
    {
      name: "says what its type says, and nothing else",
      given: { mutations: [{ patchType: "JSONPatch", applyConfiguration: { expression: "Object{}" } }] },
      want: [
        "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
        'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      ],
    },
    {
      name: "makes an object or operations",
      given: {
        mutations: [
          { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object.spec{}" } },
          { patchType: "JSONPatch", jsonPatch: { expression: "[Object{}]" } },
          { patchType: "JSONPatch", jsonPatch: { expression: " " } },
        ],
      },
      want: [
        'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec',
        'spec.mutations[1].jsonPatch.expression: Invalid value: "[Object{}]": must evaluate to list(JSONPatch) but got list(Object)',
        "spec.mutations[2].jsonPatch.expression: Required value",
      ],
    },
    {
      name: "writes operations with the fields they have",
      given: { mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 1, foo: 2}]" } }] },
      want: [
        expect.stringMatching(
          /expected type of field 'op' is 'string' but provided type is 'int'[^]*expected type of field 'foo' is '' but provided type is 'int'/,
        ) as string,
      ],
    },
    {
      name: "mutates nothing that is deleted",
      given: { matchConstraints: { resourceRules: [{ ...rule, operations: ["DELETE"] }] } },
      want: [
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      ],
    },
    { name: "says whether it runs again", given: { reinvocationPolicy: "" }, want: ["spec.reinvocationPolicy: Required value"] },
  ])("$name", ({ given, want }) => {
    expect(mutating(given)).toEqual(want);
  });
});

describe("a binding", () => {
  const binding = (spec: object) => causesOf("ValidatingAdmissionPolicyBinding", { policyName: "p", validationActions: ["Deny"], ...spec });
  it.each<{ readonly name: string; readonly given: object; readonly want: readonly string[] }>([
    { name: "may be small", given: {}, want: [] },
    {
      name: "names a policy and an action",
      given: { policyName: "", validationActions: [] },
      want: ["spec.policyName: Required value", "spec.validationActions: Required value: at least one validation action is required"],
    },
    {
      name: "does not say the same thing twice",
      given: { validationActions: ["Deny", "Warn", "Warn", "Shout"] },
      want: [
        'spec.validationActions[2]: Duplicate value: "Warn"',
        'spec.validationActions[3]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"',
        'spec.validationActions: Invalid value: ["Deny","Warn","Warn","Shout"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    },
    {
      name: "finds params by name or by label",
      given: { paramRef: { name: "a/b", selector: {}, parameterNotFoundAction: "Foo" } },
      want: [
        `spec.paramRef.name: Invalid value: "a/b": may not contain '/'`,
        "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
        "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
        'spec.paramRef.parameterNotFoundAction: Unsupported value: "Foo": supported values: "Deny", "Allow"',
      ],
    },
    {
      name: "finds them somehow",
      given: { paramRef: {} },
      want: [
        "spec.paramRef: Required value: one of name or selector must be specified",
        "spec.paramRef.parameterNotFoundAction: Required value",
      ],
    },
    {
      name: "narrows what is matched",
      given: { matchResources: { matchPolicy: "Some" } },
      want: ['spec.matchResources.matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"'],
    },
  ])("$name", ({ given, want }) => {
    expect(binding(given)).toEqual(want);
  });

  it("of a mutating policy matches nothing that is deleted", () => {
    const spec = { policyName: "p", matchResources: { resourceRules: [{ ...rule, operations: ["DELETE"] }] } };
    expect(causesOf("MutatingAdmissionPolicyBinding", spec)).toEqual([
      'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ]);
  });
});
