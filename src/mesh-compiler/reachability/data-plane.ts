/**
 * A model of the data plane: pods, services, and the compiled policies. For a flow between two services it follows the path of the packets
 * and reports the enforcement point at which they are stopped.
 */
import { fieldAt, type KubeObject } from "#kube";
import { HBONE_PORT } from "../settings.ts";
import { canaryPorts } from "./canary-ports.ts";
import { CiliumPolicies, type Traffic } from "./cilium.ts";
import { AuthorizationPolicies } from "./istio.ts";
import { gatewayPod, labelsIn, objectsIn, podOf, type LabelSet, type Outside, type PodIdentity } from "./peers.ts";

export type EnforcementPoint = "egress" | "ingress" | "waypoint" | "identity";

/** One enforcement point on the path: its kind, the service at which it is, and the policies that decide there. */
export type EnforcementStep = {
  readonly point: EnforcementPoint;
  readonly at: string;
  readonly allowed: boolean;
  readonly by: readonly string[];
};

export type ReachabilityVerdict = {
  /** Layer 4: whether the packets arrive. */
  readonly l4: boolean;
  /** Layer 7 alone: whether the identity may call this port (and method and path). Each layer is evaluated without the other. */
  readonly l7: boolean;
  /** Both layers allow it. */
  readonly open: boolean;
  readonly steps: readonly EnforcementStep[];
};

export type FlowQuery = {
  /** `namespace/name` of a service, or of a Gateway. */
  readonly from: string;
  readonly to: string;
  /** Port of the Service. */
  readonly port: number;
  /** Default: TCP. */
  readonly protocol?: string;
  readonly method?: string;
  readonly path?: string;
};

type ServicePort = { readonly port: number; readonly targetPort: number; readonly protocol: string };
type Workload = { readonly pod: PodIdentity; readonly ports: readonly ServicePort[] };

export class DataPlane {
  readonly #cilium: CiliumPolicies;
  readonly #istio: AuthorizationPolicies;
  readonly #workloads = new Map<string, Workload>();
  readonly #gateways = new Map<string, PodIdentity>();
  readonly #namespaces = new Map<string, LabelSet>();
  readonly #trustDomain: (namespace: string) => string;

  /** `trustDomain` takes a namespace, because an environment may have its own trust domain. */
  constructor(objects: readonly KubeObject[], trustDomain: (namespace: string) => string = () => "cluster.local") {
    this.#cilium = new CiliumPolicies(objects);
    this.#istio = new AuthorizationPolicies(objects);
    this.#trustDomain = trustDomain;
    for (const { kind, metadata } of objects) if (kind === "Namespace") this.#namespaces.set(metadata.name, labelsIn(metadata.labels));
    const services = new Map<string, readonly ServicePort[]>([
      ...objects.filter(({ kind }) => kind === "Service").map((object) => [idOf(object), portsOf(object)] as const),
      ...canaryPorts(objects),
    ]);
    for (const object of objects) {
      const labels = this.#labelsOf(object.metadata.namespace ?? "default");
      if (object.kind === "Deployment") this.#addWorkload(idOf(object), podOf(object, labels), services);
      if (object.kind === "Gateway") this.#gateways.set(idOf(object), gatewayPod(object, labels));
    }
    // a Deployment of another owner that a service patches: the label of its pods names the service
    for (const { pod } of Array.from(this.#workloads.values())) {
      const service = serviceOf(pod);
      const known = this.#workloads.get(service ?? "")?.pod;
      if (service !== undefined && (known === undefined || serviceOf(known) !== service)) this.#addWorkload(service, pod, services);
    }
  }

  #addWorkload(id: string, pod: PodIdentity, services: ReadonlyMap<string, readonly ServicePort[]>): void {
    this.#workloads.set(id, { pod, ports: services.get(id) ?? [] });
  }

  workloads(): readonly string[] {
    return [...this.#workloads.keys()].toSorted();
  }

  portsOf(id: string): readonly number[] {
    return (this.#workloads.get(id)?.ports ?? []).map(({ port }) => port);
  }

  /** undefined: the caller or the callee does not exist. */
  ask(question: FlowQuery): ReachabilityVerdict | undefined {
    const from = this.#workloads.get(question.from)?.pod ?? this.#gateways.get(question.from);
    const to = this.#workloads.get(question.to);
    if (from === undefined || to === undefined) return undefined;
    const { protocol = "TCP" } = question;
    const target = to.ports.find((one) => one.port === question.port && one.protocol === protocol);
    const ends = { question, from, to: to.pod, podPort: target?.targetPort ?? question.port, protocol };
    // a gateway calls the pods directly; traffic other than TCP bypasses the mesh
    const direct = this.#gateways.has(question.from) || ends.protocol !== "TCP";
    const waypoint = direct ? undefined : this.#waypointOf(to.pod.namespace);
    const steps = waypoint === undefined ? this.#directly(ends) : this.#through(waypoint, ends);
    return verdictOf(steps);
  }

  /** Whether a service may send to a host outside the cluster. */
  askOutside(from: string, host: Outside, port: number): ReachabilityVerdict | undefined {
    const pod = this.#workloads.get(from)?.pod;
    if (pod === undefined) return undefined;
    const { allowed, by } = this.#cilium.allows("egress", pod, host, { port, protocol: "TCP" });
    return verdictOf([{ point: "egress", at: from, allowed, by }]);
  }

  /**
   * Whether a pod that is not a Lattice service reaches another by its address, bypassing waypoints, as scrapers do. A proxy's own ports are not
   * captured by the mesh, so no identity is checked there.
   */
  askDirectly(from: PodIdentity, to: string, podPort: number): ReachabilityVerdict | undefined {
    const proxy = this.#gateways.get(to);
    const pod = proxy ?? this.#workloads.get(to)?.pod;
    if (pod === undefined) return undefined;
    const ends = { question: { from: nameOf(from), to, port: podPort }, from, to: pod, podPort, protocol: "TCP" };
    return verdictOf(proxy === undefined ? this.#directly(ends) : this.#packets(from, pod, { port: podPort, protocol: "TCP" }));
  }

  #labelsOf(namespace: string): LabelSet {
    return this.#namespaces.get(namespace) ?? {};
  }

  #inMesh({ namespaceLabels }: PodIdentity): boolean {
    return namespaceLabels["istio.io/dataplane-mode"] === "ambient";
  }

  #waypointOf(namespace: string): { readonly name: string; readonly pod: PodIdentity } | undefined {
    const name = this.#labelsOf(namespace)["istio.io/use-waypoint"];
    const pod = name === undefined || name === "none" ? undefined : this.#gateways.get(`${namespace}/${name}`);
    return pod === undefined || name === undefined ? undefined : { name, pod };
  }

  /** Packets between pods of the mesh always use the HBONE port. */
  #wire(ends: Ends, from: PodIdentity, to: PodIdentity): readonly EnforcementStep[] {
    const meshed = (this.#inMesh(from) || isGateway(from)) && this.#inMesh(to) && ends.protocol === "TCP";
    return this.#packets(from, to, { port: meshed ? HBONE_PORT : ends.podPort, protocol: ends.protocol });
  }

  #packets(from: PodIdentity, to: PodIdentity, traffic: Traffic): readonly EnforcementStep[] {
    const out = this.#cilium.allows("egress", from, to, traffic);
    const into = this.#cilium.allows("ingress", to, from, traffic);
    return [
      { point: "egress", at: nameOf(from), ...out },
      { point: "ingress", at: nameOf(to), ...into },
    ];
  }

  #directly(ends: Ends): readonly EnforcementStep[] {
    const { from, to, podPort, protocol } = ends;
    if (protocol !== "TCP") return this.#wire(ends, from, to);
    const principal = this.#inMesh(from) || isGateway(from) ? this.#principalOf(from) : undefined;
    const judged = this.#inMesh(to) ? this.#istio.atWorkload(to, { principal, port: podPort }) : { allowed: true, by: [] };
    return [...this.#wire(ends, from, to), { point: "identity", at: nameOf(to), ...judged }];
  }

  #through(waypoint: { readonly name: string; readonly pod: PodIdentity }, ends: Ends): readonly EnforcementStep[] {
    const { from, to, question, podPort } = ends;
    const [namespace = "", name = ""] = question.to.split("/");
    const request = { principal: this.#principalOf(from), port: question.port, method: question.method, path: question.path };
    const passing = this.#istio.atWaypoint({ namespace, name, waypoint: waypoint.name }, request);
    const arriving = this.#istio.atWorkload(to, { principal: this.#principalOf(waypoint.pod), port: podPort });
    return [
      ...this.#wire(ends, from, waypoint.pod),
      { point: "waypoint", at: nameOf(waypoint.pod), ...passing },
      ...this.#wire(ends, waypoint.pod, to),
      { point: "identity", at: nameOf(to), ...arriving },
      // a caller that knows a pod's address can bypass the waypoint: then the pod's own policies decide
      ...this.#wire(ends, from, to).map((step) => ({ ...step, at: `${step.at} (pair)` })),
    ];
  }

  #principalOf({ namespace, serviceAccount }: PodIdentity): string {
    return `${this.#trustDomain(namespace)}/ns/${namespace}/sa/${serviceAccount}`;
  }
}

type Ends = {
  readonly question: FlowQuery;
  readonly from: PodIdentity;
  readonly to: PodIdentity;
  readonly podPort: number;
  readonly protocol: string;
};

function isGateway({ labels }: PodIdentity): boolean {
  return labels["gateway.networking.k8s.io/gateway-name"] !== undefined;
}

function verdictOf(steps: readonly EnforcementStep[]): ReachabilityVerdict {
  const isWire = ({ point }: EnforcementStep) => point === "egress" || point === "ingress";
  const l4 = steps.every((step) => !isWire(step) || step.allowed);
  const l7 = steps.every((step) => isWire(step) || step.allowed);
  return { l4, l7, open: l4 && l7, steps };
}

function idOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? "default"}/${metadata.name}`;
}

function serviceOf({ namespace, labels }: PodIdentity): string | undefined {
  const name = labels["lattice.dev/service"];
  return name === undefined ? undefined : `${namespace}/${name}`;
}

function nameOf({ namespace, labels, serviceAccount }: PodIdentity): string {
  return `${namespace}/${labels["lattice.dev/service"] ?? labels["gateway.networking.k8s.io/gateway-name"] ?? serviceAccount}`;
}

function portsOf(service: KubeObject): readonly ServicePort[] {
  return objectsIn(fieldAt(service, "spec", "ports")).flatMap(({ port, targetPort, protocol }) =>
    typeof port === "number"
      ? [
          {
            port,
            targetPort: typeof targetPort === "number" ? targetPort : port,
            protocol: typeof protocol === "string" ? protocol : "TCP",
          },
        ]
      : [],
  );
}
