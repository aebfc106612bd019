/** The status of a LatticeService, from the observations and results of a pass. Pure. */
import type { ChangeSet, DesiredStatus, PassResult } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { describeObject, type NewCondition } from "#kube";
import { ignoredFields } from "#service-compiler";
import { acceptedCondition, implementedCondition } from "../acceptance/conditions.ts";
import {
  CONDITION_TYPES,
  configCompiled,
  NEW_SERVICE,
  noIdentity,
  notCompiled,
  notJudged,
  notPatching,
  notReady,
  templatesResolved,
  unknown,
  workloadReason,
} from "./conditions.ts";
import { closedDependencies, dependenciesOpen } from "./dependencies.ts";
import { listErrors, waitingText } from "./error-text.ts";
import { policiesCondition } from "./access.ts";
import { fieldsUsed, patchProgress, workloadPatched } from "./patch-progress.ts";
import type { CompiledState, NotCompiled, ServiceState } from "./state.ts";
import { readinessOf, readyCondition, type Phase } from "./readiness.ts";
import { rolloutOf, workloadsReady, type ServiceRollout, type ServiceWorkload } from "./rollout.ts";

/** How a pass ended. */
export type PassEnd = Pick<PassResult, "outcome" | "changes">;

type StatusDraft = {
  readonly phase: Phase;
  readonly message: string;
  readonly conditions: readonly NewCondition[];
  readonly [field: string]: unknown;
};

export function statusOf(service: LatticeService, state: ServiceState, result: PassEnd): DesiredStatus {
  const draft = draftOf(service, state, result);
  const accepted = acceptedCondition(state.kind === "invalid" ? state.errors : []);
  const dependencies = dependenciesOpen(state.dependencies);
  const built = implementedCondition([], service.status?.conditions);
  const stated = [accepted, ...built, ...draft.conditions, ...patchConditions(service, state), dependencies];
  const silent = CONDITION_TYPES.filter(
    (type) => type !== "Ready" && !knows(stated, type) && !knows(service.status?.conditions ?? [], type),
  );
  const mode = service.spec.workloadRef === undefined ? "Ownership" : "Patch";
  const closed = closedDependencies(state.dependencies);
  return {
    ...draft,
    mode,
    workloadRef: workloadRefOf(service, state),
    closedDependencies: closed,
    conditions: [...stated, ...silent.map((type) => unknown(type))],
  };
}

/** Undefined: the service is not in patch mode, and the field is removed. */
function workloadRefOf({ spec: { workloadRef } }: LatticeService, state: ServiceState) {
  if (workloadRef === undefined) return undefined;
  const { name, namespace } = workloadRef;
  return { resolved: state.standing?.resolved === true, name, namespace };
}

/** Conditions of patch mode. They stay after a change of the mode, and then report that. */
function patchConditions({ spec, status }: LatticeService, state: ServiceState): readonly NewCondition[] {
  const known = (type: string) => knows(status?.conditions ?? [], type);
  if (spec.workloadRef === undefined) {
    return [...(known("WorkloadPatched") ? formerPatch(state) : []), ...fieldsUsed([], known("FieldsUsed"))];
  }
  const ignored = fieldsUsed(ignoredFields(spec), known("FieldsUsed"));
  if (state.kind === "not-compiled" && known("WorkloadPatched")) return [...noLongerPatching(state), ...ignored];
  if (state.kind !== "compiled" || state.patch === undefined) return ignored;
  return [workloadPatched(patchProgress(state.patch), state.patch, state.workload.available), ...ignored];
}

/** A service that may not patch the Deployment any more; one with other errors keeps its patch, and the condition as it was. */
function noLongerPatching({ standing, errors }: NotCompiled): readonly NewCondition[] {
  if (standing === undefined || standing.patches) return [];
  return [notPatching(workloadReason(errors) ?? "WorkloadNotAllowed", listErrors(errors))];
}

/** In any state: the changes are taken off by another controller, also while the service has errors. */
function formerPatch({ standing }: ServiceState): readonly NewCondition[] {
  if (standing === undefined) return [];
  return standing.left === undefined
    ? [notPatching("OwnershipMode", "Lattice makes and owns the Deployment")]
    : [notPatching("Detaching", `the changes of Deployment ${standing.left} are taken off`)];
}

function knows(conditions: readonly Pick<NewCondition, "type">[], type: string): boolean {
  return conditions.some((condition) => condition.type === type);
}

/** A pass that could not be finished leaves Ready to the runtime, which reports the error and the retry. */
function draftOf(service: LatticeService, state: ServiceState, result: PassEnd): StatusDraft {
  switch (state.kind) {
    case "invalid": {
      const { message } = acceptedCondition(state.errors);
      return { phase: "Failed", message, conditions: policiesCondition(state.access, result.changes) };
    }
    case "unread":
    case "no-hash-key":
      return {
        phase: service.status?.phase ?? "Compiling",
        message: state.kind === "unread" ? state.cause.message : failureIn(result),
        conditions: policiesCondition(state.access, result.changes),
      };
    case "detaching":
      return {
        phase: "Pending",
        message: state.message,
        conditions: [...policiesCondition(state.access, result.changes), notReady("Detaching", state.message)],
      };
    case "waiting":
      return {
        phase: "Pending",
        message: state.message,
        conditions: [...policiesCondition(state.access, result.changes), notReady(state.reason, state.message)],
      };
    case "not-compiled": {
      if (state.graceMs > 0) {
        const conditions = [...notJudged(), ...policiesCondition(state.access, result.changes)];
        return { phase: "Compiling", message: NEW_SERVICE, conditions };
      }
      const waiting = waitingText(state.errors);
      const running = runningBefore(state.workload);
      const isShared = state.errors.some(({ kind }) => kind === "shared-service-account");
      const applied = isShared ? [noIdentity(state.errors)] : policiesCondition(state.access, result.changes);
      const conditions = [...notCompiled(state.errors), ...running, ...applied];
      return { phase: waiting === undefined ? "Failed" : "Pending", message: waiting ?? listErrors(state.errors), conditions };
    }
    case "compiled":
      return draftOfCompiled(service, state, result);
  }
}

function failureIn({ outcome }: PassEnd): string {
  return outcome.kind === "failed" ? outcome.cause.message : "";
}

function runningBefore(workload: ServiceWorkload): readonly NewCondition[] {
  return workload.deployment === undefined ? [] : [workloadsReady(rolloutOf(workload))];
}

function draftOfCompiled(service: LatticeService, state: CompiledState, { outcome, changes }: PassEnd): StatusDraft {
  const { application, compiledAt, access } = state;
  const objects = application.objects.map(({ object }) => object);
  const rollout = rolloutNow(state, changes);
  const readiness = readinessOf(access.missing, rollout, state.patch === undefined ? undefined : patchProgress(state.patch));
  const dependencies = application.resolvedDependencies;
  const { phase, message } = outcome.kind === "failed" ? failedPass(service, outcome.cause.message, changes) : readiness;
  return {
    phase,
    message,
    compiledAt,
    resolvedDependencies: dependencies.size === 0 ? undefined : Object.fromEntries(dependencies),
    conditions: [
      templatesResolved(application.resolved),
      configCompiled(objects, state.retained),
      workloadsReady(rollout),
      ...policiesCondition(access, changes),
      ...(outcome.kind === "failed" ? [] : [readyCondition(readiness)]),
    ],
  };
}

/** The Deployment was observed before this pass changed it. A new one has no pods; a changed one keeps its pods. */
function rolloutNow({ workload, application }: CompiledState, { created, configured }: ChangeSet): ServiceRollout {
  const own = application.objects.find(({ object }) => object.kind === "Deployment");
  const name = own === undefined ? "" : describeObject(own.object);
  const isNew = created.includes(name);
  if (!isNew && !configured.includes(name)) return rolloutOf(workload);
  const available = !isNew && workload.available;
  return { done: false, stuck: false, available, reason: "RollingOut", message: "the Deployment was applied just now" };
}

/** A request that the API server rejected is rejected again until a user acts; one without a response is retried. */
const REFUSED = new Set(["rejected", "not-ours", "undeclared"]);

function failedPass({ status }: LatticeService, message: string, changes: ChangeSet): { readonly phase: Phase; readonly message: string } {
  const refused = changes.failed.some(({ kind }) => REFUSED.has(kind));
  return { phase: refused ? "Failed" : (status?.phase ?? "Compiling"), message };
}
