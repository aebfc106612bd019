/**
 * Reconciles one object of one controller: finalizer, pass or clean-up, then status and event. One instance per controller and term.
 *
 * A finalizer is removed only after its clean-up succeeded. When it fails, the object stays, and its status and an event have the reason.
 */
import { ok, type Clock, type Logger, type Result } from "#base";
import { field, findCondition, isBeingDeleted, type KubeObject, type NewCondition, type ObjectKey } from "#kube";
import type { KubeClient, KubeError, KubeReader } from "#kube-client";
import { outcomeOfChanges } from "./apply/change-set.ts";
import type { ApplyEngine } from "./apply/engine.ts";
import type { CacheReader } from "./cache.ts";
import type { DesiredStatus, Runtime } from "./controller.ts";
import type { EventNote } from "./events/event.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizers.ts";
import { failed, handlingOf, settled, type Handling, type ReconcileOutcome } from "./outcome.ts";
import type { ApplyOwner } from "./identity.ts";
import type { ApplyPlan, BoundController, PassRuntime, ReconcilePass } from "./pass.ts";
import { safeText } from "./safe-text.ts";
import { conditionsOf, writeStatus } from "./status-writer.ts";

export type ReconcilerOptions = {
  readonly controller: BoundController;
  /** Fenced. */
  readonly client: KubeClient;
  readonly cache: CacheReader;
  readonly engine: ApplyEngine;
  readonly record: (note: EventNote) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settledMs?: number | undefined;
};

const READY = "Ready";

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #reader: KubeReader;
  #statusForbidden = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#reader = readOnly(options.client);
  }

  /** How to requeue this key; undefined when there is nothing left to do for it. Never throws. */
  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<Handling | undefined> {
    const { cache, client, clock, controller, logger, record } = this.#options;
    const object = cache.get(controller.reconciles, key);
    if (object === undefined) return undefined;
    const write: Runtime = { cache, client, clock, logger: logger.with({ ...key }), record, signal };
    const runtime: PassRuntime = { read: { cache, client: this.#reader, clock, logger: write.logger, signal }, write };
    try {
      const pass = await (isBeingDeleted(object) ? this.#cleanUp(object, runtime) : this.#advance(object, runtime));
      return pass === undefined ? undefined : await this.#report(pass, write);
    } catch (thrown) {
      this.#logBug(thrown, write.logger);
      return this.#reportBug(object, write);
    }
  }

  async #advance(object: KubeObject, runtime: PassRuntime): Promise<FinishedPass | undefined> {
    const held = await this.#hold(object, runtime.write.signal);
    if (!held.ok) return { object, outcome: failed(held.error), status: undefined };
    return held.value === undefined ? undefined : this.#pass(held.value, runtime);
  }

  async #pass(object: KubeObject, runtime: PassRuntime): Promise<FinishedPass> {
    const pass: ReconcilePass = await this.#options.controller.pass(object, runtime, this.#applier(object, runtime.write));
    return { object, outcome: pass.outcome, status: pass.status };
  }

  #applier(object: KubeObject, { record, signal }: Runtime): ApplyPlan {
    const { engine } = this.#options;
    const owner = this.#ownerOf(object);
    return async ({ access, apply: planned, prune, deletes }) => {
      if (deletes !== undefined) return engine.deleteAll(owner, deletes, signal);
      const changes = await engine.apply({ owner, access, planned, prune, signal });
      for (const { object: name, fields } of changes.healed) record(foreignFieldsRemoved(object, name, fields));
      return changes;
    };
  }

  #ownerOf(object: KubeObject): ApplyOwner {
    const { name, ownerReferences, oneOwner } = this.#options.controller;
    return { controller: name, object, ownerReferences, owns: oneOwner === true ? "all" : undefined };
  }

  /** The object with our finalizer; undefined when it is deleted or terminating. */
  async #hold(object: KubeObject, signal: AbortSignal): Promise<Result<KubeObject | undefined, KubeError>> {
    const { controller, client } = this.#options;
    const { finalizer, reconciles: resource } = controller;
    if (finalizer === undefined || hasFinalizer(object, finalizer)) return ok(object);
    return addFinalizer({ client, resource, object, finalizer, signal });
  }

  /**
   * Deletion. Without a finalizer of ours there is nothing to do, and applying would create again what the garbage collector
   * deletes.
   */
  async #cleanUp(object: KubeObject, runtime: PassRuntime): Promise<FinishedPass | undefined> {
    const { finalizer } = this.#options.controller;
    if (finalizer === undefined || !hasFinalizer(object, finalizer)) return undefined;
    const done = await this.#tearDown(object, runtime);
    if (done.outcome.kind !== "settled") return { ...done, outcome: asTeardown(done.outcome) };
    const released = await this.#release(object, finalizer, runtime.write.signal);
    return released.kind === "settled" ? undefined : { ...done, outcome: asTeardown(released) };
  }

  async #tearDown(object: KubeObject, runtime: PassRuntime): Promise<FinishedPass> {
    const { cleanUp } = this.#options.controller;
    if (cleanUp === "by-plan") return this.#pass(object, runtime);
    const outcome = cleanUp === "release" ? settled : await cleanUp(object, runtime.write, this.#applier(object, runtime.write));
    return { object, outcome, status: undefined };
  }

  async #release(object: KubeObject, finalizer: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const { controller, client, engine } = this.#options;
    const rest = await engine.release(this.#ownerOf(object), signal);
    if (rest.failed.length > 0) return outcomeOfChanges(rest);
    if (rest.skipped.length > 0) return failed({ kind: "conflict", message: "the object changed while it was being released" });
    const removed = await removeFinalizer({ client, resource: controller.reconciles, object, finalizer, signal });
    return removed.ok ? settled : failed(removed.error);
  }

  async #report({ object, outcome, status }: FinishedPass, runtime: Runtime): Promise<Handling> {
    const handling = handlingOf(outcome, this.#options.settledMs);
    const desired = this.#options.controller.writesStatus === false ? undefined : withReady(status, handling);
    const written = desired === undefined ? ok(false) : await this.#writeStatus(object, desired, runtime.signal);
    this.#sendEvent(object, handling, desired);
    this.#announce(object, desired);
    runtime.logger[handling.level]("reconciled", { result: handling.result, ...describe(outcome) });
    // a failed outcome stays; a status that could not be written must not end in "settled"
    if (written.ok || outcome.kind === "failed") return handling;
    // retrying does not help against a missing permission: the work itself is done, and the log reports it once
    if (written.error.kind === "forbidden") {
      this.#reportForbiddenStatus(written.error.message);
      return handling;
    }
    runtime.logger.warn("status was not written", { error: written.error.message });
    return { ...handling, requeue: handlingOf(failed(written.error)).requeue, result: "failed" };
  }

  #reportForbiddenStatus(error: string): void {
    const { logger, controller } = this.#options;
    const level = this.#statusForbidden ? "debug" : "warn";
    this.#statusForbidden = true;
    logger[level]("status may not be written; grant update of its status subresource", { kind: controller.reconciles.kind, error });
  }

  #writeStatus(object: KubeObject, desired: DesiredStatus, signal: AbortSignal): Promise<Result<boolean, KubeError>> {
    const { client, clock, controller } = this.#options;
    return writeStatus({ client, clock, resource: controller.reconciles, object, desired, signal });
  }

  #sendEvent(object: KubeObject, { event }: Handling, desired: DesiredStatus | undefined): void {
    if (event === undefined) return;
    const before = findCondition(conditionsOf(field(object, "status")), READY);
    const after = desired?.conditions?.find((condition) => condition.type === READY);
    const changed = before?.status !== after?.status || before?.reason !== after?.reason;
    if (event.when === "always" || changed) this.#options.record({ ...event, regarding: object });
  }

  /** A condition that is first set as True is not recorded as an event. */
  #announce(object: KubeObject, desired: DesiredStatus | undefined): void {
    for (const type of this.#options.controller.announces ?? []) {
      const before = findCondition(conditionsOf(field(object, "status")), type);
      const after = desired?.conditions?.find((condition) => condition.type === type);
      if (after === undefined || after.status === "Unknown" || after.message === before?.message) continue;
      if (after.status === "True" && before?.status !== "False") continue;
      this.#options.record({ regarding: object, type: "Normal", reason: after.reason, note: after.message });
    }
  }

  /** Stack frames without the message: a message may quote its input. */
  #logBug(thrown: unknown, logger: Logger): void {
    const known = thrown instanceof Error;
    const frames = known ? (thrown.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)) : [];
    const message = safeText(known ? thrown.message : String(thrown));
    logger.error("controller has a bug", { error: known ? thrown.name : typeof thrown, message, frames: frames.slice(0, 10) });
  }

  async #reportBug(object: KubeObject, runtime: Runtime): Promise<Handling> {
    const outcome = failed({
      kind: "internal",
      message: `a bug in Lattice's ${this.#options.controller.name} controller; its log says more`,
    });
    return this.#report({ object, outcome, status: undefined }, runtime);
  }
}

type FinishedPass = { readonly object: KubeObject; readonly outcome: ReconcileOutcome; readonly status: DesiredStatus | undefined };

/** A client without the methods that write, also for code that ignores types. */
function readOnly(client: KubeReader): KubeReader {
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, query, options) => client.list(resource, query, options),
  };
}

/** For the user who added them, and will look for them. */
function foreignFieldsRemoved(regarding: KubeObject, object: string, fields: string): EventNote {
  const note = `removed what another client added to ${object}: ${fields}; Lattice keeps this object as it is declared`;
  return { regarding, type: "Warning", reason: "ForeignFieldsRemoved", note };
}

function asTeardown(outcome: ReconcileOutcome): ReconcileOutcome {
  if (outcome.kind !== "failed" || outcome.cause.kind === "cancelled" || outcome.cause.kind === "conflict") return outcome;
  return failed({ ...outcome.cause, kind: "teardown", message: `clean-up failed: ${outcome.cause.message}` });
}

/** The controller's status with Ready from the outcome, unless it sets its own. */
function withReady(status: DesiredStatus | undefined, { ready }: Handling): DesiredStatus | undefined {
  if (ready === undefined || status?.conditions?.some((condition) => condition.type === READY) === true) return status;
  const condition: NewCondition = { type: READY, ...ready };
  return { ...status, conditions: [...(status?.conditions ?? []), condition] };
}

function describe(outcome: ReconcileOutcome): Record<string, unknown> {
  if (outcome.kind === "settled") return {};
  return outcome.kind === "failed"
    ? { cause: outcome.cause.kind, error: safeText(outcome.cause.message) }
    : { reason: outcome.reason, message: safeText(outcome.message) };
}
