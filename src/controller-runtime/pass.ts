/**
 * One pass of a controller over one object: observe, plan, apply, perform, status. The reconciler has the cache, the queue and the status
 * write.
 */
import { ok, type Result } from "#base";
import type { KubeObject, ObjectKey } from "#kube";
import { NO_CHANGES, outcomeOfChanges, type ChangeSet } from "./apply/change-set.ts";
import { outcomeOfDeletion } from "./apply/deletion.ts";
import type {
  Controller,
  ControllerDeclaration,
  DesiredStatus,
  PassResult,
  Plan,
  PlanError,
  ReadRuntime,
  Runtime,
  Watch,
} from "./controller.ts";
import { failed, REQUEUE, settled, stalled, worstOf, type ReconcileOutcome } from "./outcome.ts";

export type ApplyPlan = (plan: Pick<Plan<never>, "access" | "apply" | "prune" | "deletes">) => Promise<ChangeSet>;

export type ReconcilePass = Pick<PassResult, "outcome" | "changes"> & {
  /** Undefined when nothing was observed: the last status stays. */
  readonly status: DesiredStatus | undefined;
};

/** The runtime of one pass: for `observe`, and for the steps after it. */
export type PassRuntime = { readonly read: ReadRuntime; readonly write: Runtime };

/** How an object is cleaned up before its finalizer is removed; "release": the applied objects are deleted, and nothing else. */
export type CleanUp = "by-plan" | "release" | ((object: KubeObject, runtime: Runtime, apply: ApplyPlan) => Promise<ReconcileOutcome>);

/** A controller whose own types are hidden, together with the state that its passes share: the input of a manager. */
export type BoundController = Omit<ControllerDeclaration, "watches"> & {
  readonly watches: readonly Watch[];
  readonly triggers: ((enqueue: (key: ObjectKey) => void) => () => void) | undefined;
  readonly pass: (object: KubeObject, runtime: PassRuntime, apply: ApplyPlan) => Promise<ReconcilePass>;
  readonly cleanUp: CleanUp;
};

export function bindController<O extends KubeObject, Observed, Command, Shared, Details>(
  controller: Controller<O, Observed, Command, Shared, Details>,
  shared: Shared,
): BoundController {
  const { watches = [], triggers } = controller;
  return {
    ...controller,
    watches: watches.map((one) => ({
      ...one,
      mapTo: (object, context) => one.mapTo(object, { ...context, ...shared }),
    })),
    triggers: triggers === undefined ? undefined : (enqueue) => triggers(enqueue, shared),
    async pass(raw, { read, write }, apply) {
      const object = parsed(controller, raw);
      if (!object.ok) return { outcome: outcomeOfPlanError(object.error), changes: NO_CHANGES, status: undefined };
      return runPass(controller, object.value, { read: { ...read, ...shared }, write: { ...write, ...shared }, apply });
    },
    cleanUp: cleanUpOf(controller, shared),
  };
}

function parsed<O extends KubeObject>(controller: { readonly parse?: (raw: KubeObject) => Result<O, PlanError> }, raw: KubeObject) {
  // without a parser the API server's schema is the validation: the cache for Resource<O> contains nothing else
  return controller.parse === undefined ? ok(raw as O) : controller.parse(raw);
}

function cleanUpOf<O extends KubeObject, Observed, Command, Shared, Details>(
  controller: Controller<O, Observed, Command, Shared, Details>,
  shared: Shared,
): CleanUp {
  const { teardown = "release" } = controller;
  if (typeof teardown === "string") return teardown;
  return async (raw, runtime, apply) => {
    const object = parsed(controller, raw);
    if (!object.ok) return outcomeOfPlanError(object.error);
    const write = { ...runtime, ...shared };
    if (typeof teardown === "function") return teardown(object.value, write);
    const { commands, ...deletes } = teardown;
    const plan = { apply: [], deletes, commands: commands?.(object.value) ?? [] };
    return (await carryOut(controller, plan, { write, apply })).outcome;
  };
}

type WriteContext<Shared> = { readonly write: Runtime & Shared; readonly apply: ApplyPlan };
type PassContext<Shared> = WriteContext<Shared> & { readonly read: ReadRuntime & Shared };

/** A plan with `again` is a first step. The limit ends a pass whose observations change all the time. */
const MAX_ROUNDS = 8;

async function runPass<O extends KubeObject, Observed, Command, Shared, Details>(
  controller: Controller<O, Observed, Command, Shared, Details>,
  object: O,
  context: PassContext<Shared>,
): Promise<ReconcilePass> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const observed = await controller.observe(object, context.read);
    if (!observed.ok) return { outcome: failed(observed.error), changes: NO_CHANGES, status: undefined };
    const plan = controller.plan(object, observed.value);
    const result = plan.ok
      ? await carryOut(controller, plan.value, context)
      : { outcome: outcomeOfPlanError(plan.error), changes: NO_CHANGES, details: undefined };
    if (plan.ok && plan.value.again === true && result.outcome.kind === "settled") continue;
    return { ...result, status: controller.status?.(object, observed.value, result) };
  }
  const message = `the plan was not complete after ${MAX_ROUNDS} rounds`;
  return { outcome: failed({ kind: "incomplete-plan", message }), changes: NO_CHANGES, status: undefined };
}

async function carryOut<O extends KubeObject, Observed, Command, Shared, Details>(
  { name, perform }: Controller<O, Observed, Command, Shared, Details>,
  plan: Plan<Command, Details>,
  { write, apply }: WriteContext<Shared>,
): Promise<PassResult<Details>> {
  const { details } = plan;
  if (plan.deletes !== undefined && plan.apply.length > 0) throw new Error(`controller ${name} plans objects and their deletion`);
  const changes = await apply(plan);
  const deleted = outcomeOfDeletion(changes.deletion, write.clock.now(), plan.deletes?.stuckAfterMs);
  const applied = worstOf([outcomeOfChanges(changes), deleted]);
  if (applied.kind !== "settled" && plan.commandsAnyway !== true) return { outcome: applied, changes, details };
  const outcomes: ReconcileOutcome[] = [applied, plan.outcome ?? settled];
  for (const command of plan.commands) {
    if (perform === undefined) throw new Error(`controller ${name} plans commands and has no perform`);
    const outcome = await perform(command, write);
    outcomes.push(outcome);
    // later commands may depend on this one: they run after a wait, and not after a failure
    if (outcome.kind === "failed" || outcome.kind === "stalled") break;
  }
  return { outcome: worstOf(outcomes), changes, details };
}

function outcomeOfPlanError(error: PlanError): ReconcileOutcome {
  return error.kind === "invalid-spec"
    ? stalled(error.reason ?? "InvalidSpec", error.message, REQUEUE.invalidSpecMs)
    : stalled(error.reason ?? "CompileError", error.message, REQUEUE.compileErrorMs);
}
