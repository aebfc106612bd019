/**
 * Namespaces that must not get a default deny: those of gateways and of monitoring. It would cut off every route, or all metrics.
 *
 * Namespaces of the settings are always reserved. A `gatewayRef` of an environment reserves one unless an older service or environment
 * is already there: such a namespace keeps its default deny, and the gatewayRef is refused. At the same age the gatewayRef wins.
 */
import { isSystemNamespace, type LatticeEnvironment } from "#crds";
import { namespaceOfEnvironment } from "./placement.ts";

export type ReservingSettings = {
  readonly gateway: { readonly namespace: string };
  /** The namespace whose pods scrape metrics. */
  readonly monitoring?: string | undefined;
};

/** A resource with this target namespace. */
type Target = {
  readonly namespace: string;
  /** Creation time; "" for a resource that is not created yet. */
  readonly made: string;
  /** Whether it adds a default deny to the namespace. */
  readonly closes: boolean;
};

type GatewayClaim = { readonly environment: string; readonly namespace: string; readonly own: string; readonly made: string };

export class ReservedNamespaces {
  readonly #fixed: ReadonlyMap<string, string>;
  /** By namespace, then by environment. */
  readonly #gateways = new Map<string, Map<string, GatewayClaim>>();
  readonly #claimOf = new Map<string, GatewayClaim>();
  /** By namespace, then by resource: `LatticeService shop/api`. */
  readonly #targets = new Map<string, Map<string, Target>>();
  readonly #targetOf = new Map<string, Target>();

  constructor({ gateway, monitoring }: ReservingSettings) {
    this.#fixed = new Map([
      [gateway.namespace, "the gateway of all services is in it (--gateway)"],
      ...(monitoring === undefined ? [] : [[monitoring, "metrics are scraped from it (--monitoring-namespace)"] as const]),
    ]);
  }

  /** Why the namespace is reserved; undefined: it is not. */
  reasonFor(namespace: string): string | undefined {
    const fixed = this.#fixed.get(namespace);
    if (fixed !== undefined) return fixed;
    for (const claim of this.#gateways.get(namespace)?.values() ?? [])
      if (this.#holderBefore(claim) === undefined)
        return `the gateway of LatticeEnvironment ${claim.environment} is in it (spec.gatewayRef)`;
    return undefined;
  }

  /** Why the gatewayRef of an environment is refused; undefined: it is accepted, or there is none. */
  gatewayProblem(environment: string): string | undefined {
    const claim = this.#claimOf.get(environment);
    if (claim === undefined || this.#fixed.has(claim.namespace) || isSystemNamespace(claim.namespace)) return undefined;
    const holder = this.#holderBefore(claim);
    if (holder === undefined) return undefined;
    return `namespace ${claim.namespace} is closed by default, because ${holder} runs in it; use a Gateway in a namespace without services`;
  }

  setEnvironment(name: string, environment: LatticeEnvironment | undefined): void {
    const before = this.#claimOf.get(name);
    if (before !== undefined) this.#gateways.get(before.namespace)?.delete(name);
    this.#claimOf.delete(name);
    const own = environment === undefined ? undefined : namespaceOfEnvironment(name, environment);
    const made = environment?.metadata.creationTimestamp ?? "";
    this.setTarget(`LatticeEnvironment ${name}`, own === undefined ? undefined : { namespace: own, made, closes: true });
    const namespace = environment?.spec.gatewayRef?.namespace;
    if (namespace === undefined || own === undefined) return;
    const claim: GatewayClaim = { environment: name, namespace, own, made };
    this.#claimOf.set(name, claim);
    inner(this.#gateways, namespace).set(name, claim);
  }

  /** Returns the namespaces whose reservation has changed. */
  setTarget(who: string, target: Target | undefined): readonly string[] {
    const before = this.#targetOf.get(who);
    if (sameTarget(before, target)) return [];
    const affected = [...new Set([before?.namespace, target?.namespace])].filter((one) => one !== undefined && this.#gateways.has(one));
    const reasons = affected.map((namespace) => this.reasonFor(namespace ?? ""));
    if (before !== undefined) this.#targets.get(before.namespace)?.delete(who);
    if (target === undefined) this.#targetOf.delete(who);
    else {
      this.#targetOf.set(who, target);
      inner(this.#targets, target.namespace).set(who, target);
    }
    return affected.flatMap((namespace, at) => (namespace !== undefined && this.reasonFor(namespace) !== reasons[at] ? [namespace] : []));
  }

  /** The resources with this target namespace, whether or not they are allowed there. */
  wanting(namespace: string): readonly string[] {
    return [...(this.#targets.get(namespace)?.keys() ?? [])];
  }

  /** The resource that is older than the gatewayRef; an environment cannot have its gateway in its own target namespace. */
  #holderBefore({ environment, namespace, own, made }: GatewayClaim): string | undefined {
    if (own === namespace) return `LatticeEnvironment ${environment}`;
    for (const [who, target] of this.#targets.get(namespace) ?? []) if (target.closes && isOlder(target.made, made)) return who;
    return undefined;
  }
}

function isOlder(one: string, other: string): boolean {
  return one !== "" && (other === "" || one < other);
}

function sameTarget(one: Target | undefined, other: Target | undefined): boolean {
  return one?.namespace === other?.namespace && one?.made === other?.made && one?.closes === other?.closes;
}

function inner<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = outer.get(key) ?? new Map<string, V>();
  outer.set(key, known);
  return known;
}
