/**
 * The address of a Service when there is no network except this machine: one of its endpoints on loopback, or its external name.
 *
 * A real API server dials the cluster IP. An embedded cluster has no cluster IPs, so that is an immediate error instead of a timeout.
 */
import { isIP } from "node:net";
import { err, ok } from "#base";
import { field, fieldAt, type Json, type KubeObject } from "#kube";
import type { Address, ResolveService, ServiceReference } from "../protocol/resolve-service.ts";
import type { Store } from "../store/index.ts";

export function resolveFromStore(store: Store): ResolveService {
  return (reference) => {
    const { namespace, name, port } = reference;
    const service = store.get("/services", `${namespace}/${name}`)?.object;
    if (service === undefined) return err(`service ${JSON.stringify(name)} not found`);
    const externalName = fieldAt(service, "spec", "externalName");
    if (fieldAt(service, "spec", "type") === "ExternalName")
      return ok({ host: typeof externalName === "string" ? externalName : "", port });
    if (fieldAt(service, "spec", "clusterIP") === "None") return err('cannot route to service with ClusterIP "None"');
    const served = items(fieldAt(service, "spec", "ports")).find((one) => field(one, "port") === port);
    if (served === undefined) return err(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const address = endpointOf(store, reference, field(served, "name"));
    return address === undefined ? err(`no endpoints available for service ${JSON.stringify(name)}`) : ok(address);
  };
}

function endpointOf(store: Store, reference: ServiceReference, portName: Json | undefined): Address | undefined {
  const { namespace, name } = reference;
  const listed = store.list("discovery.k8s.io/endpointslices", { namespace });
  const slices = listed.ok ? listed.value.items.map(({ object }) => object).filter((slice) => isOf(slice, name)) : [];
  for (const slice of slices) {
    const port = portOf(field(slice, "ports"), portName);
    const ready = items(field(slice, "endpoints")).find((endpoint) => fieldAt(endpoint, "conditions", "ready") !== false);
    const host = items(field(ready, "addresses"))[0];
    if (port !== undefined && typeof host === "string" && isLoopback(host)) return { host, port };
  }
  return fromEndpoints(store.get("/endpoints", `${namespace}/${name}`)?.object, portName);
}

function isOf(slice: KubeObject, service: string): boolean {
  return slice.metadata.labels?.["kubernetes.io/service-name"] === service;
}

function fromEndpoints(endpoints: KubeObject | undefined, portName: Json | undefined): Address | undefined {
  for (const subset of items(field(endpoints, "subsets"))) {
    const port = portOf(field(subset, "ports"), portName);
    const host = field(items(field(subset, "addresses"))[0], "ip");
    if (port !== undefined && typeof host === "string" && isLoopback(host)) return { host, port };
  }
  return undefined;
}

function portOf(ports: Json | undefined, name: Json | undefined): number | undefined {
  const found = field(
    items(ports).find((port) => (field(port, "name") ?? "") === (name ?? "")),
    "port",
  );
  return typeof found === "number" ? found : undefined;
}

function isLoopback(host: string): boolean {
  return (isIP(host) === 4 && host.startsWith("127.")) || host === "::1";
}

function items(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}
