/** Checks a pod or a claim against the limits of one LimitRange, and reports all violations together. */
import {
  amountText,
  field,
  fieldAt,
  isJsonObject,
  podLimits,
  podRequests,
  readAmounts,
  type Amount,
  type Amounts,
  type Json,
  type JsonObject,
  type KubeObject,
  type PodResourceRules,
} from "#kube";

export function podProblems(range: KubeObject, pod: KubeObject): string | undefined {
  return allOf(
    limitsOf(range).flatMap((limit) => {
      if (field(limit, "type") === "Container") return containersOf(pod).flatMap((container) => allConstraints(limit, container));
      if (field(limit, "type") !== "Pod") return [];
      return allConstraints(limit, { requests: podRequests(pod, RULES), limits: podLimits(pod, RULES) });
    }),
  );
}

/** Claims have requests only: limits of a claim are ignored. */
export function claimProblems(range: KubeObject, claim: KubeObject): string | undefined {
  const requests = readAmounts(fieldAt(claim, "spec", "resources", "requests"));
  return allOf(
    limitsOf(range)
      .filter((limit) => field(limit, "type") === "PersistentVolumeClaim")
      .flatMap((limit) => [
        ...each(limit, "min", (rule) => belowMinimum(rule, { requests, limits: new Map() })),
        ...each(limit, "max", (rule) => aboveMaximumRequest(rule, requests)),
      ]),
  );
}

/** The resources in the spec of a pod, without those in its status and without the overhead of its sandbox. */
const RULES: PodResourceRules = {
  withStatus: false,
  withOverhead: false,
  isPodLevel: (name) => name === "cpu" || name === "memory",
};

type RequestedResources = { readonly requests: Amounts; readonly limits: Amounts };
type LimitRule = { readonly type: string; readonly name: string; readonly enforced: Amount };

function limitsOf(range: KubeObject): readonly JsonObject[] {
  const limits = fieldAt(range, "spec", "limits");
  return Array.isArray(limits) ? (limits as readonly Json[]).filter(isJsonObject) : [];
}

function containersOf(pod: KubeObject): readonly RequestedResources[] {
  return ["containers", "initContainers"].flatMap((list) => {
    const containers = fieldAt(pod, "spec", list);
    if (!Array.isArray(containers)) return [];
    return (containers as readonly Json[]).map((container) => ({
      requests: readAmounts(fieldAt(container, "resources", "requests")),
      limits: readAmounts(fieldAt(container, "resources", "limits")),
    }));
  });
}

function allConstraints(limit: JsonObject, asked: RequestedResources): readonly string[] {
  return [
    ...each(limit, "min", (rule) => belowMinimum(rule, asked)),
    ...each(limit, "max", (rule) => aboveMaximum(rule, asked)),
    ...each(limit, "maxLimitRequestRatio", (rule) => aboveRatio(rule, asked)),
  ];
}

function each(limit: JsonObject, list: string, check: (rule: LimitRule) => string | undefined): readonly string[] {
  const given = field(limit, "type");
  const type = typeof given === "string" ? given : "";
  return [...readAmounts(field(limit, list))].flatMap(([name, enforced]) => check({ type, name, enforced }) ?? []);
}

function belowMinimum({ type, name, enforced }: LimitRule, { requests, limits }: RequestedResources): string | undefined {
  const start = `minimum ${name} usage per ${type} is ${amountText(enforced)}`;
  const [request, limit] = [requests.get(name), limits.get(name)];
  if (request === undefined) return `${start}.  No request is specified`;
  if (isLess(request, enforced)) return `${start}, but request is ${amountText(request)}`;
  return limit !== undefined && isLess(limit, enforced) ? `${start}, but limit is ${amountText(limit)}` : undefined;
}

function aboveMaximum({ type, name, enforced }: LimitRule, { requests, limits }: RequestedResources): string | undefined {
  const start = `maximum ${name} usage per ${type} is ${amountText(enforced)}`;
  const [request, limit] = [requests.get(name), limits.get(name)];
  if (limit === undefined) return `${start}.  No limit is specified`;
  if (isLess(enforced, limit)) return `${start}, but limit is ${amountText(limit)}`;
  return request !== undefined && isLess(enforced, request) ? `${start}, but request is ${amountText(request)}` : undefined;
}

function aboveMaximumRequest({ type, name, enforced }: LimitRule, requests: Amounts): string | undefined {
  const start = `maximum ${name} usage per ${type} is ${amountText(enforced)}`;
  const request = requests.get(name);
  if (request === undefined) return `${start}.  No request is specified`;
  return isLess(enforced, request) ? `${start}, but request is ${amountText(request)}` : undefined;
}

function aboveRatio({ type, name, enforced }: LimitRule, { requests, limits }: RequestedResources): string | undefined {
  const start = `${name} max limit to request ratio per ${type} is ${amountText(enforced)}`;
  const request = thousandths(requests.get(name));
  const limit = thousandths(limits.get(name));
  if (request === 0n) return `${start}, but no request is specified or request is 0`;
  if (limit === 0n) return `${start}, but no limit is specified or limit is 0`;
  const ratio = Number(limit) / Number(request);
  return ratio * 1_000 > Number(thousandths(enforced)) ? `${start}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

const isLess = (a: Amount, b: Amount): boolean => thousandths(a) < thousandths(b);

const MILLI = 1_000_000n;

/** The comparison is in thousandths, rounded up. */
function thousandths(amount: Amount | undefined): bigint {
  return amount === undefined ? 0n : (amount.quantity + MILLI - 1n) / MILLI;
}

/** Go's aggregate: one message alone, several in brackets, each once. */
function allOf(problems: readonly string[]): string | undefined {
  const distinct = [...new Set(problems)];
  if (distinct.length < 2) return distinct[0];
  return `[${distinct.join(", ")}]`;
}
