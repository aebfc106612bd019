/** The status of a LatticeService, from what a pass saw and did. Pure. */
import type { ChangeSet, DesiredStatus, PassResult } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { describeObject, type NewCondition } from "#kube";
import { acceptedCondition, implementedCondition } from "../acceptance/conditions.ts";
import {
  CONDITION_TYPES,
  configCompiled,
  NEW_SERVICE,
  notCompiled,
  notJudged,
  notReady,
  templatesResolved,
  unknown,
} from "./conditions.ts";
import { closedDependencies, dependenciesOpen } from "./dependencies.ts";
import { listErrors, waitingText } from "./error-text.ts";
import { policiesCondition } from "./access.ts";
import { describeLeft } from "./owned-objects.ts";
import type { CompiledState, ServiceState, PatchMode } from "./observe.ts";
import { readinessOf, readyCondition, type Phase } from "./readiness.ts";
import { rolloutOf, workloadsReady, type ServiceRollout, type ServiceWorkload } from "./rollout.ts";

type StatusDraft = {
  readonly phase: Phase;
  readonly message: string;
  readonly conditions: readonly NewCondition[];
  readonly [field: string]: unknown;
};

export function statusOf(service: LatticeService, observed: ServiceState, result: PassResult): DesiredStatus {
  const said = say(service, observed, result);
  const accepted = acceptedCondition(observed.kind === "invalid" ? observed.errors : []);
  const unbuilt = observed.kind === "patch-mode" ? ["spec.workloadRef"] : [];
  const dependencies = dependenciesOpen(observed.dependencies);
  const stated = [accepted, ...implementedCondition(unbuilt, service.status?.conditions), ...said.conditions, dependencies];
  const silent = CONDITION_TYPES.filter(
    (type) => type !== "Ready" && !knows(stated, type) && !knows(service.status?.conditions ?? [], type),
  );
  const mode = observed.kind === "patch-mode" ? "Patch" : "Ownership";
  const closed = closedDependencies(observed.dependencies);
  return { ...said, mode, closedDependencies: closed, conditions: [...stated, ...silent.map((type) => unknown(type))] };
}

function knows(conditions: readonly Pick<NewCondition, "type">[], type: string): boolean {
  return conditions.some((condition) => condition.type === type);
}

/** A pass that could not be finished leaves Ready to the runtime, which says why and that it is tried again. */
function say(service: LatticeService, observed: ServiceState, result: PassResult): StatusDraft {
  switch (observed.kind) {
    case "invalid": {
      const { message } = acceptedCondition(observed.errors);
      return { phase: "Failed", message, conditions: policiesCondition(observed.access, result.changes) };
    }
    case "unread":
      return {
        phase: service.status?.phase ?? "Compiling",
        message: observed.cause.message,
        conditions: policiesCondition(observed.access, result.changes),
      };
    case "patch-mode":
      return sayPatchMode(service, observed, result);
    case "waiting":
      return {
        phase: "Pending",
        message: observed.message,
        conditions: [...policiesCondition(observed.access, result.changes), notReady(observed.reason, observed.message)],
      };
    case "not-compiled": {
      if (observed.graceMs > 0) {
        const conditions = [...notJudged(), ...policiesCondition(observed.access, result.changes)];
        return { phase: "Compiling", message: NEW_SERVICE, conditions };
      }
      const waiting = waitingText(observed.errors);
      const running = runningBefore(observed.workload);
      const applied = policiesCondition(observed.access, result.changes);
      const conditions = [...notCompiled(observed.errors), ...running, ...applied];
      return { phase: waiting === undefined ? "Failed" : "Pending", message: waiting ?? listErrors(observed.errors), conditions };
    }
    case "compiled":
      return sayCompiled(service, observed, result);
  }
}

function runningBefore(workload: ServiceWorkload): readonly NewCondition[] {
  return workload.deployment === undefined ? [] : [workloadsReady(rolloutOf(workload))];
}

/** What was true of the service as it was compiled before is not known any more; what still runs is. */
function sayPatchMode({ status }: LatticeService, { target, left, workload, access }: PatchMode, { changes }: PassResult): StatusDraft {
  const { name, namespace } = target;
  const message = `patch mode is not built yet: Deployment ${namespace}/${name} is left as it is${describeLeft(left)}`;
  const running = runningBefore(workload);
  const applied = policiesCondition(access, changes);
  const stated = [...running, ...applied, notReady("PatchModeNotBuilt", message)];
  const stale = CONDITION_TYPES.filter(
    (type) => type !== "DependenciesOpen" && !knows(stated, type) && knows(status?.conditions ?? [], type),
  );
  const conditions = [...stated, ...stale.map((type) => unknown(type, "PatchModeNotBuilt", "Not looked at while spec.workloadRef is set"))];
  return { phase: "Pending", message, workloadRef: { resolved: false, name, namespace }, resolvedDependencies: undefined, conditions };
}

function sayCompiled(service: LatticeService, observed: CompiledState, { outcome, changes }: PassResult): StatusDraft {
  const { application, compiledAt, access } = observed;
  const objects = application.objects.map(({ object }) => object);
  const rollout = rolloutNow(observed, changes);
  const readiness = readinessOf(access.missing, rollout);
  const dependencies = application.resolvedDependencies;
  const { phase, message } = outcome.kind === "failed" ? failedPass(service, outcome.cause.message, changes) : readiness;
  return {
    phase,
    message,
    compiledAt,
    resolvedDependencies: dependencies.size === 0 ? undefined : Object.fromEntries(dependencies),
    workloadRef: undefined,
    conditions: [
      templatesResolved(application.resolved),
      configCompiled(objects, observed.retained),
      workloadsReady(rollout),
      ...policiesCondition(access, changes),
      ...(outcome.kind === "failed" ? [] : [readyCondition(readiness)]),
    ],
  };
}

/** The Deployment was seen before this pass changed it. A new one has no pods; one that was changed keeps those that it has. */
function rolloutNow({ workload, application }: CompiledState, { created, configured }: ChangeSet): ServiceRollout {
  const own = application.objects.find(({ object }) => object.kind === "Deployment");
  const name = own === undefined ? "" : describeObject(own.object);
  const isNew = created.includes(name);
  if (!isNew && !configured.includes(name)) return rolloutOf(workload);
  const available = !isNew && workload.available;
  return { done: false, stuck: false, available, reason: "RollingOut", message: "the Deployment was applied just now" };
}

/** What the API server refused is refused again until a person acts; a request that it did not answer is only late. */
const REFUSED = new Set(["rejected", "not-ours", "undeclared"]);

function failedPass({ status }: LatticeService, message: string, changes: ChangeSet): { readonly phase: Phase; readonly message: string } {
  const refused = changes.failed.some(({ kind }) => REFUSED.has(kind));
  return { phase: refused ? "Failed" : (status?.phase ?? "Compiling"), message };
}
