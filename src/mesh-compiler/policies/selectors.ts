/** Pod selectors of the policies. A peer's selector always has a namespace: without one, Cilium uses the namespace of the policy. */
import type { JsonObject } from "#kube";
import { splitId, type ServiceId } from "../graph/node.ts";
import { WAYPOINT, type GatewayIdentity } from "../settings.ts";

const SERVICE_LABEL = "lattice.dev/service";
export const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";
const NAMESPACE = "k8s:io.kubernetes.pod.namespace";

/** Pods of a service in the policy's own namespace. Flagger keeps this label on the pods that it creates. */
export function ownPods(name: string): JsonObject {
  return { matchLabels: { [SERVICE_LABEL]: name } };
}

export function podsOf(id: ServiceId): JsonObject {
  const { namespace, name } = splitId(id);
  // literal property names: one selector is made per edge, and computed names take three times as long
  return { matchLabels: { "k8s:lattice.dev/service": name, "k8s:io.kubernetes.pod.namespace": namespace } };
}

/** A database that is not a Lattice service has no label of Lattice. */
export function managedPods(id: ServiceId): JsonObject {
  const { namespace, name } = splitId(id);
  return { matchLabels: { "k8s:app.kubernetes.io/name": name, [NAMESPACE]: namespace } };
}

/** All of a namespace. */
export function podsIn(namespace: string): JsonObject {
  return { matchLabels: { [NAMESPACE]: namespace } };
}

export function gatewayPods({ namespace, name }: Pick<GatewayIdentity, "namespace" | "name">): JsonObject {
  return { matchLabels: { [`k8s:${GATEWAY_LABEL}`]: name, [NAMESPACE]: namespace } };
}

export function waypointPods(namespace: string): JsonObject {
  return gatewayPods({ namespace, name: WAYPOINT });
}

export const DNS_PODS: JsonObject = { matchLabels: { "k8s:k8s-app": "kube-dns", [NAMESPACE]: "kube-system" } };
export const ISTIOD_PODS: JsonObject = { matchLabels: { "k8s:app": "istiod", [NAMESPACE]: "istio-system" } };

export function principal(trustDomain: string, namespace: string, serviceAccount: string): string {
  return `${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}
