/** ValidatingAdmissionWebhook: all matching hooks are called in parallel with the object that will be stored; the first denial to arrive counts. */
import { ok, whenThere, type Later, type Result } from "#base";
import type { ResourceType } from "../../resource-type.ts";
import { internalError, type Failure } from "../../protocol/status.ts";
import { resolveFromStore, WebhookClients } from "../../webhook-client/index.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import { callHook, failureOf, type HookCaller } from "./call-hook.ts";
import { followHooks } from "./hook-list.ts";
import type { Hook } from "./hook.ts";
import { isExempt, matchHook, type HookInvocation, type ConvertPair } from "./match-hook.ts";
import { pairIn, type ObjectPair } from "./versions.ts";

export function validatingWebhooks(context: AdmissionContext): AdmissionPlugin {
  const hooks = followHooks(context, "admissionregistration.k8s.io/validatingwebhookconfigurations");
  const clients = new WebhookClients({ ...context, resolveService: context.resolveService ?? resolveFromStore(context.store) });
  const caller: HookCaller = { context, clients, mutating: false };
  return {
    name: "ValidatingAdmissionWebhook",
    validate: (attributes) => {
      const all = hooks();
      if (all.length === 0 || isExempt(attributes)) return ok(undefined);
      const pairAs = versionsOf(attributes);
      return whenThere(matchAll({ context, attributes, pairAs }, all, 0, []), (matched) => {
        if (!matched.ok) return matched;
        return matched.value.length === 0 ? ok(undefined) : callAll(caller, attributes, { invocations: matched.value, pairAs });
      });
    },
  };
}

/** Each version is converted once. */
function versionsOf(attributes: Attributes): ConvertPair {
  const made = new Map<ResourceType, Later<Result<ObjectPair, string>>>();
  return (type) => {
    const known = made.get(type) ?? pairIn(attributes, attributes.type, type);
    made.set(type, known);
    return known;
  };
}

type Matching = { readonly context: AdmissionContext; readonly attributes: Attributes; readonly pairAs: ConvertPair };

function matchAll(
  matching: Matching,
  hooks: readonly Hook[],
  first: number,
  found: readonly HookInvocation[],
): Later<Result<readonly HookInvocation[], Failure>> {
  const invocations = [...found];
  for (let at = first; at < hooks.length; at += 1) {
    const hook = hooks[at];
    const matched = hook === undefined ? ok(undefined) : matchHook(hook, matching.attributes, matching);
    if (matched instanceof Promise) {
      return matched.then(async (late) => (late.ok ? matchAll(matching, hooks, at + 1, [...invocations, ...listed(late.value)]) : late));
    }
    if (!matched.ok) return matched;
    invocations.push(...listed(matched.value));
  }
  return ok(invocations);
}

function listed(invocation: HookInvocation | undefined): readonly HookInvocation[] {
  return invocation === undefined ? [] : [invocation];
}

type MatchedHooks = { readonly invocations: readonly HookInvocation[]; readonly pairAs: ConvertPair };

async function callAll(
  caller: HookCaller,
  attributes: Attributes,
  { invocations, pairAs }: MatchedHooks,
): Promise<Result<undefined, Failure>> {
  const failures: Failure[] = [];
  const pairs = await Promise.all(invocations.map(async ({ type }) => pairAs(type)));
  for (const pair of pairs) if (!pair.ok) return internalError(pair.error);
  await Promise.all(
    invocations.map(async (invocation, at) => {
      const pair = pairs[at];
      if (pair?.ok !== true) return;
      const called = await callHook(caller, invocation, { attributes, pair: pair.value });
      const failed = called.ok ? undefined : failureOf(called.error, invocation, caller.context);
      if (failed !== undefined) failures.push(failed);
    }),
  );
  const [first] = failures;
  return first === undefined ? ok(undefined) : { ok: false, error: first };
}
