import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from "#kube";
/** The nodes that a Pod may run on: `nodeSelector` and the required terms of its node affinity. Preferences are ignored: they never forbid. */

export function matchesNode({ nodeSelector, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(nodeSelector ?? {}).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return selected && (terms === undefined || terms.some((term) => matchesTerm(term, node)));
}

/** An empty term matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const label = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const field = (key: string) => (key === "metadata.name" ? node.metadata.name : undefined);
  return matchExpressions.every((one) => holds(one, label(one.key))) && matchFields.every((one) => holds(one, field(one.key)));
}

function holds({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return compare(value, values[0], (a, b) => a > b);
    case "Lt":
      return compare(value, values[0], (a, b) => a < b);
    default:
      return false;
  }
}

function compare(value: string | undefined, limit: string | undefined, holdsFor: (a: bigint, b: bigint) => boolean): boolean {
  const whole = /^-?[0-9]{1,19}$/;
  return value !== undefined && limit !== undefined && whole.test(value) && whole.test(limit) && holdsFor(BigInt(value), BigInt(limit));
}
