/** Runs the mutations of one policy in order; each receives the object that the previous one returned. */
import { err, ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import { CelStruct, isList, type CelValue } from "#cel";
import type { ResourceType } from "../../../resource-type.ts";
import type { Paced } from "../../../pace.ts";
import type { Failure } from "../../../protocol/status.ts";
import { activationOf, evaluate, POLICY_BUDGET, type ActivationInput } from "../../../admission-cel/index.ts";
import { inVersionOf } from "../../matching/index.ts";
import type { Attributes } from "../../../protocol/admission-port.ts";
import type { PolicyInvocation } from "../invocations.ts";
import { inputOf } from "../policy-input.ts";
import { applyConfiguration } from "./apply-configuration.ts";
import type { CompiledMutatingPolicy, Mutation } from "./compile-policy.ts";
import { applyOperations } from "./json-patch.ts";
import { sizeProblem } from "./mutation-size.ts";

export type Mutated = {
  readonly object: KubeObject;
  /** Errors of single mutations; the other mutations were applied. */
  readonly problems: readonly string[];
};

type Running = Pick<ActivationInput, "authorize" | "namespace" | "pace"> & { readonly attributes: Attributes; readonly object: KubeObject };

export function* mutate(invocation: PolicyInvocation<CompiledMutatingPolicy>, running: Running): Paced<Result<Mutated, Failure>> {
  const { policy, matched } = invocation;
  const { attributes, authorize, pace } = running;
  const problems: string[] = [];
  let object = running.object;
  for (const mutation of policy.compiled.mutations) {
    yield;
    const input = { ...inputOf(invocation, { ...attributes, object }, running.namespace), authorize, pace };
    const made = evaluate(mutation.expression, activationOf(input, policy.compiled.variables.valuesOf), POLICY_BUDGET);
    if (made.kind !== "value") {
      problems.push(made.message);
      continue;
    }
    const tooLarge = sizeProblem(made.value);
    if (tooLarge !== undefined) {
      problems.push(tooLarge);
      continue;
    }
    const applied = apply(invocation, { mutation, value: made.value, object: input.object ?? object });
    const changed = applied.ok ? inRequestVersion(applied.value, matched.type, attributes.type) : applied;
    if (changed.ok) object = changed.value;
    else if (typeof changed.error === "string") problems.push(changed.error);
    else return err(changed.error);
  }
  return ok({ object, problems });
}

type Change = { readonly mutation: Mutation; readonly value: CelValue; readonly object: KubeObject };

/** In the version that matched. An object that is not of the resource's own kind (a Scale) gets no defaults. */
function apply({ matched }: PolicyInvocation<unknown>, { mutation, value, object }: Change): Result<KubeObject, string | Failure> {
  const { type } = matched;
  const isOwn = object.kind === type.resource.kind;
  const changed = isList(value)
    ? applyOperations(object, isOwn ? type : undefined, value)
    : value instanceof CelStruct
      ? applyConfiguration(object, type, value)
      : err(`unsupported return type from ${mutation.kind === "patch" ? "JSONPatch" : "ApplyConfiguration"} expression`);
  return changed.ok && isOwn ? ok(type.applyDefaults(changed.value)) : changed;
}

/** A real server cannot convert a built-in kind back to another version here; policies that need it fail. */
function inRequestVersion(changed: KubeObject, from: ResourceType, to: ResourceType): Result<KubeObject, string> {
  if (from === to || from.custom || changed.kind !== from.resource.kind) return ok(inVersionOf(changed, from, to));
  const [source, target] = [from, to].map(({ resource }) => `(${resource.version}.${resource.kind})`);
  return err(`converting ${source} to ${target}: unknown conversion`);
}
