/**
 * Applies a LatticeEnvironment: its namespace and the limits in it. The default deny comes from `namespace/`, also for namespaces without an
 * environment; this controller only watches it.
 *
 * The namespace is created if missing and never deleted: it may contain objects of users.
 */
import { err, ok, type Result } from "#base";
import {
  defineController,
  failed,
  REQUEUE,
  settled,
  stalled,
  waiting,
  watch,
  type CacheReader,
  type DesiredStatus,
  type ReconcileOutcome,
  type PassResult,
  type Plan,
  type PlanError,
  type ReadRuntime,
  type Runtime,
} from "#controller-runtime";
import { latticeEnvironments, parseLatticeEnvironment, type FieldError, type LatticeEnvironment } from "#crds";
import {
  authorizationPolicies,
  ciliumNetworkPolicies,
  findCondition,
  gateways,
  limitRanges,
  meshKinds,
  namespaces,
  peerAuthentications,
  resourceQuotas,
  type KubeObject,
  type NewCondition,
} from "#kube";
import { acceptedCondition, describeErrors, implementedCondition } from "../acceptance/conditions.ts";
import { namespaceProblem, type NamespaceProblem } from "../namespace/namespace-problem.ts";
import { reachProblem } from "../reach.ts";
import { missingKinds, missingProblem, unprotectedProblem, type MissingKinds } from "../namespace/protection.ts";
import type { WorldContext, WorldViewContext } from "../world/followed-world.ts";
import { isolationObjects } from "./isolation.ts";

type ObservedEnvironment =
  | { readonly kind: "invalid"; readonly errors: readonly FieldError[] }
  | { readonly kind: "taken"; readonly namespace: string; readonly by: string }
  | { readonly kind: "reserved"; readonly namespace: string; readonly why: string }
  | {
      readonly kind: "valid";
      readonly environment: LatticeEnvironment;
      readonly namespace: string;
      readonly exists: boolean;
      readonly problem: NamespaceProblem | undefined;
      /** The namespace is outside this operator's scope: another operator may manage it and write the status. */
      readonly outside: boolean;
      readonly missing: MissingKinds;
      /** Why its gatewayRef is ignored. */
      readonly gateway: string | undefined;
    };

type Command = { readonly kind: "create-namespace"; readonly name: string };

/** Reasons in the conditions of a LatticeEnvironment, with when each occurs; docs are checked against them. */
export const ENVIRONMENT_REASONS = {
  Compiled: "Ready: the namespace is there, closed by default, and within its limits",
  NamespaceTaken: "Ready: another, older LatticeEnvironment has the same namespace",
  NamespaceReserved: "Ready: a gateway or monitoring is in the namespace, and a default deny would cut it off",
  GatewayNamespaceTaken:
    "Ready: services run in the namespace that spec.gatewayRef names, so that it is closed by default; the environment is applied otherwise",
  NamespaceNotReady: "Ready: the namespace is being created or closed; the message has what is missing",
  NamespaceOutOfReach:
    "Ready: the operator runs with `--namespaces` and has no rights in the namespace; the message has the command that grants them",
  Applied: "PoliciesApplied: everything in the namespace is closed until both sides agree",
  CRDsMissing:
    "PoliciesApplied, Ready: the cluster lacks kinds that the message names. Those of Cilium and Istio close the namespace: no pod is started in it before. It goes on by itself when they come",
  Unprotected:
    "PoliciesApplied: the cluster lacks kinds of Cilium or Istio, so nothing closes the namespace; services run all the same, because the operator has `--allow-unprotected`",
} as const satisfies Record<string, string>;

const RECHECK_MS = 1_000;
/** Only a restart with other flags changes this. */
const OUTSIDE_RECHECK_MS = 600_000;

export const environmentController = defineController<LatticeEnvironment, ObservedEnvironment, Command, WorldContext>({
  name: "environment",
  reconciles: latticeEnvironments,
  owns: [resourceQuotas, limitRanges],
  watches: [
    watch(namespaces, ({ metadata }, { cache }) => environmentsOf(metadata.name, cache).map(({ metadata: { name } }) => ({ name }))),
  ],
  reads: [ciliumNetworkPolicies, authorizationPolicies, peerAuthentications, gateways],
  optional: meshKinds,
  triggers: (enqueue, { followed }) => followed.subscribe("environments", enqueue),
  permissions: [{ resource: namespaces, verbs: ["create"] }],
  observe: (environment, context) => Promise.resolve(ok(observeEnvironment(environment, context))),
  plan,
  perform: createNamespace,
  status: statusOf,
});

function namespaceOf({ metadata, spec }: LatticeEnvironment): string {
  return spec.namespace ?? metadata.name;
}

function environmentsOf(namespace: string, cache: CacheReader): readonly LatticeEnvironment[] {
  return cache.list(latticeEnvironments).filter((environment) => namespaceOf(environment) === namespace);
}

function observeEnvironment(
  raw: LatticeEnvironment,
  { followed, cache }: WorldViewContext & Pick<ReadRuntime, "cache">,
): ObservedEnvironment {
  const { world } = followed;
  const parsed = parseLatticeEnvironment(raw);
  if (!parsed.ok) return { kind: "invalid", errors: parsed.error };
  const environment = parsed.value;
  const namespace = namespaceOf(environment);
  const first = environmentsOf(namespace, cache).toSorted(byAge)[0];
  if (first !== undefined && first.metadata.name !== environment.metadata.name)
    return { kind: "taken", namespace, by: first.metadata.name };
  const why = world.reservation(namespace);
  if (why !== undefined) return { kind: "reserved", namespace, why };
  const exists = cache.get(namespaces, { name: namespace }) !== undefined;
  const missing = missingKinds(world.namespaceObjects(namespace), cache, followed.allowUnprotected);
  const outside = reachProblem(namespace, followed.reach, cache)?.kind === "outside";
  const problem = namespaceProblem(namespace, followed, cache);
  return {
    kind: "valid",
    environment,
    namespace,
    exists,
    problem,
    outside,
    missing,
    gateway: world.gatewayProblem(environment.metadata.name),
  };
}

function byAge(a: KubeObject, b: KubeObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}

function plan(_environment: LatticeEnvironment, observed: ObservedEnvironment): Result<Plan<Command>, PlanError> {
  switch (observed.kind) {
    case "invalid":
      return err({ kind: "invalid-spec", message: describeErrors(observed.errors) });
    case "taken":
      return err({ kind: "invalid-spec", reason: "NamespaceTaken", message: describeTaken(observed) });
    case "reserved":
      return err({ kind: "invalid-spec", reason: "NamespaceReserved", message: describeReserved(observed) });
    case "valid": {
      const { environment, namespace, exists, problem, outside, missing, gateway } = observed;
      if (problem?.reason === "NamespaceOutOfReach") {
        const outcome = outside ? waiting(problem.reason, OUTSIDE_RECHECK_MS, problem.message) : stalled(problem.reason, problem.message);
        return ok({ apply: [], commands: [], outcome });
      }
      if (!exists) {
        const soon = waiting("NamespaceNotReady", RECHECK_MS, problem?.message);
        return ok({ apply: [], commands: [{ kind: "create-namespace", name: namespace }], outcome: soon });
      }
      const waited = missingProblem(missing);
      const outcome: ReconcileOutcome =
        problem !== undefined
          ? waiting("NamespaceNotReady", RECHECK_MS, problem.message)
          : waited !== undefined
            ? stalled("CRDsMissing", waited, REQUEUE.compileErrorMs)
            : gateway !== undefined
              ? stalled("GatewayNamespaceTaken", `spec.gatewayRef.namespace: ${gateway}`, REQUEUE.compileErrorMs)
              : settled;
      return ok({ apply: isolationObjects(namespace, environment), prune: true, commands: [], outcome });
    }
  }
}

function describeTaken({ namespace, by }: { readonly namespace: string; readonly by: string }): string {
  return `LatticeEnvironment ${by} has namespace ${namespace} already; give one of the two another spec.namespace`;
}

function describeReserved({ namespace, why }: { readonly namespace: string; readonly why: string }): string {
  return `namespace ${namespace} cannot be closed: ${why}; use another spec.namespace`;
}

async function createNamespace({ name }: Command, { client, signal }: Runtime): Promise<ReconcileOutcome> {
  const made = await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { signal });
  return made.ok || made.error.kind === "already-exists" ? settled : failed(made.error);
}

/** Fields that have no effect yet. */
const UNSUPPORTED_FIELDS = ["clusters", "clusterSelector"] as const;

function statusOf({ spec, status }: LatticeEnvironment, observed: ObservedEnvironment, { outcome }: PassResult): DesiredStatus {
  const unbuilt = UNSUPPORTED_FIELDS.filter((name) => spec[name] !== undefined).map((name) => `spec.${name}`);
  const accepted = acceptedCondition(observed.kind === "invalid" ? observed.errors : []);
  const conditions = [accepted, ...implementedCondition(unbuilt, status?.conditions)];
  if (observed.kind === "invalid") return { phase: "Failed", message: accepted.message, conditions };
  if (observed.kind === "taken") return { phase: "Failed", message: describeTaken(observed), namespaces: undefined, conditions };
  if (observed.kind === "reserved") return { phase: "Failed", message: describeReserved(observed), namespaces: undefined, conditions };
  const { namespace, exists, outside, missing } = observed;
  const written = findCondition(status?.conditions ?? [], "Ready");
  // another operator manages the namespace and writes the status
  if (outside && written !== undefined && written.reason !== "NamespaceOutOfReach") return { conditions: [written] };
  const namespacesMade = exists ? [namespace] : undefined;
  const waited = missingProblem(missing);
  const closed = waited === undefined ? [] : [policies("False", "CRDsMissing", waited)];
  if (outcome.kind === "failed") return { message: outcome.cause.message, namespaces: namespacesMade, conditions };
  if (outcome.kind !== "settled") {
    const phase = outcome.kind === "stalled" && outcome.reason === "GatewayNamespaceTaken" ? "Failed" : "Pending";
    return { phase, message: outcome.message, namespaces: namespacesMade, conditions: [...conditions, ...closed] };
  }
  const open = unprotectedProblem(missing);
  const message = open ?? `namespace ${namespace} is closed until both sides agree`;
  const protection = open === undefined ? policies("True", "Applied", message) : policies("False", "Unprotected", message);
  const ready: NewCondition = { type: "Ready", status: "True", reason: "Compiled", message: "All resources compiled and applied" };
  return { phase: "Ready", message, namespaces: namespacesMade, conditions: [...conditions, protection, ready] };
}

function policies(status: NewCondition["status"], reason: keyof typeof ENVIRONMENT_REASONS, message: string): NewCondition {
  return { type: "PoliciesApplied", status, reason, message };
}
