/** How policies name pods. A peer's selector always carries its namespace: without one, Cilium means the policy's own. */
import type { JsonObject } from "#kube";
import { splitId, type ServiceId } from "../graph/node.ts";
import { WAYPOINT, type GatewayIdentity } from "../settings.ts";

const SERVICE_LABEL = "lattice.dev/service";
export const GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name";
const NAMESPACE = "k8s:io.kubernetes.pod.namespace";

/** Pods of a service in the policy's own namespace. Flagger keeps this label on the pods that it makes. */
export function ownPods(name: string): JsonObject {
  return { matchLabels: { [SERVICE_LABEL]: name } };
}

export function podsOf(id: ServiceId): JsonObject {
  const { namespace, name } = splitId(id);
  // names written out: there are as many of these as there are edges, and computed ones take three times as long
  return { matchLabels: { "k8s:lattice.dev/service": name, "k8s:io.kubernetes.pod.namespace": namespace } };
}

/** A database that is no service of ours has no label of ours. */
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
