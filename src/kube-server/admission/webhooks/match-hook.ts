/** Whether a hook is called for a request, and with which version of its objects. */
import { ok, whenThere, type Later, type Result } from "#base";
import { Pace, runPaced } from "../../pace.ts";
import type { ResourceType } from "../../resource-type.ts";
import { forbidden, internalError, type Failure } from "../../protocol/status.ts";
import { activationOf, meetsConditions, namesKey, type Matched } from "../../admission-cel/index.ts";
import { matchRules, selectsNamespace, selectsObject, type MatchedRule } from "../matching/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import type { Hook } from "./hook.ts";
import type { ObjectPair } from "./versions.ts";

export type HookInvocation = { readonly hook: Hook; readonly type: ResourceType; readonly matched: Matched };

/** The objects in a version of the resource; an error becomes an internal error. */
export type ConvertPair = (type: ResourceType) => Later<Result<ObjectPair, string>>;

/** Webhooks are not called for the configurations of admission itself: a webhook that refuses its own correction could not be corrected. */
const EXEMPT_GROUP = "admissionregistration.k8s.io";

export function isExempt({ kind }: Attributes): boolean {
  return (
    kind.group === EXEMPT_GROUP && /^(Validating|Mutating)(WebhookConfiguration|AdmissionPolicy|AdmissionPolicyBinding)$/.test(kind.kind)
  );
}

/**
 * Its conditions were not met by a request with the same names, and read nothing else. Checked before rules and selectors: most writes are of objects that no
 * hook is called for.
 */
export function isKnownUnmet({ known }: Hook, attributes: Attributes): boolean {
  return known.size() > 0 && known.get(namesKey(attributes)) === false;
}

export function matchHook(
  hook: Hook,
  attributes: Attributes,
  { context, pairAs }: { readonly context: AdmissionContext; readonly pairAs: ConvertPair },
): Later<Result<HookInvocation | undefined, Failure>> {
  if (isKnownUnmet(hook, attributes)) return NOT_CALLED;
  if (!selectsObject(hook.objectSelector, attributes)) return NOT_CALLED;
  const match = matchRules(hook.rules, attributes, { types: context.types, policy: hook.matchPolicy });
  if (match === undefined) return NOT_CALLED;
  const inNamespace = selectsNamespace(hook.namespaceSelector, attributes, context);
  if (!inNamespace.ok) return inNamespace;
  if (!inNamespace.value) return NOT_CALLED;
  const conditions = hook.conditions();
  if (conditions.all.length === 0) return ok(invocationOf(hook, match));
  // an object that cannot be converted is an error, also for a hook that would not be called
  const key = match.type === attributes.type ? namesKey(attributes) : undefined;
  if (key !== undefined && hook.known.get(key) === true) return ok(invocationOf(hook, match));
  return whenThere(pairAs(match.type), (pair): Later<Result<HookInvocation | undefined, Failure>> => {
    if (!pair.ok) return internalError(pair.error);
    // `request.resource` stays the resource of the request; only the kind is the one that matched
    const matched = { kind: match.kind, resource: attributes.type.resource };
    const pace = new Pace(context.clock);
    const { object, old } = pair.value;
    const activation = activationOf({ attributes, matched, object, old, authorize: context.authorize, pace });
    // errors are not known for the next request: a limit of time can cause them
    const steps = meetsConditions(conditions.all, activation, "Fail");
    return whenThere(runPaced(steps, context.clock, conditions.readObjects ? attributes.object : undefined), (meets) => {
      if (!meets.ok && hook.failurePolicy === "Ignore") return NOT_CALLED;
      if (!meets.ok) return forbidden({ resource: attributes.type.resource, name: attributes.name }, meets.error);
      if (key !== undefined && activation.values.isNamesOnly) hook.known.set(key, meets.value);
      return meets.value ? ok(invocationOf(hook, match)) : NOT_CALLED;
    });
  });
}

const NOT_CALLED = ok(undefined);

function invocationOf(hook: Hook, { type, kind, resource }: MatchedRule): HookInvocation {
  return { hook, type, matched: { kind, resource } };
}
