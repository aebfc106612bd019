/**
 * From the usage of Pods to the number of replicas. Pure; amounts are in thousandths, as integers, so that the rounding is that of
 * Kubernetes.
 *
 * Pods without metrics and Pods that are not ready yet never make the change larger: they count as 0 % usage for a scale-up and
 * as 100 % for a scale-down.
 */
import { err, ok, type Result } from "#base";
import { quantityToNumber, type Pod } from "#kube";
import { amounts } from "../placement/requests.ts";
import { podCondition, timeOf } from "../pods/pod-state.ts";
import type { MetricsSource } from "./metrics-source.ts";

const CPU_INITIALISATION_MS = 300_000;
const READINESS_DELAY_MS = 30_000;

export type Tolerance = { readonly down: number; readonly up: number };

export type Question = {
  readonly pods: readonly Pod[];
  readonly metrics: MetricsSource;
  readonly resource: string;
  readonly container?: string;
  readonly replicas: number;
  readonly tolerance: Tolerance;
  readonly now: number;
};

export type Proposal = {
  readonly replicas: number;
  /** Average per Pod, in thousandths. */ readonly average: number;
  readonly utilization?: number;
};

/** For `averageUtilization`: percent of the Pods' requests. */
export function byUtilization(question: Question, target: number): Result<Proposal, string> {
  const groups = group(question);
  if (!groups.ok) return groups;
  const requests = requestsOf(question);
  if (!requests.ok) return requests;
  const asked = (name: string) => requests.value.get(name) ?? 0;
  const ratioOf = (usage: Usage) => {
    const total = [...usage.keys()].reduce((sum, name) => sum + asked(name), 0);
    return total === 0 ? undefined : Math.trunc((sumOf(usage) * 100) / total) / target;
  };
  const first = ratioOf(groups.value.usage);
  if (first === undefined) return err("no metrics returned matched known pods");
  const fallback = (name: string) => Math.trunc((asked(name) * Math.max(100, target)) / 100);
  const replicas = propose(question, groups.value, { first, ratioOf, fallback });
  return ok({ replicas, average: averageOf(groups.value.usage), utilization: Math.round(first * target) });
}

/** For `averageValue`. */
export function byValue(question: Question, target: number): Result<Proposal, string> {
  const groups = group(question);
  if (!groups.ok) return groups;
  const ratioOf = (usage: Usage) => averageOf(usage) / target;
  const replicas = propose(question, groups.value, { first: ratioOf(groups.value.usage), ratioOf, fallback: () => target });
  return ok({ replicas, average: averageOf(groups.value.usage) });
}

type Usage = ReadonlyMap<string, number>;
type Groups = { readonly usage: Usage; readonly ready: number; readonly unready: readonly string[]; readonly missing: readonly string[] };
type Ratio = {
  readonly first: number;
  readonly ratioOf: (usage: Usage) => number | undefined;
  readonly fallback: (name: string) => number;
};

function propose({ replicas, tolerance }: Question, groups: Groups, { first, ratioOf, fallback }: Ratio): number {
  const { usage, ready, unready, missing } = groups;
  const isWithin = (ratio: number) => 1 - tolerance.down <= ratio && ratio <= 1 + tolerance.up;
  const withUnready = unready.length > 0 && first > 1;
  if (!withUnready && missing.length === 0) return isWithin(first) ? replicas : ceil(first * ready);
  const assumed = new Map(usage);
  if (first !== 1) for (const name of missing) assumed.set(name, first < 1 ? fallback(name) : 0);
  if (withUnready) for (const name of unready) assumed.set(name, 0);
  const second = ratioOf(assumed) ?? first;
  if (isWithin(second) || (first < 1 && second > 1) || (first > 1 && second < 1)) return replicas;
  const proposed = ceil(second * assumed.size);
  const isContrary = (second < 1 && proposed > replicas) || (second > 1 && proposed < replicas);
  return isContrary ? replicas : proposed;
}

/** A ratio like 1.1 * 10 is 11.000000000000002, which must not add a Pod. Go has the same result by other rounding. */
function ceil(value: number): number {
  return Math.ceil(value - 1e-9);
}

function group({ pods, metrics, resource, container, now }: Question): Result<Groups, string> {
  if (pods.length === 0) return err("no pods returned by selector while calculating replica count");
  const usage = new Map<string, number>();
  const [unready, missing]: [string[], string[]] = [[], []];
  let known = 0;
  for (const pod of pods) {
    const { name } = pod.metadata;
    const amount = metrics.milliUsage(pod, resource, container);
    if (amount !== undefined) known += 1;
    if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === "Failed") continue;
    if (pod.status?.phase === "Pending") unready.push(name);
    else if (amount === undefined) missing.push(name);
    else if (resource === "cpu" && isWarmingUp(pod, now)) unready.push(name);
    else usage.set(name, amount);
  }
  if (known === 0) return err(`unable to get metrics for resource ${resource}: no metrics returned from resource metrics API`);
  if (usage.size === 0) return err("did not receive metrics for targeted pods (pods might be unready)");
  return ok({ usage, ready: usage.size, unready, missing });
}

/** A starting Pod uses more cpu than later. */
function isWarmingUp(pod: Pod, now: number): boolean {
  const ready = podCondition(pod, "Ready");
  const start = timeOf(pod.status?.startTime);
  if (ready === undefined || start === 0) return true;
  if (start + CPU_INITIALISATION_MS > now) return ready.status === "False";
  return ready.status === "False" && start + READINESS_DELAY_MS > timeOf(ready.lastTransitionTime);
}

function requestsOf({ pods, container, resource }: Question): Result<ReadonlyMap<string, number>, string> {
  const requests = new Map<string, number>();
  for (const pod of pods) {
    const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
    const counted = [...pod.spec.containers, ...sidecars].filter(({ name }) => container === undefined || name === container);
    if (counted.length === 0) return err(`container ${container} not found in Pod ${pod.metadata.name}`);
    let total = 0;
    for (const { name, resources } of counted) {
      const asked = amounts(resources?.requests).get(resource);
      if (asked === undefined) return err(`missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`);
      total += Math.ceil(quantityToNumber(asked) * 1_000);
    }
    requests.set(pod.metadata.name, total);
  }
  return ok(requests);
}

function sumOf(usage: Usage): number {
  return [...usage.values()].reduce((sum, amount) => sum + amount, 0);
}

function averageOf(usage: Usage): number {
  return Math.trunc(sumOf(usage) / usage.size);
}
