import type { Autoscaler, ScalingRules } from "#kube";
/**
 * Prevents flapping of an autoscaler by its recent recommendations. State is kept per autoscaler and lost on a restart,
 * as in Kubernetes.
 */

const DOWNSCALE_WINDOW_MS = 300_000;

type Stamped = { readonly at: number; readonly value: number };
type Memory = { recommendations: Stamped[]; ups: Stamped[]; downs: Stamped[] };

export type ScaleReason = { readonly reason: string; readonly message: string };
export type Normalised = {
  readonly replicas: number;
  readonly able: ScaleReason;
  readonly limited: ScaleReason & { readonly status: "True" | "False" };
};

export type Bounds = { readonly current: number; readonly desired: number; readonly min: number; readonly max: number };

const READY: ScaleReason = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const UP_STABILISED: ScaleReason = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const DOWN_STABILISED: ScaleReason = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const IN_RANGE: ScaleReason = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };
const TOO_FEW: ScaleReason = { reason: "TooFewReplicas", message: "the desired replica count is less than the minimum replica count" };
const TOO_MANY: ScaleReason = { reason: "TooManyReplicas", message: "the desired replica count is more than the maximum replica count" };
const TOO_FAST_UP: ScaleReason = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const TOO_FAST_DOWN: ScaleReason = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

export class Stabiliser {
  readonly #memory = new Map<string, Memory>();

  /** The first observed size counts as a recommendation, so that a restart does not scale down. */
  remember(key: string, current: number, now: number): void {
    if (!this.#memory.has(key)) this.#memory.set(key, { recommendations: [{ at: now, value: current }], ups: [], downs: [] });
  }

  forget(key: string): void {
    this.#memory.delete(key);
  }

  normalise(key: string, { spec }: Autoscaler, bounds: Bounds, now: number): Normalised {
    const memory = this.#of(key);
    const { behavior } = spec;
    const up = behavior === undefined ? undefined : (behavior.scaleUp ?? {});
    const down = behavior === undefined ? undefined : (behavior.scaleDown ?? {});
    const stable = stabilise(memory, bounds, {
      upMs: (up?.stabilizationWindowSeconds ?? 0) * 1_000,
      downMs: windowOf(down),
      now,
      hasBehavior: up !== undefined,
    });
    const limited =
      up === undefined || down === undefined ? limitByDefault(bounds, stable) : limitByRules(memory, bounds, { stable, up, down, now });
    const why = bounds.desired >= bounds.current && up !== undefined ? UP_STABILISED : DOWN_STABILISED;
    return {
      replicas: limited.replicas,
      able: stable === bounds.desired ? READY : why,
      limited: { ...limited.why, status: limited.replicas === stable ? "False" : "True" },
    };
  }

  /** Called after scaling: rates are limited by the recorded changes. */
  scaled(key: string, before: number, after: number, now: number): void {
    const memory = this.#of(key);
    const done = { at: now, value: Math.abs(after - before) };
    if (after > before) memory.ups.push(done);
    else memory.downs.push(done);
    const recent = ({ at }: Stamped) => now - at <= LONGEST_PERIOD_MS;
    memory.ups = memory.ups.filter(recent);
    memory.downs = memory.downs.filter(recent);
  }

  #of(key: string): Memory {
    const known = this.#memory.get(key);
    if (known !== undefined) return known;
    const memory: Memory = { recommendations: [], ups: [], downs: [] };
    this.#memory.set(key, memory);
    return memory;
  }
}

/** The API allows periods of half an hour at most. */
const LONGEST_PERIOD_MS = 1_800_000;

function windowOf(down: ScalingRules | undefined): number {
  return down?.stabilizationWindowSeconds === undefined ? DOWNSCALE_WINDOW_MS : down.stabilizationWindowSeconds * 1_000;
}

type Windows = { readonly upMs: number; readonly downMs: number; readonly now: number; readonly hasBehavior: boolean };

/** The size between the lowest recent recommendation (for scaling up) and the highest (for scaling down). */
function stabilise(memory: Memory, { current, desired }: Bounds, { upMs, downMs, now, hasBehavior }: Windows): number {
  const within = (ms: number) => memory.recommendations.filter(({ at }) => at > now - ms).map(({ value }) => value);
  const lowest = Math.min(desired, ...within(upMs));
  const highest = Math.max(desired, ...within(downMs));
  memory.recommendations = [...memory.recommendations.filter(({ at }) => at >= now - Math.max(upMs, downMs)), { at: now, value: desired }];
  return hasBehavior ? Math.min(Math.max(current, lowest), highest) : highest;
}

type Limited = { readonly replicas: number; readonly why: ScaleReason };

/** Without `behavior`: at most twice as many, or four. */
function limitByDefault({ current, min, max }: Bounds, stable: number): Limited {
  const fastest = Math.trunc(Math.max(2 * current, 4));
  if (stable < min) return { replicas: min, why: TOO_FEW };
  if (stable > Math.min(max, fastest)) return { replicas: Math.min(max, fastest), why: max > fastest ? TOO_FAST_UP : TOO_MANY };
  return { replicas: stable, why: IN_RANGE };
}

type Ruled = { readonly stable: number; readonly up: ScalingRules; readonly down: ScalingRules; readonly now: number };

function limitByRules(memory: Memory, { current, min, max }: Bounds, { stable, up, down, now }: Ruled): Limited {
  if (stable > current) {
    const fastest = Math.max(current, rateLimit(memory, current, up, { now, direction: "up" }));
    if (stable > Math.min(max, fastest)) return { replicas: Math.min(max, fastest), why: max > fastest ? TOO_FAST_UP : TOO_MANY };
  } else if (stable < current) {
    const fastest = Math.min(current, rateLimit(memory, current, down, { now, direction: "down" }));
    if (stable < Math.max(min, fastest)) return { replicas: Math.max(min, fastest), why: min < fastest ? TOO_FAST_DOWN : TOO_FEW };
  }
  return { replicas: stable, why: IN_RANGE };
}

/** The limit of the policies, from the size at the beginning of each period. */
function rateLimit(
  memory: Memory,
  current: number,
  rules: ScalingRules,
  { now, direction }: { now: number; direction: "up" | "down" },
): number {
  if (rules.selectPolicy === "Disabled") return current;
  const limits = (rules.policies ?? []).map(({ type, value, periodSeconds }) => {
    const changed = (done: readonly Stamped[]) =>
      done.filter(({ at }) => at > now - periodSeconds * 1_000).reduce((sum, one) => sum + one.value, 0);
    const start = current - changed(memory.ups) + changed(memory.downs);
    const sign = direction === "up" ? 1 : -1;
    if (type === "Pods") return start + sign * value;
    const scaled = start * (1 + (sign * value) / 100);
    return direction === "up" ? Math.ceil(scaled) : Math.trunc(scaled);
  });
  const furthest = (direction === "up") === (rules.selectPolicy !== "Min");
  return furthest ? Math.max(...limits) : Math.min(...limits);
}
