/**
 * One pass of a controller over one object: observe, plan, apply, perform, status. No cache, no queue, no status write: those
 * are the reconciler's.
 */
import type { KubeObject } from "#kube";
import { NO_CHANGES, outcomeOfChanges, type ChangeSet } from "./apply/change-set.ts";
import type { Controller, ControllerDeclaration, DesiredStatus, PassResult, Plan, PlanError, Runtime } from "./controller.ts";
import { failed, REQUEUE, settled, stalled, worstOf, type ReconcileOutcome } from "./outcome.ts";

export type ApplyPlan = (plan: Pick<Plan<never>, "access" | "apply" | "prune">) => Promise<ChangeSet>;

export type ReconcilePass = PassResult & {
  /** Undefined when nothing was observed: the last status stays. */
  readonly status: DesiredStatus | undefined;
};

/** A controller whose own types are hidden, together with its context: what a manager runs. */
export type BoundController = ControllerDeclaration & {
  readonly pass: (object: KubeObject, runtime: Runtime, apply: ApplyPlan) => Promise<ReconcilePass>;
  readonly cleanUp: ((object: KubeObject, runtime: Runtime) => Promise<ReconcileOutcome>) | undefined;
};

/** `contextOf` makes a controller's Context out of what the runner gives it: `(runtime) => ({ ...runtime, link })`. */
export function bindController<O extends KubeObject, Observed, Command, Context>(
  controller: Controller<O, Observed, Command, Context>,
  contextOf: (runtime: Runtime) => Context,
): BoundController {
  const { teardown } = controller;
  return {
    ...controller,
    async pass(raw, runtime, apply) {
      const object = parsed(controller, raw);
      if (!object.ok) return { outcome: outcomeOfPlanError(object.error), changes: NO_CHANGES, status: undefined };
      return runPass(controller, object.value, contextOf(runtime), apply);
    },
    cleanUp: teardown === undefined ? undefined : (raw, runtime) => cleanUp(controller, teardown, raw, contextOf(runtime)),
  };
}

function parsed<O extends KubeObject, Observed, Command, Context>(controller: Controller<O, Observed, Command, Context>, raw: KubeObject) {
  // without a parser the API server's schema is the parser: the cache for Resource<O> holds nothing else
  return controller.parse === undefined ? ({ ok: true, value: raw as O } as const) : controller.parse(raw);
}

async function cleanUp<O extends KubeObject, Observed, Command, Context>(
  controller: Controller<O, Observed, Command, Context>,
  teardown: NonNullable<Controller<O, Observed, Command, Context>["teardown"]>,
  raw: KubeObject,
  context: Context,
): Promise<ReconcileOutcome> {
  const object = parsed(controller, raw);
  return object.ok ? teardown(object.value, context) : outcomeOfPlanError(object.error);
}

async function runPass<O extends KubeObject, Observed, Command, Context>(
  controller: Controller<O, Observed, Command, Context>,
  object: O,
  context: Context,
  apply: ApplyPlan,
): Promise<ReconcilePass> {
  const observed = await controller.observe(object, context);
  if (!observed.ok) return { outcome: failed(observed.error), changes: NO_CHANGES, status: undefined };
  const result = await carryOut(controller, { object, observed: observed.value }, context, apply);
  return { ...result, status: controller.status(object, observed.value, result) };
}

async function carryOut<O extends KubeObject, Observed, Command, Context>(
  controller: Controller<O, Observed, Command, Context>,
  seen: { readonly object: O; readonly observed: Observed },
  context: Context,
  apply: ApplyPlan,
): Promise<PassResult> {
  const plan = controller.plan(seen.object, seen.observed);
  if (!plan.ok) return { outcome: outcomeOfPlanError(plan.error), changes: NO_CHANGES };
  const changes = await apply(plan.value);
  const applied = outcomeOfChanges(changes);
  if (applied.kind !== "settled" && plan.value.commandsAnyway !== true) return { outcome: applied, changes };
  const outcomes: ReconcileOutcome[] = [applied, plan.value.outcome ?? settled];
  for (const command of plan.value.commands) {
    const outcome = await controller.perform(command, context);
    outcomes.push(outcome);
    // later commands may build on this one; a wait is no obstacle, a failure is
    if (outcome.kind === "failed" || outcome.kind === "stalled") break;
  }
  return { outcome: worstOf(outcomes), changes };
}

export function outcomeOfPlanError(error: PlanError): ReconcileOutcome {
  return error.kind === "invalid-spec"
    ? stalled(error.reason ?? "InvalidSpec", error.message, REQUEUE.invalidSpecMs)
    : stalled(error.reason ?? "CompileError", error.message, REQUEUE.compileErrorMs);
}
