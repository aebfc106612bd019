/**
 * A controller is data: what it reconciles, owns and watches, and five functions. Importing one starts nothing; a manager runs it.
 *
 * The types of what is observed and commanded are hidden by `bindController`, so that a manager can hold many controllers in
 * one list.
 */
import { ok, type Clock, type Logger, type Ok, type Result } from "#base";
import type { KubeObject, NewCondition, ObjectKey, Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import type { ChangeSet } from "./apply/change-set.ts";
import type { AccessPlan, Prune } from "./apply/engine.ts";
import type { ApplyOrder, PlannedObjects } from "./apply/waves.ts";
import type { CacheReader } from "./cache.ts";
import type { EventNote } from "./events/event.ts";
import type { FailureCause, ReconcileOutcome } from "./outcome.ts";
import type { Need } from "./rbac.ts";

/** What the runner gives every pass. A controller's own Context usually adds to it. */
export type Runtime = {
  readonly cache: CacheReader;
  /** Refuses writes once this process no longer leads. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An event about an object. */
  readonly record: (note: EventNote) => void;
  /** Fires when the pass must end: shutdown, lost lease, or its own time limit. */
  readonly signal: AbortSignal;
};

export type Plan<Command> = {
  /**
   * What decides who reaches whom. It is carried out before `apply`, object by object, and whatever becomes of the rest: a revocation
   * must not wait for a workload.
   */
  readonly access?: AccessPlan;
  /**
   * A list is sorted into waves by kind; a list of lists is waves already. What this owner applied before and is missing here
   * is pruned, but an empty `apply` prunes nothing: "I have nothing to say now" must never read as "delete everything".
   */
  readonly apply: PlannedObjects;
  /** true: prune even though `apply` is empty. false: never prune in this pass. Kinds: only those, and nothing of others. */
  readonly prune?: Prune;
  /** Performed one after the other once everything was applied. Each must be safe to repeat: every pass sends them again. */
  readonly commands: readonly Command[];
  /** The commands are performed although something was not applied: they close, and do not build on it. */
  readonly commandsAnyway?: boolean;
  /** How the pass ends when all of it went well; settled when absent. */
  readonly outcome?: ReconcileOutcome;
};

/** `reason` goes into the Ready condition, `message` says what to change. */
export type PlanError = { readonly kind: "invalid-spec" | "compile-error"; readonly reason?: string; readonly message: string };

/** Nothing to apply, nothing to prune, nothing to do. */
export const nothing: Ok<Plan<never>> = ok({ apply: [], commands: [] });

/**
 * Fields named here are written, fields named with `undefined` are removed, others stay. Conditions are merged by type, and
 * the runner adds Ready from the outcome unless the controller states its own.
 */
export type DesiredStatus = { readonly [field: string]: unknown; readonly conditions?: readonly NewCondition[] };

export type PassResult = { readonly outcome: ReconcileOutcome; readonly changes: ChangeSet };

export type Watch = {
  readonly resource: Resource;
  /** Which objects must be looked at again when this one changes. Method syntax: `watch` ties the parameter to the resource. */
  mapTo(object: KubeObject, cache: CacheReader): readonly ObjectKey[];
};

export function watch<T extends KubeObject>(resource: Resource<T>, mapTo: (object: T, cache: CacheReader) => readonly ObjectKey[]): Watch {
  const typed: { readonly resource: Resource; mapTo(object: T, cache: CacheReader): readonly ObjectKey[] } = { resource, mapTo };
  return typed;
}

/** A way to find cached objects: `cache.byIndex(resource, name, value)`. Names are shared by all controllers of a manager. */
export type Index = { readonly resource: Resource; readonly name: string; keysOf(object: KubeObject): readonly string[] };

export function index<T extends KubeObject>(resource: Resource<T>, name: string, keysOf: (object: T) => readonly string[]): Index {
  const typed: { readonly resource: Resource; readonly name: string; keysOf(object: T): readonly string[] } = { resource, name, keysOf };
  return typed;
}

/** What a controller touches: all that informers and RBAC need to know of it. */
export type ControllerDeclaration = {
  /** Lower case, at most 40 characters: part of a label value on everything it applies. */
  readonly name: string;
  readonly reconciles: Resource;
  /** Kinds it applies and prunes. A kind that a newer version no longer makes stays here for one release, so that it is pruned. */
  readonly owns?: readonly Resource[];
  /**
   * Those of them that decide who reaches whom. Nothing in them but metadata and status is another client's; when the owner goes they are
   * deleted first.
   */
  readonly access?: readonly Resource[];
  readonly watches?: readonly Watch[];
  /** Kinds it only looks up in the cache. */
  readonly reads?: readonly Resource[];
  /** Those of the kinds above that a cluster may lack; `cache.isServed` tells. All others are waited for before anything starts. */
  readonly optional?: readonly Resource[];
  readonly indexes?: readonly Index[];
  /** What else brings objects back, beside changes that informers tell of. The returned function ends it. */
  readonly triggers?: (enqueue: (key: ObjectKey) => void) => () => void;
  /** Types of conditions whose changes are events, beside Ready. */
  readonly announces?: readonly string[];
  /** false: nothing is written into the status of what it reconciles, because that is not a kind of ours. */
  readonly writesStatus?: false;
  /** What its commands and clean-up need beyond that. */
  readonly permissions?: readonly Need[];
  /** Given by default when there is a `teardown`. */
  readonly finalizer?: string;
  readonly order?: ApplyOrder;
  /** false: fields that another manager owns are reported instead of taken. */
  readonly force?: boolean;
};

export type Controller<O extends KubeObject, Observed, Command, Context> = ControllerDeclaration & {
  readonly reconciles: Resource<O>;
  /** For kinds whose schema is looser than the type; the error's message reaches the status. */
  readonly parse?: (raw: KubeObject) => Result<O, PlanError>;
  readonly observe: (object: O, context: Context) => Promise<Result<Observed, FailureCause>>;
  /** Pure. */
  readonly plan: (object: O, observed: Observed) => Result<Plan<Command>, PlanError>;
  readonly perform: (command: Command, context: Context) => Promise<ReconcileOutcome>;
  /** Pure. Not called when `observe` failed: the last status stays and Ready says why. */
  readonly status: (object: O, observed: Observed, result: PassResult) => DesiredStatus;
  /** Settled lets the object go; anything else keeps the finalizer. Sent again on every pass until then. */
  readonly teardown?: (object: O, context: Context) => Promise<ReconcileOutcome>;
};

export function defineController<O extends KubeObject, Observed, Command, Context>(
  controller: Controller<O, Observed, Command, Context>,
): Controller<O, Observed, Command, Context> {
  if (!/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(controller.name)) throw new Error(`"${controller.name}" is no name for a controller`);
  if (controller.teardown === undefined || controller.finalizer !== undefined) return controller;
  return { ...controller, finalizer: `lattice.dev/${controller.name}` };
}
