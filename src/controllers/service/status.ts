/** The status of a LatticeService, from what a pass saw and did. Pure. */
import type { ChangeSet, DesiredStatus, Outcome, PassResult } from "#controller-runtime";
import type { LatticeService, LatticeServiceStatus } from "#crds";
import { describeObject, type NewCondition } from "#kube";
import { acceptedCondition, implementedCondition } from "../acceptance/conditions.ts";
import { CONDITION_TYPES, configCompiled, notCompiled, notReady, ready, templatesResolved, unknown } from "./conditions.ts";
import { missingProblem } from "../namespace/protection.ts";
import { closedDependencies, dependenciesOpen } from "./dependencies.ts";
import { listErrors } from "./error-text.ts";
import { policiesCondition } from "./access.ts";
import { describeLeft } from "./owned-objects.ts";
import type { Compiled, Observed, PatchMode } from "./observe.ts";
import { rolloutOf, workloadsReady, type Rollout } from "./rollout.ts";

type Phase = NonNullable<LatticeServiceStatus["phase"]>;
type Said = {
  readonly phase: Phase;
  readonly message: string;
  readonly conditions: readonly NewCondition[];
  readonly [field: string]: unknown;
};

export function statusOf(service: LatticeService, observed: Observed, result: PassResult): DesiredStatus {
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
function say(service: LatticeService, observed: Observed, result: PassResult): Said {
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
      const message = listErrors(observed.errors);
      const running = observed.deployment === undefined ? [] : [workloadsReady(rolloutOf(observed.deployment))];
      const applied = policiesCondition(observed.access, result.changes);
      const conditions = [...notCompiled(observed.errors), ...running, ...applied, notReady("CompileError", message)];
      return { phase: "Failed", message, conditions };
    }
    case "compiled":
      return sayCompiled(service, observed, result);
  }
}

/** What was true of the service as it was compiled before is not known any more; what still runs is. */
function sayPatchMode({ status }: LatticeService, { workload, left, deployment, access }: PatchMode, { changes }: PassResult): Said {
  const { name, namespace } = workload;
  const message = `patch mode is not built yet: Deployment ${namespace}/${name} is left as it is${describeLeft(left)}`;
  const running = deployment === undefined ? [] : [workloadsReady(rolloutOf(deployment))];
  const applied = policiesCondition(access, changes);
  const stated = [...running, ...applied, notReady("PatchModeNotBuilt", message)];
  const stale = CONDITION_TYPES.filter(
    (type) => type !== "DependenciesOpen" && !knows(stated, type) && knows(status?.conditions ?? [], type),
  );
  const conditions = [...stated, ...stale.map((type) => unknown(type, "PatchModeNotBuilt", "Not looked at while spec.workloadRef is set"))];
  return { phase: "Pending", message, workloadRef: { resolved: false, name, namespace }, resolvedDependencies: undefined, conditions };
}

function sayCompiled(service: LatticeService, observed: Compiled, { outcome, changes }: PassResult): Said {
  const { application, compiledAt } = observed;
  const objects = application.objects.map(({ object }) => object);
  const rollout = rolloutNow(observed, changes);
  const dependencies = application.resolvedDependencies;
  return {
    ...verdict(service, observed, { outcome, changes, rollout }),
    compiledAt,
    resolvedDependencies: dependencies.size === 0 ? undefined : Object.fromEntries(dependencies),
    workloadRef: undefined,
    conditions: [
      templatesResolved(application.resolved),
      configCompiled(objects),
      workloadsReady(rollout),
      ...policiesCondition(observed.access, changes),
      ...readyOf(observed, outcome, rollout),
    ],
  };
}

/** The Deployment was seen before this pass changed it. */
function rolloutNow({ deployment, application }: Compiled, { created, configured }: ChangeSet): Rollout {
  const own = application.objects.find(({ object }) => object.kind === "Deployment");
  const name = own === undefined ? "" : describeObject(own.object);
  if (![...created, ...configured].includes(name)) return rolloutOf(deployment);
  return { done: false, stuck: false, reason: "RollingOut", message: "the Deployment was applied just now" };
}

function readyOf({ access: { missing } }: Compiled, outcome: Outcome, rollout: Rollout): readonly NewCondition[] {
  if (outcome.kind === "failed") return [];
  if (rollout.stuck) return [notReady("ProgressDeadlineExceeded", rollout.message)];
  const waited = missingProblem(missing);
  return [waited === undefined ? ready() : notReady("CRDsMissing", waited)];
}

/** What the API server refused will be refused again until somebody acts; what it could not be asked for is only late. */
const REFUSED = new Set(["rejected", "not-ours", "undeclared"]);

function verdict(
  service: LatticeService,
  { access: { missing } }: Compiled,
  { outcome, changes, rollout }: PassResult & { readonly rollout: Rollout },
): { readonly phase: Phase; readonly message: string } {
  if (outcome.kind === "failed") {
    const refused = changes.failed.some(({ kind }) => REFUSED.has(kind));
    return { phase: refused ? "Failed" : (service.status?.phase ?? "Compiling"), message: outcome.cause.message };
  }
  if (rollout.stuck) return { phase: "Failed", message: rollout.message };
  const waited = missingProblem(missing);
  if (waited !== undefined) return { phase: "Pending", message: waited };
  return { phase: "Ready", message: rollout.message };
}
