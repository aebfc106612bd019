/**
 * ValidatingAdmissionPolicy: rules that administrators write as expressions, run here instead of in a webhook.
 *
 * All policies are run, and the error contains the first denial only.
 */
import { ok, whenThere, type Result } from "#base";
import { fieldAt, type Json } from "#kube";
import { forbid } from "../../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../../protocol/admission-port.ts";
import { Pace, runPaced, type Paced } from "../../../pace.ts";
import { refuse, type Failure } from "../../../protocol/status.ts";
import { findInvocations, isExempt, type FoundInvocation, type PolicyInvocation } from "../invocations.ts";
import { inputOf, namespaceOf } from "../policy-input.ts";
import { followPolicies, type ActivePolicy, type PolicyBinding } from "../policy-list.ts";
import { compileValidatingPolicy, type CompiledValidatingPolicy } from "./compile-policy.ts";
import { evaluatePolicy, type Denial } from "./evaluate-policy.ts";

const KINDS = { policies: "validatingadmissionpolicies", bindings: "validatingadmissionpolicybindings" };

type Policy = ActivePolicy<CompiledValidatingPolicy>;
type FoundPolicy = FoundInvocation<CompiledValidatingPolicy>;

export function validatingPolicies(context: AdmissionContext): AdmissionPlugin {
  const policies = followPolicies(context, KINDS, (policy) => compileValidatingPolicy(policy));
  return {
    name: "ValidatingAdmissionPolicy",
    validate: (attributes) => {
      const active = policies();
      if (active.length === 0 || isExempt(attributes)) return ok(undefined);
      return whenThere(findInvocations(context, attributes, active), (found) =>
        found.length === 0
          ? ok(undefined)
          : runPaced(
              validate({ context, attributes, pace: new Pace(context.clock) }, found),
              context.clock,
              attributes.object,
              attributes.old,
            ),
      );
    },
  };
}

type Running = { readonly context: AdmissionContext; readonly attributes: Attributes; readonly pace: Pace };

function* validate(running: Running, all: readonly FoundPolicy[]): Paced<Result<undefined, Failure>> {
  const { attributes } = running;
  const denied: Failure[] = [];
  for (const found of all) {
    if (found.kind === "misconfigured") {
      const { policy, binding, message } = found.problem;
      if (policy.failurePolicy === "Fail") denied.push(denial(attributes, { policy, binding, denial: { message, reason: "" } }));
      continue;
    }
    const ran = yield* run(running, found.run);
    if (!ran.ok) return ran;
    denied.push(...ran.value);
  }
  const [first] = denied;
  return first === undefined ? ok(undefined) : { ok: false, error: first };
}

function* run(
  { context, attributes, pace }: Running,
  invocation: PolicyInvocation<CompiledValidatingPolicy>,
): Paced<Result<readonly Failure[], Failure>> {
  const namespace = namespaceOf(context, attributes);
  if (!namespace.ok) return namespace;
  const { policy, binding } = invocation;
  const input = { ...inputOf(invocation, attributes, namespace.value), authorize: context.authorize, pace };
  const { denials, broken } = yield* evaluatePolicy(policy.compiled, input);
  const actions = actionsOf(binding);
  if (actions.includes("Warn")) {
    for (const { message } of denials) {
      attributes.warn(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`);
    }
  }
  const counting = [...(actions.includes("Deny") ? denials : []), ...broken];
  return ok(counting.map((one) => denial(attributes, { policy, binding, denial: one })));
}

function actionsOf({ object }: PolicyBinding): readonly Json[] {
  const actions = fieldAt(object, "spec", "validationActions");
  return Array.isArray(actions) ? (actions as readonly Json[]) : [];
}

const CODES: ReadonlyMap<string, number> = new Map([
  ["Forbidden", 403],
  ["Unauthorized", 401],
  ["RequestEntityTooLarge", 413],
]);

type Denied = { readonly policy: Policy; readonly binding: PolicyBinding | undefined; readonly denial: Denial };

function denial(attributes: Attributes, { policy, binding, denial: { message, reason } }: Denied): Failure {
  const bound = binding === undefined ? "" : ` with binding '${binding.name}'`;
  const text = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${message}`;
  const status = forbid(attributes, text).error;
  const details = { ...status.details, causes: [{ message: text }] };
  const given = reason === "" ? "Invalid" : reason;
  return refuse({ code: CODES.get(given) ?? 422, reason: given, message: status.message ?? "", details }).error;
}
