/** The data plane of an operated cluster, computed from its objects: what Cilium, ztunnel and waypoints would enforce. */
import { DataPlane } from "#mesh-compiler";
import type { OperatedCluster } from "./operated-cluster.ts";

const KINDS = ["Namespace", "CiliumNetworkPolicy", "AuthorizationPolicy", "Deployment", "Service", "Gateway"];

export const INGRESS_GATEWAY = "istio-ingress/gateway";

/** The ingress Gateway, as an administrator installs it. */
export function ingressGateway() {
  const [namespace, name] = INGRESS_GATEWAY.split("/");
  const metadata = { name, namespace };
  return { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata, spec: { gatewayClassName: "istio" } };
}

export async function livePlane(operated: OperatedCluster): Promise<DataPlane> {
  const lists = await Promise.all(KINDS.map((kind) => operated.list(kind)));
  return new DataPlane(lists.flat());
}

/** Whether one service, or the ingress gateway, reaches another on port 8080. */
export async function reaches(operated: OperatedCluster, from: string, to: string): Promise<boolean | undefined> {
  return (await livePlane(operated)).ask({ from, to, port: 8080 })?.open;
}

/** Whether a service reaches a host outside the cluster on port 443. */
export async function reachesHost(operated: OperatedCluster, from: string, host: string): Promise<boolean | undefined> {
  return (await livePlane(operated)).askOutside(from, { kind: "outside", host, address: undefined }, 443)?.open;
}

/** Whether the kubelet's probes reach the pods of a service. */
export async function isProbed(operated: OperatedCluster, service: string): Promise<boolean> {
  const [namespace, name] = service.split("/");
  const text = JSON.stringify((await operated.list("CiliumNetworkPolicy")).filter(({ metadata }) => metadata.namespace === namespace));
  return text.includes(`"lattice.dev/service":"${name}"`) && text.includes("169.254.7.127/32");
}
