/** From a request to what has to be run for it: each policy with each of its bindings that match, once per param. */
import { whenThere, type Later } from "#base";
import type { KubeObject } from "#kube";
import { matchedIn, type MatchedRule } from "../matching/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import { matchResources } from "./match-resources.ts";
import { collectParams, paramTypeOf } from "./params.ts";
import type { ActivePolicy, Binding } from "./policy-list.ts";

export type Invocation<Compiled> = {
  readonly policy: ActivePolicy<Compiled>;
  readonly binding: Binding;
  readonly matched: MatchedRule;
  readonly param: KubeObject | undefined;
};

/** Something about a policy or its binding is wrong, and the failure policy decides what that means. */
export type Misconfigured<Compiled> = {
  readonly policy: ActivePolicy<Compiled>;
  readonly binding: Binding | undefined;
  readonly message: string;
};

export type Found<Compiled> =
  | { readonly kind: "run"; readonly run: Invocation<Compiled> }
  | { readonly kind: "misconfigured"; readonly problem: Misconfigured<Compiled> };

/** In the order in which they are to be run. */
export function findInvocations<Compiled>(
  context: AdmissionContext,
  attributes: Attributes,
  policies: readonly ActivePolicy<Compiled>[],
): Later<readonly Found<Compiled>[]> {
  return ofEach(policies, (policy) => ofPolicy(context, attributes, policy));
}

/** One after the other, and at once while nothing has to be waited for. */
function ofEach<T, U>(items: readonly T[], find: (item: T) => Later<readonly U[]>): Later<readonly U[]> {
  return items.reduce<Later<readonly U[]>>(
    (before, item) => whenThere(before, (found) => whenThere(find(item), (more) => [...found, ...more])),
    [],
  );
}

function ofPolicy<Compiled>(
  context: AdmissionContext,
  attributes: Attributes,
  policy: ActivePolicy<Compiled>,
): Later<readonly Found<Compiled>[]> {
  const matched = matchResources(policy.constraints, attributes, context);
  if (matched.ok && matched.value === undefined) return [];
  const paramType = paramTypeOf(context, policy.paramKind);
  const wrong = matched.ok ? (paramType.ok ? undefined : paramType.error) : (matched.error.message ?? "");
  if (wrong !== undefined) return [misconfigured(policy, undefined, `failed to configure policy: ${wrong}`)];
  return ofEach(policy.bindings, (binding): Later<readonly Found<Compiled>[]> => {
    const bound = binding.resources === undefined ? undefined : matchResources(binding.resources, attributes, context);
    if (bound?.ok === true && bound.value === undefined) return [];
    if (bound?.ok === false) return [misconfigured(policy, binding, `failed to configure binding: ${bound.error.message ?? ""}`)];
    const type = paramType.ok ? paramType.value : undefined;
    const collected = collectParams(context, { type, ref: binding.paramRef, namespace: attributes.namespace });
    return whenThere(collected, (params) => {
      if (!params.ok) return [misconfigured(policy, binding, `failed to configure binding: ${params.error}`)];
      const caught = (matched.ok ? matched.value : undefined) ?? matchedIn(attributes.type, attributes);
      return params.value.map((param): Found<Compiled> => ({ kind: "run", run: { policy, binding, matched: caught, param } }));
    });
  });
}

function misconfigured<Compiled>(policy: ActivePolicy<Compiled>, binding: Binding | undefined, message: string): Found<Compiled> {
  return { kind: "misconfigured", problem: { policy, binding, message } };
}

const EXEMPT: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
]);

/** Policies never judge policies (nobody could take a bad one away again), nor questions about rights. */
export function isExempt({ type }: Attributes): boolean {
  return EXEMPT.has(`${type.resource.group}/${type.resource.plural}`);
}
