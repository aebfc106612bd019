/** The fields of a Pod that matter to a Service. Pure, and shared by EndpointSlices and Endpoints. */
import { jsonEqual, matches, requirementsOf, type Pod, type Service, type ServicePort, type TargetRef } from "#kube";
import { isPodFinished, isPodReady } from "../pods/pod-status.ts";

export function selectsPod({ spec }: Service, { metadata }: Pod): boolean {
  return matches(requirementsOf({ matchLabels: spec?.selector ?? {} }), metadata.labels);
}

export function belongsInEndpoints(pod: Pod, { withTerminating }: { readonly withTerminating: boolean }): boolean {
  if (isPodFinished(pod) || podAddresses(pod).length === 0) return false;
  return withTerminating || pod.metadata.deletionTimestamp === undefined;
}

export function podAddresses({ status }: Pod): readonly string[] {
  return (status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip]));
}

export function isIPv6(address: string): boolean {
  return address.includes(":");
}

export function targetOf({ metadata }: Pod): TargetRef {
  return { kind: "Pod", namespace: metadata.namespace ?? "", name: metadata.name, uid: metadata.uid ?? "" };
}

/** The Pod's host name in the Service's DNS domain. */
export function hostnameOf({ spec, metadata }: Pod, service: Service): string | undefined {
  const own = spec?.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return own && (spec.hostname ?? "") !== "" ? spec.hostname : undefined;
}

/** The number of a Service's port on this Pod: a named port is looked up in all containers and sidecars. */
export function findPort({ spec }: Pod, { targetPort, port, protocol = "TCP" }: ServicePort): number | undefined {
  if (typeof targetPort !== "string") return targetPort ?? port;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.find((found) => found.name === targetPort && (found.protocol ?? "TCP") === protocol)?.containerPort;
}

/** Whether a field changed that is visible in an endpoint. Most changes of a Pod do not affect its Services. */
export function endpointChanged(before: Pod | undefined, after: Pod | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return !jsonEqual(visibleFieldsOf(before), visibleFieldsOf(after));
}

function visibleFieldsOf(pod: Pod) {
  const { labels = {}, deletionTimestamp } = pod.metadata;
  const { hostname, subdomain, nodeName } = pod.spec ?? {};
  const state = { ready: isPodReady(pod), finished: isPodFinished(pod), deletionTimestamp };
  return { labels, hostname, subdomain, nodeName, addresses: podAddresses(pod), ...state };
}
