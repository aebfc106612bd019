/**
 * Evaluates CiliumNetworkPolicies as Cilium's agent does.
 *
 * Three rules that are easily misread: a policy without any rule is rejected and enforces nothing; a rule `{}` allows no peer, which
 * is how traffic is denied; a peer selector without a namespace matches the policy's own namespace.
 */
import { fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { addressIn } from "./addresses.ts";
import { objectsIn, textsIn, type Peer, type PodIdentity } from "./peers.ts";
import { ciliumSelects, isLegal } from "./selectors.ts";

export type Side = "ingress" | "egress";

export type Traffic = { readonly port: number; readonly protocol: string };

export type CiliumVerdict = {
  readonly allowed: boolean;
  /** Policies that apply there; the one that allowed or denied comes first. */ readonly by: readonly string[];
};

type Policy = { readonly name: string; readonly home: string | undefined; readonly spec: JsonObject };

export class CiliumPolicies {
  readonly #policies = new Map<string | undefined, Policy[]>();
  /** Cached, because the same pods are evaluated many times. */
  readonly #applying = new WeakMap<PodIdentity, readonly Policy[]>();

  constructor(objects: Iterable<KubeObject>) {
    for (const object of objects) {
      for (const policy of policiesIn(object)) add(this.#policies, policy);
    }
  }

  #applyingTo(pod: PodIdentity): readonly Policy[] {
    const known = this.#applying.get(pod);
    if (known !== undefined) return known;
    const near = [...(this.#policies.get(pod.namespace) ?? []), ...(this.#policies.get(undefined) ?? [])];
    const found = near.filter(({ spec, home }) => appliesTo(spec, home, pod));
    this.#applying.set(pod, found);
    return found;
  }

  /** Whether `pod` may send to (egress) or receive from (ingress) `peer`. */
  allows(side: Side, pod: PodIdentity, peer: Peer, traffic: Traffic): CiliumVerdict {
    const applying = this.#applyingTo(pod);
    const enforcing = applying.filter(({ spec }) => enforces(spec, side));
    const denied = applying.find((policy) =>
      rulesOf(policy.spec, `${side}Deny`).some((rule) => ruleMatches({ policy, rule, side, traffic }, peer, applying)),
    );
    if (denied !== undefined) return { allowed: false, by: [denied.name] };
    const allowing = applying.find((policy) =>
      rulesOf(policy.spec, side).some((rule) => ruleMatches({ policy, rule, side, traffic }, peer, applying)),
    );
    if (allowing !== undefined) return { allowed: true, by: [allowing.name] };
    return { allowed: enforcing.length === 0, by: enforcing.map(({ name }) => name) };
  }
}

function add(policies: Map<string | undefined, Policy[]>, policy: Policy): void {
  const known = policies.get(policy.home);
  if (known === undefined) policies.set(policy.home, [policy]);
  else known.push(policy);
}

function policiesIn(object: KubeObject): readonly Policy[] {
  const clusterwide = object.kind === "CiliumClusterwideNetworkPolicy";
  if (object.kind !== "CiliumNetworkPolicy" && !clusterwide) return [];
  const home = clusterwide ? undefined : (object.metadata.namespace ?? "default");
  const name = clusterwide ? object.metadata.name : `${home ?? ""}/${object.metadata.name}`;
  const { spec, specs } = object as { readonly spec?: unknown; readonly specs?: unknown };
  const all = [...(isJsonObject(spec) ? [spec] : []), ...objectsIn(specs)];
  // the agent rejects the whole object if one of its specs is invalid
  return all.every(isValid) ? all.map((one) => ({ name, home, spec: one })) : [];
}

const SECTIONS = ["ingress", "ingressDeny", "egress", "egressDeny"] as const;

function isValid(spec: JsonObject): boolean {
  const rules = SECTIONS.flatMap((section) => rulesOf(spec, section));
  if (rules.length === 0 || !isJsonObject(spec["endpointSelector"])) return false;
  return selectorsIn(spec, rules).every(isLegal);
}

function selectorsIn(spec: JsonObject, rules: readonly JsonObject[]): readonly JsonObject[] {
  return [
    ...objectsIn([spec["endpointSelector"]]),
    ...rules.flatMap((rule) => [...objectsIn(rule["fromEndpoints"]), ...objectsIn(rule["toEndpoints"])]),
  ];
}

function rulesOf(spec: JsonObject, section: string): readonly JsonObject[] {
  return objectsIn(spec[section]);
}

function appliesTo(spec: JsonObject, home: string | undefined, pod: PodIdentity): boolean {
  const selector = spec["endpointSelector"];
  return isJsonObject(selector) && (home === undefined || pod.namespace === home) && ciliumSelects(selector, pod, home);
}

function enforces(spec: JsonObject, side: Side): boolean {
  if (rulesOf(spec, side).length === 0 && rulesOf(spec, `${side}Deny`).length === 0) return false;
  return fieldAt(spec, "enableDefaultDeny", side) !== false;
}

type Matching = { readonly policy: Policy; readonly rule: JsonObject; readonly side: Side; readonly traffic: Traffic };

function ruleMatches({ policy, rule, side, traffic }: Matching, peer: Peer, applying: readonly Policy[]): boolean {
  const prefix = side === "ingress" ? "from" : "to";
  const named = ["Endpoints", "CIDR", "CIDRSet", "Entities", "FQDNs"].filter((kind) => rule[`${prefix}${kind}`] !== undefined);
  const ports = rule["toPorts"];
  if (named.length === 0 && ports === undefined) return false;
  if (ports !== undefined && !objectsIn(ports).some((one) => portMatches(one, traffic))) return false;
  if (named.length === 0) return true;
  return named.some((kind) => peerMatches(kind, rule[`${prefix}${kind}`], { peer, home: policy.home, applying }));
}

type Candidate = { readonly peer: Peer; readonly home: string | undefined; readonly applying: readonly Policy[] };

function peerMatches(kind: string, given: unknown, { peer, home, applying }: Candidate): boolean {
  if (kind === "Endpoints") return peer.kind === "pod" && objectsIn(given).some((selector) => ciliumSelects(selector, peer, home));
  if (kind === "Entities") return textsIn(given).some((entity) => entityNames(entity, peer));
  if (peer.kind === "pod") return false;
  const { address } = peer;
  if (kind === "CIDR") return address !== undefined && textsIn(given).some((cidr) => addressIn(address, cidr));
  if (kind === "CIDRSet") return address !== undefined && objectsIn(given).some((one) => inCidrSet(address, one));
  return objectsIn(given).some((one) => nameMatches(one, peer.host)) && learnsNames(applying, peer.host);
}

function entityNames(entity: string, peer: Peer): boolean {
  if (entity === "all") return true;
  if (peer.kind === "pod") return entity === "cluster";
  const family = peer.address === undefined ? undefined : peer.address.includes(":") ? "world-ipv6" : "world-ipv4";
  return entity === "world" || entity === family;
}

function inCidrSet(address: string, { cidr, except }: JsonObject): boolean {
  return typeof cidr === "string" && addressIn(address, cidr) && !textsIn(except).some((one) => addressIn(address, one));
}

function nameMatches({ matchName, matchPattern }: JsonObject, host: string): boolean {
  if (typeof matchName === "string") return matchName.toLowerCase() === host.toLowerCase();
  return typeof matchPattern === "string" && patternMatches(matchPattern.toLowerCase(), host.toLowerCase());
}

/** `*` matches any part of one label; alone it matches every name. */
function patternMatches(pattern: string, host: string): boolean {
  if (pattern === "*") return true;
  const [wanted, given] = [pattern.split("."), host.split(".")];
  return wanted.length === given.length && wanted.every((label, at) => labelMatches(label, given[at] ?? ""));
}

function labelMatches(pattern: string, label: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === label;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found =
      index === 0 ? (label.startsWith(part) ? 0 : -1) : index === parts.length - 1 ? lastAt(label, part, at) : label.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

function lastAt(label: string, part: string, from: number): number {
  return label.endsWith(part) && label.length - part.length >= from ? label.length - part.length : -1;
}

/** A name matches addresses only after Cilium has seen its DNS lookup, which needs a DNS rule that covers the name. */
function learnsNames(applying: readonly Policy[], host: string): boolean {
  const rules = applying.flatMap(({ spec }) => rulesOf(spec, "egress"));
  return rules.some((rule) =>
    objectsIn(rule["toPorts"]).some((one) => objectsIn(fieldAt(one, "rules", "dns")).some((dns) => nameMatches(dns, host))),
  );
}

function portMatches(rule: JsonObject, { port, protocol }: Traffic): boolean {
  const ports = rule["ports"];
  if (ports === undefined) return true;
  return objectsIn(ports).some((one) => {
    const [first, last] = [Number(one["port"]), typeof one["endPort"] === "number" ? one["endPort"] : Number(one["port"])];
    const transport = one["protocol"] ?? "ANY";
    return (transport === "ANY" || transport === protocol) && (first === 0 || (port >= first && port <= last));
  });
}
