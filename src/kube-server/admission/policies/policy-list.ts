/**
 * The policies that exist and have a binding. Validating and mutating policies each have such a list.
 *
 * The list is rebuilt on the first read after a policy or a binding has changed; an unchanged policy is not compiled again. Without policies a
 * request costs one comparison.
 */
import { field, fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import type { AdmissionContext } from "../../protocol/admission-port.ts";
import { readMatchResources, type MatchResources } from "./match-resources.ts";

export type FailurePolicy = "Fail" | "Ignore";
export type ParamKind = { readonly apiVersion: string; readonly kind: string };

export type PolicyBinding = {
  readonly name: string;
  readonly object: KubeObject;
  /** Undefined: every request that the policy matches. */
  readonly resources: MatchResources | undefined;
  readonly paramRef: JsonObject | undefined;
};

export type ActivePolicy<Compiled> = {
  readonly name: string;
  readonly constraints: MatchResources;
  readonly failurePolicy: FailurePolicy;
  readonly paramKind: ParamKind | undefined;
  readonly bindings: readonly PolicyBinding[];
  readonly compiled: Compiled;
};

export type PolicyKinds = { readonly policies: string; readonly bindings: string };

const GROUP = "admissionregistration.k8s.io";

/** The returned function lists the active policies by name. */
export function followPolicies<Compiled>(
  context: AdmissionContext,
  kinds: PolicyKinds,
  compile: (policy: KubeObject) => Compiled,
): () => readonly ActivePolicy<Compiled>[] {
  let active: readonly ActivePolicy<Compiled>[] | undefined;
  const compiled = new WeakMap<KubeObject, Compiled>();
  const compileOnce = (policy: KubeObject): Compiled => {
    const known = compiled.get(policy);
    if (known !== undefined) return known;
    const made = compile(policy);
    compiled.set(policy, made);
    return made;
  };
  for (const plural of [kinds.policies, kinds.bindings]) onChange(context, plural, () => (active = undefined));
  return () => (active ??= activePolicies(context, kinds, compileOnce));
}

function onChange({ store, closing }: AdmissionContext, plural: string, changed: () => void): void {
  const watching = store.watch({ collection: `${GROUP}/${plural}`, from: store.revision, onEvent: changed });
  if (watching.ok) closing.addEventListener("abort", () => watching.value.end(), { once: true });
}

function activePolicies<Compiled>(
  context: AdmissionContext,
  kinds: PolicyKinds,
  compile: (policy: KubeObject) => Compiled,
): readonly ActivePolicy<Compiled>[] {
  const bindings = Map.groupBy(objectsIn(context, kinds.bindings), (binding) => textAt(binding, "spec", "policyName"));
  if (bindings.size === 0) return [];
  return objectsIn(context, kinds.policies).flatMap((policy) => {
    const own = bindings.get(policy.metadata.name);
    return own === undefined ? [] : [readPolicy(policy, own.map(readBinding), compile)];
  });
}

/** The store keeps the identity of an unchanged object, so the object is the key of its compiled policy. */
function objectsIn({ store }: AdmissionContext, plural: string): readonly KubeObject[] {
  const listed = store.list(`${GROUP}/${plural}`);
  return listed.ok ? listed.value.items.map(({ object }) => object) : [];
}

function readPolicy<Compiled>(
  policy: KubeObject,
  bindings: readonly PolicyBinding[],
  compile: (policy: KubeObject) => Compiled,
): ActivePolicy<Compiled> {
  return {
    name: policy.metadata.name,
    constraints: readMatchResources(fieldAt(policy, "spec", "matchConstraints")),
    failurePolicy: failurePolicyOf(policy),
    paramKind: paramKindOf(policy),
    bindings,
    compiled: compile(policy),
  };
}

export function failurePolicyOf(policy: KubeObject): FailurePolicy {
  return fieldAt(policy, "spec", "failurePolicy") === "Ignore" ? "Ignore" : "Fail";
}

export function paramKindOf(policy: KubeObject): ParamKind | undefined {
  const kind = fieldAt(policy, "spec", "paramKind");
  return isJsonObject(kind) ? { apiVersion: textAt(kind, "apiVersion"), kind: textAt(kind, "kind") } : undefined;
}

function readBinding(binding: KubeObject): PolicyBinding {
  const spec = field(binding, "spec");
  const resources = field(spec, "matchResources");
  const paramRef = field(spec, "paramRef");
  return {
    name: binding.metadata.name,
    object: binding,
    resources: resources === undefined ? undefined : readMatchResources(resources),
    paramRef: isJsonObject(paramRef) ? paramRef : undefined,
  };
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const text = fieldAt(value, ...path);
  return typeof text === "string" ? text : "";
}
