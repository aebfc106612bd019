/**
 * Whether required (anti-)affinity to other Pods allows a node. Pure.
 *
 * The Pods of all nodes are matched once for each Pod that is scheduled, and not once for each node: the result is a set of topology
 * domains per term.
 */
import type { Node, Pod } from "#kube";
import { affinityTerms, antiAffinityTerms, type PodTerm } from "./affinity-terms.ts";
import type { Ledger } from "./ledger.ts";
import type { Refusal } from "./message.ts";

export type Surroundings = { readonly ledger: Ledger; readonly nodes: readonly Node[] };

export function podAffinityCheck(pod: Pod, surroundings: Surroundings): (node: Node) => Refusal | undefined {
  const wanted = affinityTerms(pod).map((term) => ({ term, ...domainsOf(term, surroundings), isOwn: term.isMeant(pod) }));
  const unwanted = antiAffinityTerms(pod).map((term) => ({ term, ...domainsOf(term, surroundings) }));
  const excluded = excludedDomains(pod, surroundings);
  return (node) => {
    for (const { term, domains, found, isOwn } of wanted) {
      const domain = labelOf(node, term.topologyKey);
      // the first Pod of its group may run on any node with the topology label: otherwise none could start
      const allowed = domain !== undefined && (domains.has(domain) || (isOwn && !found));
      if (!allowed) return { reasons: ["node(s) didn't match pod affinity rules"], movable: false };
    }
    if (unwanted.some(({ term, domains }) => isIn(node, term.topologyKey, domains)))
      return { reasons: ["node(s) didn't match pod anti-affinity rules"], movable: true };
    const isExcluded = [...excluded].some(([topologyKey, domains]) => isIn(node, topologyKey, domains));
    return isExcluded ? { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], movable: true } : undefined;
  };
}

type Domains = { readonly domains: ReadonlySet<string>; /** On any node, also one without the topology label. */ readonly found: boolean };

/** The topology domains with a Pod that the term is about. */
function domainsOf({ topologyKey, isMeant }: PodTerm, { ledger, nodes }: Surroundings): Domains {
  const domains = new Set<string>();
  let found = false;
  for (const node of nodes) {
    const domain = labelOf(node, topologyKey);
    if (found && (domain === undefined || domains.has(domain))) continue;
    if (!ledger.podsOn(node.metadata.name).some(isMeant)) continue;
    found = true;
    if (domain !== undefined) domains.add(domain);
  }
  return { domains, found };
}

/** By topology key: the domains that the anti-affinity of Pods that run there denies to this Pod. */
function excludedDomains(pod: Pod, { ledger, nodes }: Surroundings): ReadonlyMap<string, ReadonlySet<string>> {
  const excluded = new Map<string, Set<string>>();
  const excluding = ledger.excludingPods();
  if (excluding.length === 0) return excluded;
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  for (const { node: name, excludes } of excluding) {
    const node = byName.get(name);
    for (const { topologyKey, isMeant } of excludes) {
      const domain = node === undefined ? undefined : labelOf(node, topologyKey);
      if (domain === undefined || excluded.get(topologyKey)?.has(domain) === true || !isMeant(pod)) continue;
      const domains = excluded.get(topologyKey) ?? new Set();
      excluded.set(topologyKey, domains.add(domain));
    }
  }
  return excluded;
}

function isIn(node: Node, topologyKey: string, domains: ReadonlySet<string>): boolean {
  const domain = labelOf(node, topologyKey);
  return domain !== undefined && domains.has(domain);
}

function labelOf({ metadata: { labels = {} } }: Node, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
