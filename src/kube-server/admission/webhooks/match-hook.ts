/** Whether a hook wants to be asked about a request, and in which version of its objects. */
import { ok, whenThere, type Later, type Result } from "#base";
import { Pace, runPaced } from "../../pace.ts";
import type { ResourceType } from "../../resource-type.ts";
import { forbidden, internalError, type Failure } from "../../protocol/status.ts";
import { activationOf, meetsConditions, type Matched } from "../../admission-cel/index.ts";
import { matchRules, selectsNamespace, selectsObject } from "../matching/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import type { Hook } from "./hook.ts";
import type { Pair } from "./versions.ts";

export type Invocation = { readonly hook: Hook; readonly type: ResourceType; readonly matched: Matched };

/** The objects in a version of the resource; an error is told as an internal one. */
export type PairAs = (type: ResourceType) => Later<Result<Pair, string>>;

/** The configurations of admission themselves are never looked at: a hook that refuses its own repair could not be repaired. */
const EXEMPT_GROUP = "admissionregistration.k8s.io";

export function isExempt({ kind }: Attributes): boolean {
  return (
    kind.group === EXEMPT_GROUP && /^(Validating|Mutating)(WebhookConfiguration|AdmissionPolicy|AdmissionPolicyBinding)$/.test(kind.kind)
  );
}

export function matchHook(
  hook: Hook,
  attributes: Attributes,
  { context, pairAs }: { readonly context: AdmissionContext; readonly pairAs: PairAs },
): Later<Result<Invocation | undefined, Failure>> {
  const caught = matchRules(hook.rules, attributes, { types: context.types, policy: hook.matchPolicy });
  if (caught === undefined || !selectsObject(hook.objectSelector, attributes)) return ok(undefined);
  const inNamespace = selectsNamespace(hook.namespaceSelector, attributes, context);
  if (!inNamespace.ok) return inNamespace;
  if (!inNamespace.value) return ok(undefined);
  const invocation = { hook, type: caught.type, matched: { kind: caught.kind, resource: caught.resource } };
  const conditions = hook.conditions();
  if (conditions.length === 0) return ok(invocation);
  return whenThere(pairAs(caught.type), (pair): Later<Result<Invocation | undefined, Failure>> => {
    if (!pair.ok) return internalError(pair.error);
    // the request keeps the resource that was asked for; only its kind is the one that matched
    const matched = { kind: caught.kind, resource: attributes.type.resource };
    const pace = new Pace(context.clock);
    const activation = activationOf({ attributes, matched, ...pair.value, authorize: context.authorize, pace });
    return whenThere(runPaced(meetsConditions(conditions, activation, hook.failurePolicy), context.clock, attributes.object), (meets) => {
      if (!meets.ok) return forbidden({ resource: attributes.type.resource, name: attributes.name }, meets.error);
      return ok(meets.value ? invocation : undefined);
    });
  });
}
