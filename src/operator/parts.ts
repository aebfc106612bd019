/**
 * The parts that an operator is composed of: what every replica runs, and what only the leader runs. A part is data; importing one starts
 * nothing.
 */
import { ok, type Clock, type Logger, type MetricsRegistry, type Result } from "#base";
import type { BoundController, BoundLeaderService, ManagerHealth, ManagerOptions } from "#controller-runtime";
import { startHealthServer } from "#http";

export type ReplicaContext = {
  readonly health: () => ManagerHealth;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type ReplicaHealth = {
  readonly ready: boolean;
  readonly details: Readonly<Record<string, string>>;
};

export type RunningReplicaPart = {
  /** Absent: it is always ready. */
  readonly health?: () => ReplicaHealth;
  readonly close: () => Promise<void>;
};

/** Runs in every replica from the start of the process to its end, leading or not: health, and servers that the API server calls. */
export type ReplicaPart<Running extends RunningReplicaPart = RunningReplicaPart> = {
  readonly name: string;
  /** An error ends the operator: a replica without one of its servers must not look ready. */
  readonly start: (context: ReplicaContext) => Promise<Result<Running, string>>;
};

/** Beside the controllers of the operator itself. */
export type OperatorPart = {
  /** Also the name of its role. */
  readonly name: string;
  readonly everyReplica?: readonly ReplicaPart[];
  /** What the leader runs. */
  readonly controllers?: readonly BoundController[];
  readonly services?: readonly BoundLeaderService[];
  /** "started" or "stopped": what the leader runs is a role, which `setActive` starts and stops. Absent: it always runs. */
  readonly role?: "started" | "stopped";
};

/** What all parts together add to a manager. */
export function managedBy(parts: readonly OperatorPart[]): Required<Pick<ManagerOptions, "controllers" | "services" | "roles">> {
  const always = parts.filter(({ role }) => role === undefined);
  return {
    controllers: always.flatMap(({ controllers = [] }) => controllers),
    services: always.flatMap(({ services = [] }) => services),
    roles: parts
      .filter(({ role }) => role !== undefined)
      .map(({ name, controllers = [], services = [], role }) => ({ name, controllers, services, active: role === "started" })),
  };
}

/** All of them, or none: when one fails, those before it are closed. */
export async function startEverywhere(parts: readonly ReplicaPart[], context: ReplicaContext): Promise<Result<RunningReplicaPart, string>> {
  const running: RunningReplicaPart[] = [];
  const close = async () => {
    for (const one of running.splice(0).toReversed()) await one.close();
  };
  for (const part of parts) {
    const started = await part.start(context);
    if (!started.ok) {
      await close();
      return started;
    }
    running.push(started.value);
  }
  return ok({ health: () => healthOf(running), close });
}

function healthOf(running: readonly RunningReplicaPart[]): ReplicaHealth {
  const all = running.flatMap(({ health }) => (health === undefined ? [] : [health()]));
  return { ready: all.every(({ ready }) => ready), details: Object.assign({}, ...all.map(({ details }) => details)) };
}

export function healthPart(address: {
  readonly host: string;
  readonly port: number;
}): ReplicaPart<RunningReplicaPart & { readonly url: string }> {
  return {
    name: "health",
    start: ({ health, metrics, clock }) => startHealthServer({ ...address, health, metrics, clock }),
  };
}
