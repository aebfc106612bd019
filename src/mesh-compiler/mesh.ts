/**
 * The policies of a whole mesh, updated incrementally: a changed service recompiles its own policies and those of its neighbours only.
 *
 * After any sequence of changes the result equals a full compilation of the same services, byte for byte.
 */
import type { KubeObject } from "#kube";
import { incoming, outgoing, type Outgoing } from "./graph/agreements.ts";
import { ServiceGraph } from "./graph/graph.ts";
import { closedNode, splitId, type ExternalNode, type MeshNode, type ServiceId, type ServiceNode } from "./graph/node.ts";
import { authorizationPolicies, type Identities } from "./policies/authorization.ts";
import { ciliumPolicy, type Neighbourhood } from "./policies/cilium.ts";
import { defaultDeny, namespaceObject, waypointObjects } from "./policies/namespace.ts";
import { serviceEntries } from "./policies/service-entry.ts";
import { USUAL_MONITORING, type MeshSettings } from "./settings.ts";

/** What has to be recompiled: policies of services, and objects of namespaces. */
export type AffectedNodes = { readonly services: ReadonlySet<ServiceId>; readonly namespaces: ReadonlySet<string> };

export class Mesh {
  readonly graph = new ServiceGraph();
  readonly #settings: MeshSettings;
  readonly #policies = new Map<ServiceId, readonly KubeObject[]>();
  readonly #identities: Identities;

  constructor(settings: MeshSettings) {
    this.#settings = settings;
    this.#identities = {
      trustDomain: settings.trustDomain,
      serviceAccount: (id) => this.graph.service(id)?.serviceAccount ?? splitId(id).name,
    };
  }

  put(node: MeshNode): AffectedNodes {
    return this.#changed(node.id, () => this.graph.put(node));
  }

  remove(id: ServiceId): AffectedNodes {
    return this.#changed(id, () => this.graph.remove(id));
  }

  /** AuthorizationPolicies and CiliumNetworkPolicy of a service, or the ServiceEntries of an external one. */
  policiesOf(id: ServiceId): readonly KubeObject[] {
    const known = this.#policies.get(id);
    if (known !== undefined) return known;
    const node = this.graph.get(id);
    if (node === undefined) return [];
    const made = node.kind === "external" ? this.#entriesOf(node) : this.#servicePolicies(node);
    this.#policies.set(id, made);
    return made;
  }

  /**
   * For pods that still run although their service is not declared: allows probes and DNS, and no caller or callee. It replaces
   * the service's own policy, which has the same name.
   */
  closedPolicy(id: ServiceId): KubeObject {
    return ciliumPolicy(this.neighbourhood(closedNode(id)));
  }

  hasWaypoint(namespace: string): boolean {
    return this.#settings.waypointWanted(namespace) || this.graph.needsWaypoint(namespace);
  }

  /** Namespace, default deny and waypoint. */
  namespaceObjects(namespace: string, labels: Readonly<Record<string, string>> = {}): readonly KubeObject[] {
    const waypoint = this.hasWaypoint(namespace);
    return [
      namespaceObject(namespace, waypoint, labels),
      ...defaultDeny(namespace),
      ...(waypoint ? waypointObjects(this.#waypointTraffic(namespace)) : []),
    ];
  }

  neighbourhood(node: ServiceNode): Neighbourhood {
    const { namespace } = splitId(node.id);
    const going = outgoing(this.graph, node);
    return {
      node,
      incoming: incoming(this.graph, node),
      outgoing: going,
      behindWaypoint: this.hasWaypoint(namespace),
      waypointsCalled: this.#waypointsCalled(going),
      gateway: this.#settings.gateway(namespace),
      scrapers: this.#scrapersOf(node),
    };
  }

  #servicePolicies(node: ServiceNode): readonly KubeObject[] {
    const neighbourhood = this.neighbourhood(node);
    return [...authorizationPolicies(neighbourhood, this.#identities), ciliumPolicy(neighbourhood)];
  }

  #entriesOf(node: ExternalNode): readonly KubeObject[] {
    const { namespace } = splitId(node.id);
    return serviceEntries(node, (host) => this.graph.externalsAt(namespace, host));
  }

  #scrapersOf({ measured }: ServiceNode): string | undefined {
    return this.#settings.monitoring ?? (measured ? USUAL_MONITORING : undefined);
  }

  #waypointsCalled({ services }: Outgoing): readonly string[] {
    const namespaces = new Set(services.map(({ callee }) => splitId(callee).namespace));
    return [...namespaces].filter((namespace) => this.hasWaypoint(namespace)).toSorted();
  }

  /** A namespace that gets or loses its waypoint affects all its services and their callers. */
  #changed(id: ServiceId, change: () => ReadonlySet<ServiceId>): AffectedNodes {
    const { namespace } = splitId(id);
    const before = this.hasWaypoint(namespace);
    const services = new Set(change());
    if (before !== this.hasWaypoint(namespace)) {
      for (const own of this.graph.servicesIn(namespace)) {
        services.add(own);
        for (const other of this.graph.mentioning(own)) services.add(other);
      }
    }
    for (const affected of services) this.#policies.delete(affected);
    return { services, namespaces: new Set([...services].map((affected) => splitId(affected).namespace)) };
  }

  #waypointTraffic(namespace: string) {
    const callers = new Set<ServiceId>();
    const services = new Set<ServiceId>();
    let routed = false;
    let scrapers = this.#settings.monitoring;
    for (const id of this.graph.servicesIn(namespace)) {
      const node = this.graph.service(id);
      if (node === undefined) continue;
      const agreements = incoming(this.graph, node);
      for (const { caller } of agreements) callers.add(caller);
      routed ||= node.routedPorts.length > 0;
      scrapers ??= this.#scrapersOf(node);
      if (agreements.length > 0 || node.routedPorts.length > 0) services.add(id);
    }
    const gateway = routed ? this.#settings.gateway(namespace) : undefined;
    return { namespace, callers: [...callers].toSorted(), gateway, services: [...services].toSorted(), scrapers };
  }
}
