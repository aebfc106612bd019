/**
 * The cost of admission: the same create with and without a webhook, a policy, a quota, or a limit. Webhooks are a real HTTPS server on
 * loopback in this process: their response time is part of the figure, as it is for a client.
 */
import { expectOk } from "#base";
import type { Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { costOf, inGroup, type Guard } from "./support/guarded-servers.ts";
import { startBenchWebhook, type BenchWebhook } from "./support/bench-webhook.ts";

const GROUP = "admissionregistration.k8s.io";
const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps", "pods"] };
const matchConstraints = { resourceRules: [rule] };

export async function run(): Promise<readonly BenchResult[]> {
  const webhook = await startBenchWebhook();
  const results: BenchResult[] = [];
  for (const guard of guards(webhook)) results.push(...(await costOf(guard)));
  await webhook.close();
  return results;
}

function guards(webhook: BenchWebhook): readonly Guard[] {
  const slow = { requests: 60, note: "; includes the work of the webhook" };
  return [
    { name: "a mutating webhook that adds a label", prepare: (admin) => hook(admin, webhook, "Mutating"), ...slow },
    { name: "a validating webhook", prepare: (admin) => hook(admin, webhook, "Validating"), ...slow },
    { name: "a ResourceQuota", prepare: quota },
    { name: "a LimitRange", prepare: limits },
    { name: "a ValidatingAdmissionPolicy", prepare: validatingPolicy },
    { name: "a MutatingAdmissionPolicy", prepare: mutatingPolicy },
  ];
}

async function hook(admin: KubeClient, { url, caBundle }: BenchWebhook, way: "Mutating" | "Validating"): Promise<void> {
  const clientConfig = { url: `${url}/${way.toLowerCase()}`, caBundle };
  const webhooks = [{ name: "bench.lattice.test", clientConfig, rules: [rule], sideEffects: "None", admissionReviewVersions: ["v1"] }];
  const kind = `${way}WebhookConfiguration`;
  await make(admin, inGroup(GROUP, kind, `${kind.toLowerCase()}s`), { webhooks });
}

async function quota(admin: KubeClient): Promise<void> {
  const hard = { "count/configmaps": "1000000", pods: "1000000", "requests.cpu": "1000000", "limits.memory": "1000Ti" };
  await make(admin, inGroup("", "ResourceQuota", "resourcequotas", true), { spec: { hard } });
}

async function limits(admin: KubeClient): Promise<void> {
  const limit = { type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "100m" }, max: { cpu: "4", memory: "8Gi" } };
  await make(admin, inGroup("", "LimitRange", "limitranges", true), { spec: { limits: [limit] } });
}

async function validatingPolicy(admin: KubeClient): Promise<void> {
  const validations = [
    { expression: "object.metadata.name.size() < 60" },
    { expression: "!has(object.metadata.labels) || object.metadata.labels.all(name, name.size() < 60)" },
  ];
  await make(admin, inGroup(GROUP, "ValidatingAdmissionPolicy", "validatingadmissionpolicies"), {
    spec: { matchConstraints, validations },
  });
  const spec = { policyName: "bench", validationActions: ["Deny"] };
  await make(admin, inGroup(GROUP, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"), { spec });
}

async function mutatingPolicy(admin: KubeClient): Promise<void> {
  const expression = `Object{metadata: Object.metadata{labels: {"touched": "yes"}}}`;
  const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }];
  const spec = { matchConstraints, reinvocationPolicy: "Never", mutations };
  await make(admin, inGroup(GROUP, "MutatingAdmissionPolicy", "mutatingadmissionpolicies"), { spec });
  await make(admin, inGroup(GROUP, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"), { spec: { policyName: "bench" } });
}

async function make(admin: KubeClient, resource: Resource, content: object): Promise<void> {
  const { group, version, kind, namespaced } = resource;
  const metadata = { name: "bench", ...(namespaced ? { namespace: "default" } : {}) };
  expectOk(await admin.create(resource, { apiVersion: group === "" ? version : `${group}/${version}`, kind, metadata, ...content }));
}
