/**
 * Writes the status of PodDisruptionBudgets: how many of their Pods may be evicted now. The API server's eviction subresource reads it.
 *
 * It also resets the DisruptionTarget condition of a Pod that has not been deleted two minutes after its eviction.
 */
import { timestamp, type Result } from "#base";
import {
  keyOf,
  keyText,
  matches,
  parseKey,
  podDisruptionBudgets,
  pods as podKind,
  requirementsOf,
  type BudgetStatus,
  type Pod,
  type PodDisruptionBudget,
} from "#kube";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { isPodFinished, podCondition, withPodCondition } from "../pods/pod-status.ts";
import { again, done, passOf, type Pass } from "../work.ts";
import { disruptedOf, expectedOf, failSafeStatus, goSelector, healthyPods, needsScale, statusOf, type Expected } from "./budget.ts";
import { PodScales } from "./pod-scale.ts";

export const disruptionController: KubeController = {
  name: "disruption-controller",
  reportsAs: "controllermanager",
  start: (context) => new Disruption(context).start(),
};

const STALE_MS = 120_000;
const UNMANAGED =
  "to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
  'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';

class Disruption {
  readonly #context: KubeControllerContext;
  readonly #scales: PodScales;

  constructor(context: KubeControllerContext) {
    this.#context = context;
    this.#scales = new PodScales(context);
  }

  start(): void {
    const { informers } = this.#context;
    const budgets = this.#context.work({ name: "disruption", concurrency: 1, pass: (key, signal) => this.#budgetPass(key, signal) });
    const stale = this.#context.work({ name: "stale-pod-disruption", concurrency: 1, pass: (key, signal) => this.#stalePass(key, signal) });
    informers.subscribe(podDisruptionBudgets, ({ key, after }) => {
      if (after !== undefined) budgets.add(keyText(key));
    });
    informers.subscribe(podKind, ({ key, before, after }) => {
      const pods = [before, after].filter((pod) => pod !== undefined);
      for (const budget of informers.of(podDisruptionBudgets).list(key.namespace)) {
        if (pods.some((pod) => selects(budget, pod))) budgets.add(keyText(keyOf(budget)));
      }
      const waitMs = after === undefined ? undefined : this.#staleIn(after);
      if (waitMs !== undefined) stale.addAfter(keyText(key), waitMs);
      if (after !== undefined) this.#warnOfSeveral(after);
    });
  }

  async #budgetPass(key: string, signal: AbortSignal): Promise<Pass> {
    const { informers, clock } = this.#context;
    const budget = informers.of(podDisruptionBudgets).get(parseKey(key));
    if (budget === undefined) return done;
    const pods = informers
      .of(podKind)
      .list(budget.metadata.namespace)
      .filter((pod) => selects(budget, pod));
    if (pods.length === 0) this.#tell(budget, "Normal", "NoPods", "No matching pods found");
    const expected = await this.#expected(budget, pods, signal);
    if (!expected.ok) {
      const text = `Failed to calculate the number of expected pods: ${expected.error}`;
      this.#tell(budget, "Warning", "CalculateExpectedPodCountFailed", text);
      return this.#write(budget, failSafeStatus(budget, expected.error, timestamp(clock)), signal);
    }
    const now = clock.now();
    const disrupted = disruptedOf(budget, pods, now);
    for (const pod of disrupted.stayed) {
      const { namespace } = budget.metadata;
      // the repeated namespace is a mistake of kube-controller-manager that is kept: users search for the message
      this.#tell(pod, "Warning", "NotDeleted", `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`);
    }
    const counted = { expected: expected.value, healthy: healthyPods(pods, disrupted.pods, now), disrupted: disrupted.pods };
    const written = await this.#write(budget, statusOf(budget, counted, timestamp(clock)), signal);
    return written.kind === "done" && disrupted.recheckAt !== undefined ? again(disrupted.recheckAt - now + 1) : written;
  }

  async #expected(budget: PodDisruptionBudget, pods: readonly Pod[], signal: AbortSignal): Promise<Result<Expected, string>> {
    if (!needsScale(budget)) return expectedOf(budget, pods.length);
    const scale = await this.#scales.of(pods, signal);
    if (!scale.ok) return scale;
    if (scale.value.unmanaged.length > 0) {
      const selector = goSelector(budget.spec?.selector ?? {});
      this.#tell(
        budget,
        "Warning",
        "UnmanagedPods",
        `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found ${UNMANAGED}`,
      );
    }
    return expectedOf(budget, scale.value.wanted);
  }

  async #write(budget: PodDisruptionBudget, status: BudgetStatus | undefined, signal: AbortSignal): Promise<Pass> {
    if (status === undefined) return done;
    const { client } = this.#context;
    const answer = await client.update(podDisruptionBudgets, { ...budget, status }, { subresource: "status", signal });
    return !answer.ok && answer.error.kind === "not-found" ? done : passOf(answer);
  }

  async #stalePass(key: string, signal: AbortSignal): Promise<Pass> {
    const { informers, client, clock } = this.#context;
    const pod = informers.of(podKind).get(parseKey(key));
    const waitMs = pod === undefined ? undefined : this.#staleIn(pod);
    if (pod === undefined || waitMs === undefined) return done;
    if (waitMs > 0) return again(waitMs);
    const conditions = withPodCondition(pod, { type: "DisruptionTarget", status: "False" }, timestamp(clock));
    const answer = await client.update(podKind, { ...pod, status: { ...pod.status, conditions } }, { subresource: "status", signal });
    return !answer.ok && answer.error.kind === "not-found" ? done : passOf(answer);
  }

  /** How long until the condition is stale; undefined when there is none that could be. Conditions of the kubelet are not reset. */
  #staleIn(pod: Pod): number | undefined {
    const condition = podCondition(pod, "DisruptionTarget");
    if (pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod)) return undefined;
    if (condition?.status !== "True" || condition.reason === "TerminationByKubelet") return undefined;
    const since = Date.parse(condition.lastTransitionTime ?? "");
    return Number.isNaN(since) ? 0 : Math.max(0, STALE_MS - (this.#context.clock.now() - since));
  }

  #warnOfSeveral(pod: Pod): void {
    const { namespace = "", name } = pod.metadata;
    const [first, second] = this.#context.informers
      .of(podDisruptionBudgets)
      .list(namespace)
      .filter((budget) => selects(budget, pod));
    if (first === undefined || second === undefined) return;
    const text = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${first.metadata.name}" arbitrarily.`;
    this.#tell(pod, "Warning", "MultiplePodDisruptionBudgets", text);
  }

  #tell(regarding: Pod | PodDisruptionBudget, type: "Normal" | "Warning", reason: string, note: string): void {
    this.#context.record({ regarding, type, reason, note });
  }
}

/** An absent selector selects nothing; an empty one selects every Pod of the namespace. */
function selects({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return spec?.selector !== undefined && spec.selector !== null && matches(requirementsOf(spec.selector), metadata.labels);
}
