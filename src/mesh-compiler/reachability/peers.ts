/** Senders and receivers of the data plane: pods with labels and an identity, hosts outside the cluster, and kubelet. */
import { fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";

export type LabelSet = Readonly<Record<string, string>>;

export type PodIdentity = {
  readonly kind: "pod";
  readonly namespace: string;
  readonly labels: LabelSet;
  /** Labels of its namespace, which some selectors match. */
  readonly namespaceLabels: LabelSet;
  readonly serviceAccount: string;
};

export type Outside = { readonly kind: "outside"; readonly host: string; readonly address: string | undefined };

export type Peer = PodIdentity | Outside;

export function labelsIn(value: unknown): LabelSet {
  return isJsonObject(value) ? (value as LabelSet) : {};
}

/** The pods of a Deployment. */
export function podOf(deployment: KubeObject, namespaceLabels: LabelSet): PodIdentity {
  const template = fieldAt(deployment, "spec", "template");
  const account = fieldAt(template, "spec", "serviceAccountName");
  return {
    kind: "pod",
    namespace: deployment.metadata.namespace ?? "default",
    labels: labelsIn(fieldAt(template, "metadata", "labels")),
    namespaceLabels,
    serviceAccount: typeof account === "string" ? account : "default",
  };
}

/** The pods of a Gateway: Istio names their service account after the Gateway, followed by its class unless it is a waypoint. */
export function gatewayPod(gateway: KubeObject, namespaceLabels: LabelSet): PodIdentity {
  const { name, namespace = "default" } = gateway.metadata;
  const className = fieldAt(gateway, "spec", "gatewayClassName");
  const serviceAccount = className === "istio-waypoint" || typeof className !== "string" ? name : `${name}-${className}`;
  return { kind: "pod", namespace, labels: { "gateway.networking.k8s.io/gateway-name": name }, namespaceLabels, serviceAccount };
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
