/**
 * A controller is data: a static declaration of what it reconciles, owns, watches and reads, and functions. Importing one starts
 * nothing; a manager runs it. RBAC and informers follow from the declaration alone.
 *
 * `observe` gets a client that can only read. All changes of the cluster or the process are made by `apply`, `perform` and
 * `teardown`. The types of a controller's observations and commands are hidden by `bindController`, so that a manager can hold many
 * controllers in one list.
 */
import { ok, type Clock, type Logger, type Ok, type Result } from "#base";
import type { KubeObject, NewCondition, ObjectKey, Resource } from "#kube";
import type { KubeClient, KubeReader } from "#kube-client";
import type { ChangeSet } from "./apply/change-set.ts";
import type { AccessPlan, Prune } from "./apply/engine.ts";
import type { DeletionOrder } from "./apply/deletion.ts";
import type { ApplyOrder, PlannedObjects } from "./apply/waves.ts";
import type { CacheReader, Index } from "./cache.ts";
import type { EventNote } from "./events/event.ts";
import type { FailureCause, ReconcileOutcome } from "./outcome.ts";
import type { Need } from "./need.ts";

/** The runtime of `observe`: reads only. */
export type ReadRuntime = {
  readonly cache: CacheReader;
  readonly client: KubeReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Fires when the pass must end: shutdown, lost lease, or its own time limit. */
  readonly signal: AbortSignal;
};

/** The runtime of `perform` and `teardown`. */
export type Runtime = Omit<ReadRuntime, "client"> & {
  /** Refuses writes once this process no longer leads. */
  readonly client: KubeClient;
  /** Records an event about an object. */
  readonly record: (note: EventNote) => void;
};

export type Plan<Command, Details = undefined> = {
  /**
   * Access objects: policies and routes. They are applied before `apply`, object by object, and independently of it: a revocation
   * must not wait for a workload.
   */
  readonly access?: AccessPlan;
  /**
   * A list is sorted into waves by kind; a list of lists is already waves. Objects that this owner applied before and that are missing here
   * are pruned, but an empty `apply` prunes nothing: a plan without knowledge must not delete everything.
   */
  readonly apply: PlannedObjects;
  /** true: prune even if `apply` is empty. false: never prune in this pass. Kinds: only those. */
  readonly prune?: Prune;
  /**
   * Deletes all objects that this owner applied, wave by wave; `apply` must be empty. The pass waits, and performs no command, until all of
   * them are gone.
   */
  readonly deletes?: DeletionOrder;
  /** Performed one after the other once everything was applied. Each must be safe to repeat: every pass performs them again. */
  readonly commands: readonly Command[];
  /** The commands are performed even if an object was not applied: they do not depend on it. */
  readonly commandsAnyway?: boolean;
  /** The outcome of the pass when all of it succeeded; settled when absent. */
  readonly outcome?: ReconcileOutcome;
  /** A first step: once all of it succeeded the object is observed and planned again, in the same pass. */
  readonly again?: true;
  /** For `status`: the input of the plan, such as the result of a compiler. */
  readonly details?: Details;
};

/** `reason` is used in the Ready condition, `message` states what to change. */
export type PlanError = { readonly kind: "invalid-spec" | "compile-error"; readonly reason?: string; readonly message: string };

/** Nothing to apply, to prune or to perform. */
export const nothing: Ok<Plan<never>> = ok({ apply: [], commands: [] });

/**
 * Fields with a value are written, fields that are `undefined` are removed, others stay. Conditions are merged by type, and
 * the runner adds Ready from the outcome unless the controller sets its own.
 */
export type DesiredStatus = { readonly [field: string]: unknown; readonly conditions?: readonly NewCondition[] };

export type PassResult<Details = undefined> = {
  readonly outcome: ReconcileOutcome;
  readonly changes: ChangeSet;
  /** Of the plan; undefined when there was none. */
  readonly details: Details | undefined;
};

/** What a watch may read to find the keys that a change affects. */
export type WatchContext = { readonly cache: CacheReader };

export type Watch<Shared = unknown> = {
  readonly resource: Resource;
  /** A change of nothing but the status is ignored, as for the kind that is reconciled. */
  readonly ignoresStatus?: boolean | undefined;
  /** The objects that must be reconciled when this one changes. Method syntax: `watch` ties the parameter to the resource. */
  mapTo(object: KubeObject, context: WatchContext & Shared): readonly ObjectKey[];
};

export function watch<T extends KubeObject, Shared = unknown>(
  resource: Resource<T>,
  mapTo: (object: T, context: WatchContext & Shared) => readonly ObjectKey[],
  options: Pick<Watch, "ignoresStatus"> = {},
): Watch<Shared> {
  const typed: Omit<Watch, "mapTo"> & { mapTo(object: T, context: WatchContext & Shared): readonly ObjectKey[] } = {
    ...options,
    resource,
    mapTo,
  };
  return typed;
}

/** The kinds that a controller reads and writes, as a static value: the complete input for informers and RBAC. */
export type ControllerDeclaration = {
  /** Lower case, at most 40 characters: part of a label value on every applied object. */
  readonly name: string;
  readonly reconciles: Resource;
  /** The objects of the kind that are reconciled; absent: all. For kinds of which a cluster has many that do not concern the controller. */
  readonly selects?: (object: KubeObject) => boolean;
  /** Kinds it applies and prunes. A kind that a newer version no longer applies stays here for one release, so that it is pruned. */
  readonly owns?: readonly Resource[];
  /**
   * The access kinds among them (policies, routes). Only their metadata and status may have fields of other clients; when the owner is
   * deleted they are deleted first.
   */
  readonly access?: readonly Resource[];
  /** Kinds whose changes trigger passes. */
  readonly watches?: readonly { readonly resource: Resource }[];
  /** Kinds it only reads from the cache. */
  readonly reads?: readonly Resource[];
  /** Kinds of the lists above that a cluster may lack, see `cache.isServed`. All others are waited for before anything starts. */
  readonly optional?: readonly Resource[];
  readonly indexes?: readonly Index[];
  /** Condition types whose changes are recorded as events, beside Ready. */
  readonly announces?: readonly string[];
  /** false: no status is written, because the kind belongs to another product. */
  readonly writesStatus?: false;
  /** Permissions that its observations, commands and teardown need in addition. */
  readonly permissions?: readonly Need[];
  /** Set by default if there is a `teardown`, or if objects have no owner references. */
  readonly finalizer?: string;
  readonly order?: ApplyOrder;
  /**
   * "none": applied objects get no owner reference. The label alone is the inventory, and a teardown deletes the objects. For objects that
   * are moved to other clusters, where the owner is absent and a garbage collector would delete them.
   */
  readonly ownerReferences?: "none";
  /** Present: it reconciles one object at most, which has all objects of the controller, also those that an earlier version has applied for another one. */
  readonly oneOwner?: true;
  /** false: fields that another manager owns are reported instead of overwritten. */
  readonly force?: boolean;
};

/** `Shared`: state that all passes of the controller use, such as a model of the cluster. Passed to `bindController`. */
export type Controller<O extends KubeObject, Observed, Command, Shared = unknown, Details = undefined> = Omit<
  ControllerDeclaration,
  "reconciles" | "watches"
> & {
  readonly reconciles: Resource<O>;
  readonly watches?: readonly Watch<Shared>[];
  /** Other sources of keys, beside changes in informers. The returned function ends the subscription. */
  readonly triggers?: (enqueue: (key: ObjectKey) => void, shared: Shared) => () => void;
  /** For kinds whose schema is looser than the type; the error's message is written into the status. */
  readonly parse?: (raw: KubeObject) => Result<O, PlanError>;
  /** Reads, and changes nothing. */
  readonly observe: (object: O, context: ReadRuntime & Shared) => Promise<Result<Observed, FailureCause>>;
  /** Pure. */
  readonly plan: (object: O, observed: Observed) => Result<Plan<Command, Details>, PlanError>;
  /** Absent: `plan` has no commands. */
  readonly perform?: (command: Command, context: Runtime & Shared) => Promise<ReconcileOutcome>;
  /** Pure. Not called when `observe` failed: the last status stays and Ready has the reason. Absent: the status is only Ready. */
  readonly status?: (object: O, observed: Observed, result: PassResult<Details>) => DesiredStatus;
  /**
   * Runs when the object is deleted. Settled removes the finalizer; any other outcome keeps it. Repeated on every pass until then.
   * "by-plan": `plan` cleans up, and its outcome decides. An order: the applied objects are deleted wave by wave, then commands are performed.
   * Absent with a finalizer: the applied objects are deleted, and nothing else.
   */
  readonly teardown?: "by-plan" | OrderedTeardown<O, Command> | ((object: O, context: Runtime & Shared) => Promise<ReconcileOutcome>);
};

/** Clean-up as data. `commands`: performed once all objects are gone, such as the deletion of a namespace, which is never pruned. Pure. */
export type OrderedTeardown<O extends KubeObject, Command> = DeletionOrder & { readonly commands?: (object: O) => readonly Command[] };

export function defineController<O extends KubeObject, Observed, Command, Shared = unknown, Details = undefined>(
  controller: Controller<O, Observed, Command, Shared, Details>,
): Controller<O, Observed, Command, Shared, Details> {
  if (!/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(controller.name)) {
    throw new Error(`controller name "${controller.name}": must be lower case, begin with a letter, and have at most 40 characters`);
  }
  // without owner references no garbage collector deletes the objects: a finalizer must
  const cleansUp = controller.teardown !== undefined || controller.ownerReferences === "none";
  if (!cleansUp || controller.finalizer !== undefined) return controller;
  return { ...controller, finalizer: `lattice.dev/${controller.name}` };
}
