/**
 * Starts the operator from its parts: in every replica a server for health and metrics, in the leader this release's controllers, and more parts
 * that are given.
 *
 * It refuses to start on a cluster that does not serve Lattice's kinds: informers would wait forever, and a pod that is
 * only "not ready" does not show the reason.
 */
import { randomBytes as secureRandomBytes } from "node:crypto";
import { map, PROGRAM_VERSION, type Clock, type Logger, type MetricsRegistry, type Result, type Tracer } from "#base";
import type { Bundle } from "#bundle";
import {
  createManager,
  DEFAULT_LEASE_TIMES,
  type ControllerManager,
  type LeaseTimes,
  type ManagerHealth,
  type RunnerLimits,
} from "#controller-runtime";
import { FollowedWorld, type ClusterShared, type FollowedWorldOptions } from "#controllers";
import type { KubeClient } from "#kube-client";
import type { TunnelTarget } from "#link";
import { admissionPart } from "./admission/webhook-service.ts";
import type { WebhookSettings } from "./admission/webhook-replica.ts";
import { clusterRoles, clusterState } from "./cluster-parts.ts";
import { OPERATOR_NAME, operatorControllers, operatorRbac, operatorScope, unhandledKinds } from "./controllers.ts";
import { operatorDeployment } from "./deployment.ts";
import { leaderLabelPart } from "./leader-label.ts";
import { healthPart, managedBy, startEverywhere, type OperatorPart, type ReplicaHealth, type RunningReplicaPart } from "./parts.ts";
import { followRoles } from "./roles/follow-roles.ts";
import { untilServed } from "./served-kinds.ts";

export type OperatorConfig = {
  /** Namespace of the Lease. */
  readonly namespace: string;
  /** Unique to this process. */
  readonly identity: string;
  /** The namespaces in which it works; absent: the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** Services run on a cluster without the kinds of the default deny; default: they wait for them. */
  readonly allowUnprotected?: boolean | undefined;
  /** The Pod of this process, which is labelled while it leads; absent: none. */
  readonly pod?: { readonly namespace: string; readonly name: string } | undefined;
  readonly leaderElection: boolean;
  /** How long an API server that cannot be reached is tried again; absent: once. */
  readonly waitForServerMs?: number | undefined;
  readonly leaseTimes?: LeaseTimes | undefined;
  /** How API servers reach the admission webhook; absent: there is none, and services in patch mode change nothing. */
  readonly webhook?: WebhookSettings | undefined;
  /** Address of health and metrics; port 0: any free one. */
  readonly health: { readonly host: string; readonly port: number };
  readonly limits?: Partial<RunnerLimits> | undefined;
  /** Domains, gateway and name of this cluster, for compiling services; fields that are left out have defaults. */
  readonly services?: FollowedWorldOptions["settings"];
  /** What children get; absent: only those of provider local can be made. */
  readonly bundle?: Bundle | undefined;
};

export type OperatorDependencies = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: () => number;
  /** Unpredictable bytes, for keys. */
  readonly randomBytes?: ((count: number) => Uint8Array) | undefined;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly tracer: Tracer;
  /** The API server of `client` for the parent of this cluster, with the operator's credential, or why the parent's requests are refused. */
  readonly apiServer?: Result<TunnelTarget, string> | undefined;
  /** Beside the operator's own. */
  readonly parts?: readonly OperatorPart[] | undefined;
};

export type Operator = {
  readonly healthUrl: string;
  readonly health: ControllerManager["health"];
  /** Starts or stops the role of a part, also while the operator runs. */
  readonly setActive: ControllerManager["setActive"];
  /** Runs until the signal fires and everything has ended. */
  readonly run: (signal: AbortSignal) => Promise<void>;
};

export async function startOperator(
  config: OperatorConfig,
  dependencies: OperatorDependencies,
  signal: AbortSignal,
): Promise<Result<Operator, string>> {
  const served = await untilServed(dependencies, { withinMs: config.waitForServerMs ?? 0, signal });
  if (!served.ok) return served;
  const { clock, metrics, logger } = dependencies;
  const label = config.pod === undefined ? [] : [leaderLabelPart({ ...dependencies, pod: config.pod })];
  const webhook =
    config.webhook === undefined ? [] : [admissionPart({ ...dependencies, settings: config.webhook, home: config.namespace })];
  const parts = [...label, ...webhook, ...(dependencies.parts ?? [])];
  const manager = managerFor(config, { ...dependencies, parts });
  const { setActive } = manager;
  let ofReplica: RunningReplicaPart["health"];
  const health = () => withReplica(manager.health(), ofReplica?.());
  const context = { health, metrics, clock, logger };
  const server = await healthPart(config.health).start(context);
  if (!server.ok) return server;
  const others = await startEverywhere(
    parts.flatMap(({ everyReplica = [] }) => everyReplica),
    context,
  );
  if (!others.ok) await server.value.close();
  else ofReplica = others.value.health;
  return map(others, (running) => ({
    healthUrl: server.value.url,
    health,
    setActive,
    run: (stop) => runAll(manager, [running, server.value], stop),
  }));
}

/** A replica is ready when its servers are, too. */
function withReplica(manager: ManagerHealth, replica: ReplicaHealth | undefined): ManagerHealth {
  if (replica === undefined) return manager;
  return { ...manager, ready: manager.ready && replica.ready, details: { ...manager.details, ...replica.details } };
}

function managerFor(config: OperatorConfig, dependencies: OperatorDependencies): ControllerManager {
  const { namespace, namespaces, allowUnprotected, identity, leaderElection, leaseTimes, limits, services } = config;
  const { logger, randomBytes = secureRandomBytes, parts = [] } = dependencies;
  const followed = new FollowedWorld({ namespace, namespaces, allowUnprotected, randomBytes, settings: services, logger });
  if (namespaces !== undefined) logger.info("works in some namespaces only", { namespaces, unhandled: unhandledKinds(followed.reach) });
  const lease = { namespace, name: OPERATOR_NAME, ...(leaseTimes === undefined ? {} : { times: leaseTimes }) };
  const clusters = clusterState(namespace, dependencies.apiServer);
  const managed = managedBy([...parts, ...(namespaces === undefined ? rolesOfCluster(config, dependencies, clusters) : [])]);
  const manager = createManager({
    ...dependencies,
    ...managed,
    controllers: [...operatorControllers(followed, clusters), ...managed.controllers],
    identity,
    leaderElection: leaderElection ? lease : undefined,
    limits,
    scope: operatorScope(followed.reach),
  });
  followed.follow(manager.cache);
  if (namespaces === undefined) followRoles({ manager, home: namespace, logger });
  return manager;
}

/** Roles of this cluster among others: they follow its LatticeCluster and its parent. */
function rolesOfCluster(
  { bundle, leaseTimes = DEFAULT_LEASE_TIMES }: OperatorConfig,
  dependencies: OperatorDependencies,
  shared: ClusterShared,
): readonly OperatorPart[] {
  const { random, metrics, apiServer, randomBytes = secureRandomBytes } = dependencies;
  const childOperator = { rbac: operatorRbac(), deployment: operatorDeployment({ version: PROGRAM_VERSION }) };
  return clusterRoles({ shared, random, randomBytes, metrics, childOperator, bundle, apiServer, leaseMs: leaseTimes.leaseDurationMs });
}

/** Health is closed last: it is served until the process ends. */
async function runAll(manager: ControllerManager, replica: readonly RunningReplicaPart[], signal: AbortSignal): Promise<void> {
  try {
    await manager.run(signal);
  } finally {
    for (const part of replica) await part.close();
  }
}
