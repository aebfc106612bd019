/**
 * MutatingAdmissionWebhook: hooks are called in order, each with the object that the previous one returned. A hook with reinvocationPolicy
 * IfNeeded is called once more when the object was changed after it.
 */
import { map, ok, whenOk, whenThere, type Later, type Result } from "#base";
import { fieldAt, jsonEqual, type KubeObject } from "#kube";
import { decodeManaged } from "../../apply/index.ts";
import type { ResourceType } from "../../resource-type.ts";
import { withMetadata } from "../../protocol/object-meta.ts";
import { internalError, type Failure } from "../../protocol/status.ts";
import { resolveFromStore, WebhookClients } from "../../webhook-client/index.ts";
import {
  firstRound,
  type AdmissionContext,
  type AdmissionPlugin,
  type Attributes,
  type Reinvocation,
} from "../../protocol/admission-port.ts";
import { callHook, failureOf, type HookCaller } from "./call-hook.ts";
import { followHooks } from "./hook-list.ts";
import type { Hook } from "./hook.ts";
import { isExempt, isKnownUnmet, matchHook, type HookInvocation } from "./match-hook.ts";
import { patchObject } from "./patch-object.ts";
import { pairIn, type ObjectPair } from "./versions.ts";

export function mutatingWebhooks(context: AdmissionContext): AdmissionPlugin {
  const hooks = followHooks(context, "admissionregistration.k8s.io/mutatingwebhookconfigurations");
  const clients = new WebhookClients({ ...context, resolveService: context.resolveService ?? resolveFromStore(context.store) });
  const caller: HookCaller = { context, clients, mutating: true };
  return {
    name: "MutatingAdmissionWebhook",
    mutate: (attributes) => {
      const all = hooks();
      const mayBeCalled = all.some((hook) => !isKnownUnmet(hook, attributes)) && !isExempt(attributes);
      return mayBeCalled ? new Mutation(caller, attributes).run(all) : ok(attributes.object);
    },
  };
}

/** The state of one request during the calls. */
class Mutation {
  readonly #caller: HookCaller;
  readonly #attributes: Attributes;
  readonly #round: Reinvocation;
  /** The current object, and the version that it is in. */
  #pair: ObjectPair;
  #type: ResourceType;
  #isChanged = false;

  constructor(caller: HookCaller, attributes: Attributes) {
    this.#caller = caller;
    this.#attributes = attributes;
    this.#round = attributes.reinvocation ?? firstRound();
    this.#pair = { object: attributes.object, old: attributes.old };
    this.#type = attributes.type;
  }

  run(hooks: readonly Hook[]): Later<Result<KubeObject | undefined, Failure>> {
    const round = this.#round;
    if (round.round === 2 && !jsonEqual(round.left, this.#attributes.object)) callAgain(round);
    return whenOk(this.#from(hooks, 0), () => whenOk(this.#asRequested(), (object) => this.#finish(object)));
  }

  #from(hooks: readonly Hook[], first: number): Later<Result<undefined, Failure>> {
    for (let at = first; at < hooks.length; at += 1) {
      const hook = hooks[at];
      const matching = hook === undefined ? ok(undefined) : this.#match(hook);
      if (matching instanceof Promise) {
        return matching.then(async (matched) => (matched.ok ? this.#callThen(matched.value, hooks, at + 1) : matched));
      }
      if (!matching.ok) return matching;
      if (matching.value !== undefined) return this.#callThen(matching.value, hooks, at + 1);
    }
    return ok(undefined);
  }

  #callThen(invocation: HookInvocation | undefined, hooks: readonly Hook[], next: number): Later<Result<undefined, Failure>> {
    const isDue = invocation !== undefined && (this.#round.round === 1 || this.#round.again.has(invocation.hook.id));
    return isDue ? whenOk(this.#call(invocation), () => this.#from(hooks, next)) : this.#from(hooks, next);
  }

  #match(hook: Hook): Later<Result<HookInvocation | undefined, Failure>> {
    const seen = this.#isChanged ? { ...this.#attributes, object: this.#pair.object } : this.#attributes;
    return matchHook(hook, seen, { context: this.#caller.context, pairAs: (type) => this.#as(type) });
  }

  async #call(invocation: HookInvocation): Promise<Result<undefined, Failure>> {
    const { context } = this.#caller;
    const pair = await this.#as(invocation.type);
    if (!pair.ok) return internalError(internalError(pair.error).error.message ?? "");
    const called = await callHook(this.#caller, invocation, { attributes: this.#attributes, pair: pair.value });
    const patched = called.ok ? patchObject(called.value, invocation, { ...pair.value, types: context.types }) : called;
    if (patched.ok && patched.value !== undefined) this.#take(patched.value.object, patched.value.changed);
    if (invocation.hook.mayBeCalledAgain) this.#round.called.add(invocation.hook.id);
    const failed = patched.ok ? undefined : failureOf(patched.error, invocation, context);
    return failed === undefined ? ok(undefined) : { ok: false, error: failed };
  }

  #take(object: KubeObject, changed: boolean): void {
    this.#pair = { ...this.#pair, object };
    this.#isChanged = true;
    if (!changed) return;
    callAgain(this.#round);
    this.#round.wanted = true;
  }

  #as(type: ResourceType): Later<Result<ObjectPair, string>> {
    return whenThere(pairIn(this.#pair, this.#type, type), (converted) => {
      if (!converted.ok) return converted;
      this.#pair = converted.value;
      this.#type = type;
      return converted;
    });
  }

  /** An unchanged object is returned as it was received, not after a conversion to another version and back. */
  #asRequested(): Later<Result<KubeObject | undefined, Failure>> {
    if (!this.#isChanged) return ok(this.#attributes.object);
    return whenThere(this.#as(this.#attributes.type), (pair): Result<KubeObject | undefined, Failure> =>
      pair.ok ? map(pair, ({ object }) => object) : internalError(pair.error),
    );
  }

  #finish(object: KubeObject | undefined): Result<KubeObject | undefined, Failure> {
    const kept = object === undefined || !this.#isChanged ? object : withReadableManagers(object, this.#attributes);
    this.#round.left = kept;
    return ok(kept);
  }
}

/** Only hooks that were called before the change. */
function callAgain({ called, again }: Reinvocation): void {
  for (const hook of called) again.add(hook);
  called.clear();
}

const BROKEN_MANAGERS =
  ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ";

/** If a webhook breaks managedFields, the previous ones are restored. */
function withReadableManagers(object: KubeObject, { object: before, warn }: Attributes): KubeObject {
  const managers = fieldAt(object, "metadata", "managedFields");
  if (managers === fieldAt(before, "metadata", "managedFields")) return object;
  const managed = decodeManaged(managers);
  if (managed.ok) return object;
  warn(`${BROKEN_MANAGERS}${managed.error}`);
  return withMetadata(object, { managedFields: fieldAt(before, "metadata", "managedFields") });
}
