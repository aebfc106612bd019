/** HorizontalPodAutoscalers: every 15 seconds, from the usage of the Pods to the number of replicas. */
import { timestamp } from "#base";
import {
  horizontalPodAutoscalers,
  jsonEqual,
  keyText,
  matches,
  parseKey,
  parseQuantity,
  parseSelector,
  pods as podResource,
  quantityToNumber,
  type Autoscaler,
  type AutoscalerCondition,
  type AutoscalerStatus,
  type MetricStatus,
  type Pod,
  type Requirement,
  type Scale,
  type TruthStatus,
} from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { updateStatus } from "../pods/status-update.ts";
import type { MetricsSource } from "./metrics-source.ts";
import { proposalsOf } from "./metric-proposals.ts";
import type { Tolerance } from "./replica-calculation.ts";
import { readTarget, writeTarget } from "./scale-target.ts";
import { Stabiliser } from "./stabiliser.ts";

const EVERY_MS = 15_000;
const TOLERANCE = 0.1;

type Work = { readonly context: KubeControllerContext; readonly metrics: MetricsSource; readonly stabiliser: Stabiliser };

export function autoscalerController(metrics: MetricsSource): KubeController {
  return {
    name: "horizontal-pod-autoscaler-controller",
    reportsAs: "horizontal-pod-autoscaler",
    start(context) {
      const { informers } = context;
      informers.of(podResource);
      const work: Work = { context, metrics, stabiliser: new Stabiliser() };
      const queue = context.work({ name: "autoscaler", pass: (key) => pass(work, key) });
      informers.subscribe(horizontalPodAutoscalers, ({ key, before, after }) => {
        if (after === undefined) work.stabiliser.forget(keyText(key));
        // ignores changes of the status; reacts to a new spec
        if (before === undefined || after === undefined || !jsonEqual(before.spec, after.spec)) queue.add(keyText(key));
      });
    },
  };
}

async function pass(work: Work, key: string): Promise<Pass> {
  const { client, informers } = work.context;
  const autoscaler = informers.of(horizontalPodAutoscalers).get(parseKey(key));
  if (autoscaler === undefined) return done;
  const status = await decide(work, key, autoscaler);
  const written = await updateStatus(client, horizontalPodAutoscalers, autoscaler, status);
  return written.ok ? again(EVERY_MS) : passOf(written);
}

/** Collects the conditions of one pass. */
class Conditions {
  #conditions: readonly AutoscalerCondition[];
  readonly #now: string;

  constructor({ status }: Autoscaler, now: string) {
    this.#conditions = status?.conditions ?? [];
    this.#now = now;
  }

  set(type: string, status: TruthStatus, reason: string, message: string): void {
    const index = this.#conditions.findIndex((condition) => condition.type === type);
    const known = this.#conditions[index];
    const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? this.#now) : this.#now;
    const next = { type, status, lastTransitionTime, reason, message };
    this.#conditions = known === undefined ? [...this.#conditions, next] : this.#conditions.with(index, next);
  }

  get all(): readonly AutoscalerCondition[] {
    return this.#conditions;
  }
}

async function decide(work: Work, key: string, autoscaler: Autoscaler): Promise<AutoscalerStatus> {
  const { context, stabiliser } = work;
  const { client, clock, record } = context;
  const conditions = new Conditions(autoscaler, timestamp(clock));
  const target = await readTarget(client, autoscaler);
  if (!target.ok) {
    record({ regarding: autoscaler, type: "Warning", reason: "FailedGetScale", note: target.error });
    conditions.set(
      "AbleToScale",
      "False",
      "FailedGetScale",
      `the HPA controller was unable to get the target's current scale: ${target.error}`,
    );
    return { desiredReplicas: 0, ...autoscaler.status, conditions: conditions.all };
  }
  conditions.set("AbleToScale", "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale");
  const current = target.value.scale.spec?.replicas ?? 0;
  stabiliser.remember(key, current, clock.now());
  const wanted = desire(work, key, { autoscaler, scale: target.value.scale, current, conditions });
  if (wanted.replicas === undefined)
    return statusOf(autoscaler, { current, desired: autoscaler.status?.desiredReplicas ?? 0, ...wanted }, conditions);
  if (wanted.replicas === current) return statusOf(autoscaler, { current, desired: current, ...wanted }, conditions);
  const { replicas, reason = "" } = wanted;
  const written = await writeTarget(client, target.value, replicas);
  if (!written.ok) {
    const { message } = written.error;
    record({
      regarding: autoscaler,
      type: "Warning",
      reason: "FailedRescale",
      note: `New size: ${replicas}; reason: ${reason}; error: ${message}`,
    });
    conditions.set("AbleToScale", "False", "FailedUpdateScale", `the HPA controller was unable to update the target scale: ${message}`);
    return statusOf(autoscaler, { current, desired: autoscaler.status?.desiredReplicas ?? 0, ...wanted }, conditions);
  }
  conditions.set("AbleToScale", "True", "SucceededRescale", `the HPA controller was able to update the target scale to ${replicas}`);
  record({ regarding: autoscaler, type: "Normal", reason: "SuccessfulRescale", note: `New size: ${replicas}; reason: ${reason}` });
  stabiliser.scaled(key, current, replicas, clock.now());
  const done = statusOf(autoscaler, { current, desired: replicas, ...wanted }, conditions);
  return { ...done, lastScaleTime: timestamp(clock) };
}

type Desire = { readonly replicas: number | undefined; readonly reason?: string; readonly statuses?: readonly MetricStatus[] };
type Given = { readonly autoscaler: Autoscaler; readonly scale: Scale; readonly current: number; readonly conditions: Conditions };

function desire(work: Work, key: string, given: Given): Desire {
  const { autoscaler, current, conditions } = given;
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  if (current === 0) {
    conditions.set("ScalingActive", "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero");
    return { replicas: 0 };
  }
  if (current > maxReplicas) return { replicas: maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas" };
  if (current < minReplicas) return { replicas: minReplicas, reason: "Current number of replicas below Spec.MinReplicas" };
  const selector = selectorOf(work, given);
  return selector === undefined ? { replicas: undefined } : desireByMetrics(work, key, given, selector);
}

function selectorOf({ context }: Work, { autoscaler, scale, conditions }: Given): readonly Requirement[] | undefined {
  const text = scale.status?.selector ?? "";
  const parsed = parseSelector(text);
  if (text !== "" && parsed.ok) return parsed.value;
  const [reason, note] = parsed.ok
    ? ["SelectorRequired", "selector is required"]
    : ["InvalidSelector", `couldn't convert selector into a corresponding internal selector object: ${parsed.error}`];
  context.record({ regarding: autoscaler, type: "Warning", reason, note });
  conditions.set("ScalingActive", "False", "InvalidSelector", parsed.ok ? "the HPA target's scale is missing a selector" : note);
  return undefined;
}

function desireByMetrics(work: Work, key: string, { autoscaler, current, conditions }: Given, selector: readonly Requirement[]): Desire {
  const { context, metrics, stabiliser } = work;
  const now = context.clock.now();
  const pods = context.informers
    .of(podResource)
    .list(autoscaler.metadata.namespace)
    .filter((pod: Pod) => matches(selector, pod.metadata.labels));
  const proposals = proposalsOf(autoscaler, { pods, metrics, replicas: current, tolerance: toleranceOf(autoscaler), now });
  const { statuses, metric } = proposals;
  for (const { reason, error } of proposals.unreadable) context.record({ regarding: autoscaler, type: "Warning", reason, note: error });
  if (proposals.replicas === undefined) {
    const [first] = proposals.unreadable;
    const all = autoscaler.spec.metrics?.length ?? 0;
    const note = `invalid metrics (${proposals.unreadable.length} invalid out of ${all}), first error is: ${first?.summary ?? ""}`;
    context.record({ regarding: autoscaler, type: "Warning", reason: "FailedComputeMetricsReplicas", note });
    conditions.set("ScalingActive", "False", first?.reason ?? "", `the HPA was unable to compute the replica count: ${first?.error ?? ""}`);
    return { replicas: undefined, statuses };
  }
  conditions.set("ScalingActive", "True", "ValidMetricFound", `the HPA was able to successfully calculate a replica count from ${metric}`);
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  const bounds = { current, desired: proposals.replicas, min: minReplicas, max: maxReplicas };
  const { replicas, able, limited } = stabiliser.normalise(key, autoscaler, bounds, now);
  conditions.set("AbleToScale", "True", able.reason, able.message);
  conditions.set("ScalingLimited", limited.status, limited.reason, limited.message);
  const reason = proposals.replicas > current ? `${metric} above target` : "All metrics below target";
  return { replicas, reason, statuses };
}

function toleranceOf({ spec: { behavior } }: Autoscaler): Tolerance {
  const read = (text: string | number | undefined) => {
    const parsed = text === undefined ? undefined : parseQuantity(text);
    return parsed?.ok === true ? quantityToNumber(parsed.value) : TOLERANCE;
  };
  return { down: read(behavior?.scaleDown?.tolerance), up: read(behavior?.scaleUp?.tolerance) };
}

type Counted = { readonly current: number; readonly desired: number; readonly statuses?: readonly MetricStatus[] };

function statusOf({ status }: Autoscaler, { current, desired, statuses }: Counted, conditions: Conditions): AutoscalerStatus {
  const { lastScaleTime, observedGeneration } = status ?? {};
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
    ...(current === 0 ? {} : { currentReplicas: current }),
    desiredReplicas: desired,
    currentMetrics: statuses === undefined || statuses.length === 0 ? null : statuses,
    conditions: conditions.all,
  };
}
