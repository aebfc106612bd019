/**
 * The MutatingWebhookConfiguration for the Deployments that services refer to. Pure.
 *
 * A write of any other Deployment does not reach the webhook: by its namespace, and by a condition on names. For updates an object selector comes
 * first, because API servers convert the objects of a request for any condition, which takes longer than the condition itself. A Deployment that is about
 * to be created has no label of Lattice yet, so that creations have no such selector.
 */
import { base64OfText } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { PATCHED_LABEL, type WorkloadTarget } from "#workload-patch";
import { MUTATE_DEPLOYMENTS_PATH } from "./handler.ts";

/** How API servers reach the webhook: through a Service in the cluster, or at an address outside. */
export type WebhookAddress =
  | { readonly kind: "service"; readonly namespace: string; readonly name: string }
  | { readonly kind: "url"; readonly host: string; readonly port: number };

export type WebhookConfigurationInput = {
  readonly name: string;
  readonly targets: readonly WorkloadTarget[];
  readonly address: WebhookAddress;
  /** PEM. */
  readonly trust: string;
};

const HOOK_DOMAIN = "deployments.workload-patches.lattice.dev";
const NAMESPACE_LABEL = "kubernetes.io/metadata.name";
/**
 * API servers refuse expressions of more than 100,000 characters. Above this bound only namespaces and, for updates, the label are selected: the webhook is then called for
 * other Deployments of these namespaces too, and changes nothing.
 */
export const MAX_CONDITION_LENGTH = 64_000;

/** Undefined: no service refers to a Deployment, and there is no configuration. */
export function webhookConfiguration({ name, targets, address, trust }: WebhookConfigurationInput): KubeObject | undefined {
  if (targets.length === 0) return undefined;
  const namespaces = [...new Set(targets.map(({ namespace }) => namespace))].toSorted();
  const hook = (operation: "CREATE" | "UPDATE", objectSelector: JsonObject): JsonObject => ({
    name: `${operation.toLowerCase()}.${HOOK_DOMAIN}`,
    admissionReviewVersions: ["v1"],
    clientConfig: { ...reach(address), caBundle: base64OfText(trust) },
    failurePolicy: "Ignore",
    ...conditions(targets),
    matchPolicy: "Equivalent",
    namespaceSelector: { matchExpressions: [{ key: NAMESPACE_LABEL, operator: "In", values: namespaces }] },
    objectSelector,
    reinvocationPolicy: "IfNeeded",
    rules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: [operation], resources: ["deployments"], scope: "Namespaced" }],
    sideEffects: "None",
    timeoutSeconds: 2,
  });
  // a selector matches the old or the new object: an owner that drops the label is selected
  const patched = { matchExpressions: [{ key: PATCHED_LABEL, operator: "Exists" }] };
  const webhooks = [hook("CREATE", {}), hook("UPDATE", patched)];
  const metadata = { name, labels: { "app.kubernetes.io/managed-by": "lattice" } };
  return { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration", metadata, webhooks } as KubeObject;
}

function reach(address: WebhookAddress): JsonObject {
  if (address.kind === "service") {
    const { namespace, name } = address;
    return { service: { namespace, name, path: MUTATE_DEPLOYMENTS_PATH, port: 443 } };
  }
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return { url: `https://${host}:${address.port}${MUTATE_DEPLOYMENTS_PATH}` };
}

/** Names are DNS names, so that they need no escapes. */
function conditions(targets: readonly WorkloadTarget[]): JsonObject {
  const keys = targets.map(({ namespace, name }) => `"${namespace}/${name}"`).toSorted();
  const expression = `request.namespace + "/" + request.name in [${keys.join(",")}]`;
  return expression.length > MAX_CONDITION_LENGTH ? {} : { matchConditions: [{ name: "referenced-by-a-service", expression }] };
}
