/** The policy runs of a request: each matching policy with each of its matching bindings, once per param. */
import { whenThere, type Later } from "#base";
import type { KubeObject } from "#kube";
import { matchedIn, type MatchedRule } from "../matching/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import { matchResources } from "./match-resources.ts";
import { collectParams, paramTypeOf } from "./params.ts";
import type { ActivePolicy, PolicyBinding } from "./policy-list.ts";

export type PolicyInvocation<Compiled> = {
  readonly policy: ActivePolicy<Compiled>;
  readonly binding: PolicyBinding;
  readonly matched: MatchedRule;
  readonly param: KubeObject | undefined;
};

/** A misconfigured policy or binding; the failure policy decides about the request. */
export type Misconfigured<Compiled> = {
  readonly policy: ActivePolicy<Compiled>;
  readonly binding: PolicyBinding | undefined;
  readonly message: string;
};

export type FoundInvocation<Compiled> =
  | { readonly kind: "run"; readonly run: PolicyInvocation<Compiled> }
  | { readonly kind: "misconfigured"; readonly problem: Misconfigured<Compiled> };

/** In the order in which they are run. */
export function findInvocations<Compiled>(
  context: AdmissionContext,
  attributes: Attributes,
  policies: readonly ActivePolicy<Compiled>[],
): Later<readonly FoundInvocation<Compiled>[]> {
  return ofEach(policies, (policy) => ofPolicy(context, attributes, policy));
}

/** Sequentially, and without a pause unless an item returns a promise. */
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
): Later<readonly FoundInvocation<Compiled>[]> {
  const matched = matchResources(policy.constraints, attributes, context);
  if (matched.ok && matched.value === undefined) return [];
  const paramType = paramTypeOf(context, policy.paramKind);
  const wrong = matched.ok ? (paramType.ok ? undefined : paramType.error) : (matched.error.message ?? "");
  if (wrong !== undefined) return [misconfigured(policy, undefined, `failed to configure policy: ${wrong}`)];
  return ofEach(policy.bindings, (binding): Later<readonly FoundInvocation<Compiled>[]> => {
    const bound = binding.resources === undefined ? undefined : matchResources(binding.resources, attributes, context);
    if (bound?.ok === true && bound.value === undefined) return [];
    if (bound?.ok === false) return [misconfigured(policy, binding, `failed to configure binding: ${bound.error.message ?? ""}`)];
    const type = paramType.ok ? paramType.value : undefined;
    const collected = collectParams(context, { type, ref: binding.paramRef, namespace: attributes.namespace });
    return whenThere(collected, (params) => {
      if (!params.ok) return [misconfigured(policy, binding, `failed to configure binding: ${params.error}`)];
      const match = (matched.ok ? matched.value : undefined) ?? matchedIn(attributes.type, attributes);
      return params.value.map((param): FoundInvocation<Compiled> => ({ kind: "run", run: { policy, binding, matched: match, param } }));
    });
  });
}

function misconfigured<Compiled>(
  policy: ActivePolicy<Compiled>,
  binding: PolicyBinding | undefined,
  message: string,
): FoundInvocation<Compiled> {
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

/** Policies do not apply to policies (a bad policy could then not be deleted), nor to access reviews. */
export function isExempt({ type }: Attributes): boolean {
  return EXEMPT.has(`${type.resource.group}/${type.resource.plural}`);
}
