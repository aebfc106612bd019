/**
 * Layer 7, by identity. Without a waypoint the destination's ztunnel enforces the policy, by principal and pod port. With one the waypoint enforces it, by
 * principal, service port, method and path; the workload then admits only the waypoint.
 */
import type { JsonObject, KubeObject } from "#kube";
import type { Agreement } from "../graph/agreements.ts";
import { splitId, type Port, type RequestRules, type ServiceId } from "../graph/node.ts";
import { WAYPOINT } from "../settings.ts";
import { scrapedPorts, type Neighbourhood } from "./cilium.ts";
import { meshMetadata } from "./metadata.ts";
import { ownPods, principal } from "./selectors.ts";

export type Identities = {
  readonly trustDomain: (namespace: string) => string;
  readonly serviceAccount: (id: ServiceId) => string;
};

/** No callers: no policy. The namespace's default policy denies everything that is not allowed. */
export function authorizationPolicies(neighbourhood: Neighbourhood, identities: Identities): readonly KubeObject[] {
  // the mesh carries TCP only: an agreed UDP port must not open the TCP port of the same number
  const callers = callersOf(neighbourhood, identities).flatMap((caller) => {
    const ports = caller.ports.filter(isTcp);
    return ports.length === 0 ? [] : [{ ...caller, ports }];
  });
  if (callers.length === 0 && scrapedPorts(neighbourhood).length === 0) return [];
  return neighbourhood.behindWaypoint ? atWaypoint(neighbourhood, callers, identities) : [atWorkload(neighbourhood, callers)];
}

type Caller = {
  readonly principal: string;
  readonly ports: readonly Port[];
  readonly requests: RequestRules | undefined;
  readonly gateway?: boolean;
};

function callersOf({ node, incoming, gateway }: Neighbourhood, { trustDomain, serviceAccount }: Identities): readonly Caller[] {
  const services = incoming.map(({ caller, ports, requests }: Agreement) => {
    const { namespace } = splitId(caller);
    return { principal: principal(trustDomain(namespace), namespace, serviceAccount(caller)), ports, requests };
  });
  const routed = node.ports.filter(({ port }) => node.routedPorts.includes(port));
  if (routed.length === 0) return services;
  const gatewayPrincipal = principal(trustDomain(gateway.namespace), gateway.namespace, gateway.serviceAccount);
  return [...services, { principal: gatewayPrincipal, ports: routed, requests: undefined, gateway: true }];
}

function isTcp({ protocol }: Port): boolean {
  return protocol === "TCP";
}

function atWorkload(neighbourhood: Neighbourhood, callers: readonly Caller[]): KubeObject {
  const { namespace, name } = splitId(neighbourhood.node.id);
  const rules = [...rulesFor(callers, ({ targetPort }) => targetPort), ...scrapeRules(neighbourhood)];
  return policy(namespace, name, name, { selector: ownPods(name), rules });
}

/** Matched by namespace, because the service account of a scraper is not known. A scraper calls each pod directly, without the waypoint. */
function scrapeRules(neighbourhood: Neighbourhood): readonly JsonObject[] {
  const { scrapers = "" } = neighbourhood;
  const ports = scrapedPorts(neighbourhood);
  if (ports.length === 0) return [];
  const operation = { ports: portTexts(ports, ({ targetPort }) => targetPort) };
  return [{ from: [{ source: { namespaces: [scrapers] } }], to: [{ operation }] }];
}

/** Rules for methods and paths target the Service, which the waypoint enforces; ztunnel, which enforces selectors, does not read requests. */
function atWaypoint(
  neighbourhood: Neighbourhood,
  callers: readonly Caller[],
  { trustDomain }: Pick<Identities, "trustDomain">,
): readonly KubeObject[] {
  const { node } = neighbourhood;
  const { namespace, name } = splitId(node.id);
  const own = { principal: principal(trustDomain(namespace), namespace, WAYPOINT), ports: node.ports.filter(isTcp), requests: undefined };
  // a gateway calls the pods directly, unless it is configured to use the waypoint
  const arriving = callers.length === 0 ? [] : [own, ...callers.filter(({ gateway }) => gateway)];
  const rules = [...rulesFor(arriving, ({ targetPort }) => targetPort), ...scrapeRules(neighbourhood)];
  const atWorkloads = policy(namespace, `${name}-${WAYPOINT}`, name, { selector: ownPods(name), rules });
  if (callers.length === 0) return [atWorkloads];
  const targetRefs = [{ kind: "Service", group: "", name }];
  return [policy(namespace, name, name, { targetRefs, rules: rulesFor(callers, ({ port }) => port) }), atWorkloads];
}

function policy(namespace: string, name: string, service: string, spec: JsonObject): KubeObject {
  return {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: meshMetadata(namespace, name, service),
    spec: { action: "ALLOW", ...spec },
  } as unknown as KubeObject;
}

/** Callers with the same permissions share a rule. */
function rulesFor(callers: readonly Caller[], portOf: (port: Port) => number): readonly JsonObject[] {
  const groups = new Map<string, { readonly principals: string[]; readonly operation: JsonObject }>();
  for (const { principal: who, ports, requests } of callers) {
    const operation: JsonObject = { ports: portTexts(ports, portOf), ...requestFields(requests) };
    const key =
      requests === undefined && ports.length === 1 ? String(ports[0] === undefined ? "" : portOf(ports[0])) : JSON.stringify(operation);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { principals: [who], operation });
    else group.principals.push(who);
  }
  return [...groups.values()].map(({ principals, operation }) => ({ from: [{ source: { principals } }], to: [{ operation }] }));
}

function portTexts(ports: readonly Port[], portOf: (port: Port) => number): readonly string[] {
  return [...new Set(ports.map((port) => String(portOf(port))))];
}

function requestFields(requests: RequestRules | undefined): JsonObject {
  if (requests === undefined) return {};
  const { methods, paths } = requests;
  return { ...(methods.length === 0 ? {} : { methods }), ...(paths.length === 0 ? {} : { paths }) };
}
