/**
 * Quota usage of pods.
 *
 * `count/pods` counts every pod; all other names count only pods that have not ended.
 */
import { millisecondsOf } from "#base";
import { field, fieldAt, isJsonObject, type JsonObject } from "../json.ts";
import { parseLabelKey } from "../names.ts";
import type { KubeObject } from "../object.ts";
import { addAmounts, amountOf, readAmounts, type Amount, type Amounts } from "./amounts.ts";
import { countName, selectsValue, type QuotaEvaluator, type QuotaScope } from "./evaluator.ts";
import { containersOf, isBestEffort, itemsAt, nameOf, podLimits, podRequests, type PodResourceRules } from "./pod-resources.ts";

const COMPUTE = ["cpu", "memory", "ephemeral-storage"] as const;
const COUNT = countName("", "pods");
const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  "pods",
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
]);
const DEVICE_CLASS = "deviceclass.resource.kubernetes.io/";
const HUGE_PAGES = "hugepages-";

export const podQuota: QuotaEvaluator = {
  group: "",
  plural: "pods",
  tracks: (name) => NAMES.has(name) || name.startsWith(HUGE_PAGES) || name.startsWith(`requests.${HUGE_PAGES}`) || isExtendedForQuota(name),
  inScope: podInScope,
  usage: podUsage,
  refusal: missingResources,
};

const isNative = (name: string) => !name.includes("/") || name.includes("kubernetes.io/");

function isExtendedForQuota(name: string): boolean {
  return name.startsWith("requests.") && (!isNative(name) || name.startsWith(`requests.${DEVICE_CLASS}`));
}

function isExtended(name: string): boolean {
  if (name.startsWith(DEVICE_CLASS)) return true;
  return !isNative(name) && !name.startsWith("requests.") && parseLabelKey(`requests.${name}`).ok;
}

const RULES: PodResourceRules = {
  withStatus: true,
  withOverhead: true,
  isPodLevel: (name) => name === "cpu" || name === "memory" || name.startsWith(HUGE_PAGES),
};

function podUsage(pod: KubeObject, now: number): Amounts {
  const counted: Amounts = new Map([[COUNT, amountOf(1)]]);
  if (!usesResources(pod, now)) return counted;
  return addAmounts(counted, computeUsage(podRequests(pod, RULES), podLimits(pod, RULES)));
}

/** False for a pod that has ended, and for one whose node did not remove it in time. */
export function usesResources(pod: KubeObject, now: number): boolean {
  const phase = fieldAt(pod, "status", "phase");
  if (phase === "Failed" || phase === "Succeeded") return false;
  const { deletionTimestamp } = pod.metadata;
  const grace = fieldAt(pod, "metadata", "deletionGracePeriodSeconds");
  if (deletionTimestamp === undefined || typeof grace !== "number") return true;
  return now <= millisecondsOf(deletionTimestamp) + grace * 1_000;
}

function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map<string, Amount>([["pods", amountOf(1)]]);
  for (const name of COMPUTE) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request !== undefined) usage.set(name, request).set(`requests.${name}`, request);
    if (limit !== undefined) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith(HUGE_PAGES)) usage.set(name, request).set(`requests.${name}`, request);
    if (isExtended(name)) usage.set(`requests.${name}`, request);
  }
  return usage;
}

/** A quota on CPU or memory requires an amount in every container. Kubernetes calls this rule a mistake and keeps it for compatibility. */
const DEMANDED: ReadonlySet<string> = new Set(["cpu", "memory"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]));

function missingResources(names: readonly string[], pod: KubeObject): string | undefined {
  const whole = fieldAt(pod, "spec", "resources");
  const asWhole = [field(whole, "requests"), field(whole, "limits")].flatMap((list) => [...readAmounts(list).keys()]);
  if (asWhole.some(RULES.isPodLevel)) return undefined;
  const demanded = names.filter((name) => DEMANDED.has(name)).toSorted();
  const lacks = demanded.flatMap((name) => {
    const without = containersOf(pod).filter((container) => !containerUsage(container).has(name));
    return without.length === 0 ? [] : [`${name} for: ${[...new Set(without.map(nameOf))].toSorted().join(",")}`];
  });
  return lacks.length === 0 ? undefined : `must specify ${lacks.join("; ")}`;
}

function containerUsage(container: JsonObject): Amounts {
  return computeUsage(readAmounts(fieldAt(container, "resources", "requests")), readAmounts(fieldAt(container, "resources", "limits")));
}

function podInScope(scope: QuotaScope, pod: KubeObject): boolean {
  switch (scope.name) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "PriorityClass":
      return selectsValue(scope, priorityClassOf(pod));
    case "CrossNamespacePodAffinity":
      return reachesOtherNamespaces(pod);
    default:
      return false;
  }
}

/** Scope Terminating: the pod has activeDeadlineSeconds. Unrelated to deletion. */
export function isTerminating(pod: unknown): boolean {
  const deadline = fieldAt(pod, "spec", "activeDeadlineSeconds");
  return typeof deadline === "number" && deadline >= 0;
}

function priorityClassOf(pod: KubeObject): string | undefined {
  const name = fieldAt(pod, "spec", "priorityClassName");
  return typeof name === "string" && name !== "" ? name : undefined;
}

function reachesOtherNamespaces(pod: KubeObject): boolean {
  const affinity = fieldAt(pod, "spec", "affinity");
  return ["podAffinity", "podAntiAffinity"].some((side) => {
    const required = itemsAt(affinity, side, "requiredDuringSchedulingIgnoredDuringExecution");
    const preferred = itemsAt(affinity, side, "preferredDuringSchedulingIgnoredDuringExecution");
    const terms = [...required, ...preferred.map((weighted) => field(weighted, "podAffinityTerm"))];
    return terms.some((term) => itemCount(field(term, "namespaces")) > 0 || isJsonObject(field(term, "namespaceSelector")));
  });
}

function itemCount(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
