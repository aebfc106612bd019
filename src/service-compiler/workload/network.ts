/** ServiceAccount, Service and HTTPRoutes: the identity, the address and the published routes of a service. */
import type { LatticeServiceSpec } from "#crds";
import type { JsonObject, KubeObject } from "#kube";
import type { RouteTarget } from "../provisioners/index.ts";
import { sortedPorts, type Ports } from "./container.ts";
import { metadataFor, type WorkloadOwner } from "./names.ts";
import type { CompiledObject } from "./once.ts";

export function compileServiceAccount(owner: WorkloadOwner): CompiledObject {
  return { object: { apiVersion: "v1", kind: "ServiceAccount", metadata: metadataFor(owner, owner.name) } };
}

/** Under a canary, Flagger rewrites selector and ports. */
export function compileService(owner: WorkloadOwner, { service, deploy }: LatticeServiceSpec): CompiledObject | undefined {
  const ports = service?.ports ?? {};
  const compiled = compileServiceFor(owner, ports, { "app.kubernetes.io/name": owner.name });
  if (compiled === undefined || deploy?.strategy !== "canary") return compiled;
  const { spec, ...head } = compiled.object as KubeObject & { readonly spec: JsonObject };
  return { object: { ...head, spec: { type: "ClusterIP" } } as KubeObject, once: { spec } };
}

/** A Service for the pods with these labels; undefined: it has no ports. */
export function compileServiceFor(
  owner: WorkloadOwner,
  ports: Ports,
  selector: Readonly<Record<string, string>>,
): CompiledObject | undefined {
  if (Object.keys(ports).length === 0) return undefined;
  const head = { apiVersion: "v1", kind: "Service", metadata: metadataFor(owner, owner.name) };
  return { object: { ...head, spec: { selector, ports: servicePorts(ports) } } as KubeObject };
}

function servicePorts(ports: Ports): readonly JsonObject[] {
  return sortedPorts(ports).map(([name, { port, targetPort = port, protocol }]) => ({
    name,
    port,
    targetPort,
    ...(protocol === "TCP" ? {} : { protocol }),
  }));
}

export type PublishedRoute = { readonly resource: string; readonly route: RouteTarget; readonly port: number };

export function compileRoute(
  owner: Pick<WorkloadOwner, "name" | "namespace">,
  gateway: { readonly namespace: string; readonly name: string },
  { resource, route, port }: PublishedRoute,
): CompiledObject {
  return {
    object: {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: metadataFor(owner, `${owner.name}-${resource}`),
      spec: {
        parentRefs: [{ name: gateway.name, namespace: gateway.namespace }],
        hostnames: [route.host],
        rules: [{ matches: [{ path: { type: "PathPrefix", value: route.path } }], backendRefs: [{ name: owner.name, port }] }],
      },
    } as KubeObject,
  };
}

/** The port of a route: by name or number, else http, else the only one. undefined: there is none, or it is ambiguous. */
export function portOfRoute({ port }: RouteTarget, ports: Ports): number | undefined {
  const sorted = tcpPorts(ports);
  if (port !== undefined) return sorted.find(([name, one]) => name === port || one.port === port)?.[1].port;
  return (sorted.find(([name]) => name === "http") ?? (sorted.length === 1 ? sorted[0] : undefined))?.[1].port;
}

/** Routes need TCP ports. */
export function tcpPorts(ports: Ports): ReturnType<typeof sortedPorts> {
  return sortedPorts(ports).filter(([, { protocol }]) => protocol === "TCP");
}
