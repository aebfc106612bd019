/**
 * What a control plane does next: at most one machine is created or deleted at a time, and nothing happens while a machine is not healthy or on
 * its way out. Pure.
 */
export type ControlPlaneMachine = {
  readonly name: string;
  readonly isDeleting: boolean;
  readonly isUpToDate: boolean;
  readonly isHealthy: boolean;
  /** A health check found it unhealthy and leaves its replacement to the control plane. */
  readonly mustRemediate: boolean;
  /** Marked for deletion by a user. */
  readonly isMarked: boolean;
};

export type ControlPlaneInput = {
  readonly desired: number;
  readonly maxSurge: number;
  readonly initialized: boolean;
  /** The oldest first. */
  readonly machines: readonly ControlPlaneMachine[];
};

export type ControlPlaneStep =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly as: "init" | "join" }
  | { readonly kind: "delete"; readonly name: string; readonly why: "scale-down" | "rollout" | "remediation" }
  /** `messages`: why scaling is blocked, as the conditions show it. */
  | { readonly kind: "wait"; readonly messages: readonly string[] };

export function planControlPlane(input: ControlPlaneInput): ControlPlaneStep {
  const { machines, desired, maxSurge, initialized } = input;
  if (machines.length === 0) return desired === 0 ? { kind: "none" } : { kind: "create", as: initialized ? "join" : "init" };
  const sick = remediation(input);
  if (sick !== undefined) return sick;
  const stale = machines.filter((machine) => !machine.isUpToDate);
  if (stale.length > 0) {
    if (!initialized) return waitForInitialization;
    return machines.length < desired + maxSurge ? grow(input) : shrink(input, stale, "rollout");
  }
  if (machines.length < desired) return grow(input);
  return machines.length > desired ? shrink(input, machines, "scale-down") : { kind: "none" };
}

/** The simulated components of a machine, etcd among them, are all healthy or all not. */
const NOT_HEALTHY = ["* waiting for control plane components to become healthy", "* waiting for etcd cluster to become healthy"];
const waitForInitialization: ControlPlaneStep = { kind: "wait", messages: NOT_HEALTHY };

function grow(input: ControlPlaneInput): ControlPlaneStep {
  if (!input.initialized) return waitForInitialization;
  return preflight(input.machines) ?? { kind: "create", as: "join" };
}

function shrink(input: ControlPlaneInput, candidates: readonly ControlPlaneMachine[], why: "scale-down" | "rollout"): ControlPlaneStep {
  const victim = [...candidates].toSorted((left, right) => rank(left) - rank(right))[0];
  if (victim === undefined) return { kind: "none" };
  return preflight(input.machines, victim) ?? { kind: "delete", name: victim.name, why };
}

const rank = ({ isMarked, isUpToDate }: ControlPlaneMachine) => (isMarked ? 0 : isUpToDate ? 2 : 1);

/**
 * Undefined: nothing is in the way. The machine that is to be deleted may be unhealthy. A deletion is waited for without a message: the real
 * controller looks again only after five seconds.
 */
function preflight(machines: readonly ControlPlaneMachine[], victim?: ControlPlaneMachine): ControlPlaneStep | undefined {
  if (machines.some(({ isDeleting }) => isDeleting)) return { kind: "wait", messages: [] };
  const isStable = machines.every((machine) => machine.isHealthy || machine === victim);
  return isStable ? undefined : { kind: "wait", messages: NOT_HEALTHY };
}

/** Replaces one machine, if the others keep a quorum of etcd. */
function remediation({ machines, initialized }: ControlPlaneInput): ControlPlaneStep | undefined {
  const sick = machines.find(({ mustRemediate, isDeleting }) => mustRemediate && !isDeleting);
  if (sick === undefined) return undefined;
  const others = machines.filter((machine) => machine !== sick);
  if (others.some(({ isDeleting }) => isDeleting)) return { kind: "wait", messages: [] };
  const healthy = others.filter(({ isHealthy }) => isHealthy).length;
  const keepsQuorum = healthy > Math.floor(others.length / 2) && healthy >= 1;
  if (initialized && !keepsQuorum)
    return { kind: "wait", messages: [`* Machine ${sick.name} cannot be remediated: etcd would lose its quorum`] };
  return { kind: "delete", name: sick.name, why: "remediation" };
}
