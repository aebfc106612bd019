/**
 * A cluster as its data plane sees it: pods, services, and the policies that were compiled. Asked whether one may reach another, it goes the
 * way that the packets go, and says at which door they were stopped.
 */
import { fieldAt, type KubeObject } from "#kube";
import { HBONE_PORT } from "../settings.ts";
import { canaryPorts } from "./canary-ports.ts";
import { CiliumPolicies, type Traffic } from "./cilium.ts";
import { AuthorizationPolicies } from "./istio.ts";
import { gatewayPod, labelsIn, objectsIn, podOf, type Labels, type Outside, type Pod } from "./peers.ts";

export type Door = "egress" | "ingress" | "waypoint" | "identity";

/** One door on the way: which kind, on whose side, and which policies stand there. */
export type Step = { readonly door: Door; readonly at: string; readonly allowed: boolean; readonly by: readonly string[] };

export type Verdict = {
  /** Layer 4: whether packets get there at all. */
  readonly l4: boolean;
  /** Layer 7, by itself: whether the identity may call this port (and method and path). Each layer must hold without the other's help. */
  readonly l7: boolean;
  /** Both. */
  readonly open: boolean;
  readonly steps: readonly Step[];
};

export type Question = {
  /** `namespace/name` of a service, or of a Gateway. */
  readonly from: string;
  readonly to: string;
  /** Port of the Service. */
  readonly port: number;
  /** TCP, unless it says otherwise. */
  readonly protocol?: string;
  readonly method?: string;
  readonly path?: string;
};

type ServicePort = { readonly port: number; readonly targetPort: number; readonly protocol: string };
type Workload = { readonly pod: Pod; readonly ports: readonly ServicePort[] };

export class DataPlane {
  readonly #cilium: CiliumPolicies;
  readonly #istio: AuthorizationPolicies;
  readonly #workloads = new Map<string, Workload>();
  readonly #gateways = new Map<string, Pod>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #trustDomain: (namespace: string) => string;

  /** The trust domain goes by namespace: an environment may have its own. */
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
      if (object.kind === "Deployment")
        this.#workloads.set(idOf(object), { pod: podOf(object, labels), ports: services.get(idOf(object)) ?? [] });
      if (object.kind === "Gateway") this.#gateways.set(idOf(object), gatewayPod(object, labels));
    }
  }

  workloads(): readonly string[] {
    return [...this.#workloads.keys()].toSorted();
  }

  portsOf(id: string): readonly number[] {
    return (this.#workloads.get(id)?.ports ?? []).map(({ port }) => port);
  }

  /** undefined: one of them is not there. */
  ask(question: Question): Verdict | undefined {
    const from = this.#workloads.get(question.from)?.pod ?? this.#gateways.get(question.from);
    const to = this.#workloads.get(question.to);
    if (from === undefined || to === undefined) return undefined;
    const { protocol = "TCP" } = question;
    const target = to.ports.find((one) => one.port === question.port && one.protocol === protocol);
    const ends = { question, from, to: to.pod, podPort: target?.targetPort ?? question.port, protocol };
    // a gateway goes straight to the pods, and so does what is no TCP: the mesh does not see it
    const direct = this.#gateways.has(question.from) || ends.protocol !== "TCP";
    const waypoint = direct ? undefined : this.#waypointOf(to.pod.namespace);
    const steps = waypoint === undefined ? this.#directly(ends) : this.#through(waypoint, ends);
    return verdictOf(steps);
  }

  /** Whether a service may send to a host outside. */
  askOutside(from: string, host: Outside, port: number): Verdict | undefined {
    const pod = this.#workloads.get(from)?.pod;
    if (pod === undefined) return undefined;
    const { allowed, by } = this.#cilium.allows("egress", pod, host, { port, protocol: "TCP" });
    return verdictOf([{ door: "egress", at: from, allowed, by }]);
  }

  /**
   * Whether a pod that is no service of ours reaches another by its address, as scrapers do: past every waypoint. A proxy's own ports are not
   * captured by the mesh, so nobody asks for an identity there.
   */
  askDirectly(from: Pod, to: string, podPort: number): Verdict | undefined {
    const proxy = this.#gateways.get(to);
    const pod = proxy ?? this.#workloads.get(to)?.pod;
    if (pod === undefined) return undefined;
    const ends = { question: { from: nameOf(from), to, port: podPort }, from, to: pod, podPort, protocol: "TCP" };
    return verdictOf(proxy === undefined ? this.#directly(ends) : this.#packets(from, pod, { port: podPort, protocol: "TCP" }));
  }

  #labelsOf(namespace: string): Labels {
    return this.#namespaces.get(namespace) ?? {};
  }

  #inMesh({ namespaceLabels }: Pod): boolean {
    return namespaceLabels["istio.io/dataplane-mode"] === "ambient";
  }

  #waypointOf(namespace: string): { readonly name: string; readonly pod: Pod } | undefined {
    const name = this.#labelsOf(namespace)["istio.io/use-waypoint"];
    const pod = name === undefined || name === "none" ? undefined : this.#gateways.get(`${namespace}/${name}`);
    return pod === undefined || name === undefined ? undefined : { name, pod };
  }

  /** Packets between pods of the mesh carry one port only. */
  #wire(ends: Ends, from: Pod, to: Pod): readonly Step[] {
    const meshed = (this.#inMesh(from) || isGateway(from)) && this.#inMesh(to) && ends.protocol === "TCP";
    return this.#packets(from, to, { port: meshed ? HBONE_PORT : ends.podPort, protocol: ends.protocol });
  }

  #packets(from: Pod, to: Pod, traffic: Traffic): readonly Step[] {
    const out = this.#cilium.allows("egress", from, to, traffic);
    const into = this.#cilium.allows("ingress", to, from, traffic);
    return [
      { door: "egress", at: nameOf(from), ...out },
      { door: "ingress", at: nameOf(to), ...into },
    ];
  }

  #directly(ends: Ends): readonly Step[] {
    const { from, to, podPort, protocol } = ends;
    if (protocol !== "TCP") return this.#wire(ends, from, to);
    const principal = this.#inMesh(from) || isGateway(from) ? this.#principalOf(from) : undefined;
    const judged = this.#inMesh(to) ? this.#istio.atWorkload(to, { principal, port: podPort }) : { allowed: true, by: [] };
    return [...this.#wire(ends, from, to), { door: "identity", at: nameOf(to), ...judged }];
  }

  #through(waypoint: { readonly name: string; readonly pod: Pod }, ends: Ends): readonly Step[] {
    const { from, to, question, podPort } = ends;
    const [namespace = "", name = ""] = question.to.split("/");
    const request = { principal: this.#principalOf(from), port: question.port, method: question.method, path: question.path };
    const passing = this.#istio.atWaypoint({ namespace, name, waypoint: waypoint.name }, request);
    const arriving = this.#istio.atWorkload(to, { principal: this.#principalOf(waypoint.pod), port: podPort });
    return [
      ...this.#wire(ends, from, waypoint.pod),
      { door: "waypoint", at: nameOf(waypoint.pod), ...passing },
      ...this.#wire(ends, waypoint.pod, to),
      { door: "identity", at: nameOf(to), ...arriving },
      // who knows a pod's address can leave the waypoint out: then the pod's own doors count
      ...this.#wire(ends, from, to).map((step) => ({ ...step, at: `${step.at} (pair)` })),
    ];
  }

  #principalOf({ namespace, serviceAccount }: Pod): string {
    return `${this.#trustDomain(namespace)}/ns/${namespace}/sa/${serviceAccount}`;
  }
}

type Ends = { readonly question: Question; readonly from: Pod; readonly to: Pod; readonly podPort: number; readonly protocol: string };

function isGateway({ labels }: Pod): boolean {
  return labels["gateway.networking.k8s.io/gateway-name"] !== undefined;
}

function verdictOf(steps: readonly Step[]): Verdict {
  const isWire = ({ door }: Step) => door === "egress" || door === "ingress";
  const l4 = steps.every((step) => !isWire(step) || step.allowed);
  const l7 = steps.every((step) => isWire(step) || step.allowed);
  return { l4, l7, open: l4 && l7, steps };
}

function idOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? "default"}/${metadata.name}`;
}

function nameOf({ namespace, labels, serviceAccount }: Pod): string {
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
