/**
 * Objects that configure admission and authorization: webhook configurations, policies, quotas, limits, roles, and access reviews.
 *
 * `WEBHOOK` and `CA_BUNDLE` are placeholders for the webhook of the world that receives the request, so that a request can be replayed in another world.
 */
import type { JsonObject } from "#kube";
import type { HookPath } from "./fuzz-webhook.ts";

export const WEBHOOK = "https://webhook.invalid";
export const CA_BUNDLE = "Y2EtYnVuZGxl";

const rule = (resource: string, group = ""): JsonObject => ({
  apiGroups: [group],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE"],
  resources: [resource],
});
const everything = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };

function hook(path: HookPath, resource: string, more: JsonObject = {}): JsonObject {
  return {
    name: `${path}.fuzz.test`,
    clientConfig: { url: `${WEBHOOK}/${path}`, caBundle: CA_BUNDLE },
    rules: [rule(resource)],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 2,
    ...more,
  };
}

const MUTATING_HOOKS = [
  hook("patch", "configmaps", { reinvocationPolicy: "IfNeeded" }),
  hook("evil-patch", "secrets"),
  hook("bad-patch", "services", { failurePolicy: "Ignore" }),
  hook("hang", "leases", { failurePolicy: "Ignore", timeoutSeconds: 1 }),
  hook("allow", "pods", { rules: [everything], objectSelector: { matchLabels: { tier: "b" } } }),
];
const VALIDATING_HOOKS = [
  hook("deny", "endpoints"),
  hook("garbage", "podtemplates"),
  hook("cut", "events", { failurePolicy: "Ignore" }),
  hook("wrong-uid", "limitranges", { matchConditions: [{ name: "a", expression: "object.metadata.name == 'a'" }] }),
  hook("allow", "configmaps", { clientConfig: { service: { namespace: "default", name: "a", path: "/allow" }, caBundle: CA_BUNDLE } }),
];

const constraints = { resourceRules: [rule("configmaps"), rule("deployments", "apps")] };
const paramKind = { apiVersion: "v1", kind: "ConfigMap" };

const POLICIES: readonly [string, JsonObject][] = [
  [
    "validatingadmissionpolicies",
    {
      spec: {
        matchConstraints: constraints,
        paramKind,
        matchConditions: [{ name: "m", expression: "request.operation != 'DELETE'" }],
        variables: [{ name: "n", expression: "has(object.data) ? size(object.data) : 0" }],
        validations: [
          { expression: "variables.n < 5", messageExpression: "'too many: ' + string(variables.n)", reason: "Invalid" },
          { expression: "!has(object.spec) || object.spec.replicas <= 5" },
          { expression: "authorizer.group('').resource('pods').namespace('default').check('get').allowed()" },
        ],
        auditAnnotations: [{ key: "a", valueExpression: "string(variables.n)" }],
      },
    },
  ],
  [
    "validatingadmissionpolicybindings",
    { spec: { policyName: "a", validationActions: ["Deny"], paramRef: { name: "a", parameterNotFoundAction: "Allow" } } },
  ],
  [
    "mutatingadmissionpolicies",
    {
      spec: {
        matchConstraints: constraints,
        reinvocationPolicy: "IfNeeded",
        failurePolicy: "Ignore",
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'touched': 'yes'}}}" },
          },
          { patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels/two', value: 'b'}]" } },
        ],
      },
    },
  ],
  ["mutatingadmissionpolicybindings", { spec: { policyName: "a" } }],
];

const LIMITS: readonly [string, JsonObject][] = [
  [
    "resourcequotas",
    {
      spec: {
        hard: { configmaps: "9", pods: "7", "count/deployments.apps": "4", "requests.cpu": "3", "limits.memory": "1Gi", services: "5" },
      },
    },
  ],
  [
    "limitranges",
    {
      spec: {
        limits: [{ type: "Container", default: { cpu: "100m", memory: "64Mi" }, defaultRequest: { cpu: "50m" }, max: { cpu: "4" } }],
      },
    },
  ],
];

const subjects = [
  { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "viewer" },
  { kind: "ServiceAccount", name: "a", namespace: "default" },
  { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:authenticated" },
];
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const resourceAttributes = { namespace: "default", verb: "get", group: "", resource: "pods", name: "a" };

const RIGHTS: readonly [string, JsonObject][] = [
  ["roles", { rules }],
  ["clusterroles", { rules, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { app: "a" } }] } }],
  ["rolebindings", { subjects, roleRef }],
  ["clusterrolebindings", { subjects: subjects.slice(0, 2), roleRef }],
  ["serviceaccounts", { secrets: [{ name: "a" }], automountServiceAccountToken: true }],
  ["tokenreviews", { spec: { token: "abc", audiences: ["a"] } }],
  ["subjectaccessreviews", { spec: { user: "viewer", groups: ["a"], extra: { a: ["b"] }, resourceAttributes } }],
  ["selfsubjectaccessreviews", { spec: { nonResourceAttributes: { path: "/livez", verb: "get" } } }],
  ["localsubjectaccessreviews", { spec: { user: "viewer", resourceAttributes } }],
  ["selfsubjectrulesreviews", { spec: { namespace: "default" } }],
];

export const ADMISSION_SPECS: readonly [string, JsonObject][] = [
  ["mutatingwebhookconfigurations", { webhooks: MUTATING_HOOKS }],
  ["validatingwebhookconfigurations", { webhooks: VALIDATING_HOOKS }],
  ...POLICIES,
  ...LIMITS,
  ...RIGHTS,
];
