/** MutatingAdmissionPolicy: changes that administrators write as expressions. Not run for deletions. */
import { ok, whenThere, type Result } from "#base";
import { jsonEqual, keyText, type KubeObject } from "#kube";
import { forbid } from "../../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../../protocol/admission-port.ts";
import { Pace, runPaced, type Paced } from "../../../pace.ts";
import { refuse, type Failure } from "../../../protocol/status.ts";
import { activationOf, meetsConditions } from "../../../admission-cel/index.ts";
import { findInvocations, isExempt, type FoundInvocation, type PolicyInvocation } from "../invocations.ts";
import { inputOf, namespaceOf } from "../policy-input.ts";
import { followPolicies, type ActivePolicy, type PolicyBinding } from "../policy-list.ts";
import { compileMutatingPolicy, type CompiledMutatingPolicy } from "./compile-policy.ts";
import { mutate } from "./mutate.ts";
import { policyRounds, type PolicyRounds } from "./rounds.ts";

const KINDS = { policies: "mutatingadmissionpolicies", bindings: "mutatingadmissionpolicybindings" };

type Policy = ActivePolicy<CompiledMutatingPolicy>;
type Problem = { readonly policy: Policy; readonly binding: PolicyBinding | undefined; readonly message: string; readonly reason: string };
type Outcome = { readonly object: KubeObject; readonly problems: readonly Problem[] };

export function mutatingPolicies(context: AdmissionContext): AdmissionPlugin {
  const policies = followPolicies(context, KINDS, (policy) => compileMutatingPolicy(policy));
  const roundsOf = policyRounds();
  return {
    name: "MutatingAdmissionPolicy",
    mutate: (attributes) => {
      const active = policies();
      const { object, operation } = attributes;
      if (active.length === 0 || object === undefined || operation === "DELETE" || isExempt(attributes)) return ok(object);
      return whenThere(findInvocations(context, attributes, active), (found) =>
        found.length === 0
          ? ok(object)
          : runPaced(
              runAll({ context, attributes, object, rounds: roundsOf(attributes), pace: new Pace(context.clock) }, found),
              context.clock,
              object,
            ),
      );
    },
  };
}

type Running = {
  readonly context: AdmissionContext;
  readonly attributes: Attributes;
  readonly object: KubeObject;
  readonly rounds: PolicyRounds;
  readonly pace: Pace;
};

/** Errors in the configuration of a policy are listed before errors of its evaluation. */
function* runAll(running: Running, found: readonly FoundInvocation<CompiledMutatingPolicy>[]): Paced<Result<KubeObject, Failure>> {
  const { attributes, rounds } = running;
  const misconfigured = found.flatMap((one) => (one.kind === "misconfigured" ? [{ ...one.problem, reason: "" }] : []));
  const problems: Problem[] = [...misconfigured];
  let { object } = running;
  rounds.begin(object);
  for (const one of found) {
    if (one.kind === "misconfigured") continue;
    const ran = yield* run({ ...running, object }, one.run);
    if (!ran.ok) return ran;
    ({ object } = ran.value);
    problems.push(...ran.value.problems);
  }
  rounds.end(object);
  const counting = problems.filter(({ policy }) => policy.failurePolicy === "Fail");
  return counting.length === 0 ? ok(object) : denied(attributes, counting);
}

function* run(running: Running, invocation: PolicyInvocation<CompiledMutatingPolicy>): Paced<Result<Outcome, Failure>> {
  const { context, attributes, object, rounds, pace } = running;
  const { policy, binding, param } = invocation;
  const { compiled } = policy;
  const namespace = namespaceOf(context, attributes);
  if (!namespace.ok) return namespace;
  const problem = (message: string): Problem => ({ policy, binding, message, reason: "Invalid" });
  const input = { ...inputOf(invocation, { ...attributes, object }, namespace.value), authorize: context.authorize, pace };
  const wanted = yield* meetsConditions(compiled.conditions, activationOf(input, compiled.variables.valuesOf), compiled.failurePolicy);
  if (!wanted.ok) return ok({ object, problems: [problem(wanted.error)] });
  const key = [policy.name, binding.name, param === undefined ? "" : keyText(param.metadata)].join(" ");
  if (!wanted.value || !rounds.runs(key)) return ok({ object, problems: [] });
  const mutated = yield* mutate(invocation, { attributes, object, namespace: namespace.value, authorize: context.authorize, pace });
  if (!mutated.ok) return mutated;
  rounds.ran(key, { changed: !jsonEqual(object, mutated.value.object), reinvocable: compiled.reinvocable });
  return ok({ object: mutated.value.object, problems: mutated.value.problems.map(problem) });
}

/** The first problem gives the message, all of them are causes. The code is 403 for every reason. */
function denied(attributes: Attributes, problems: readonly Problem[]): Result<never, Failure> {
  const status = forbid(attributes, "admission request denied by policy").error;
  const causes = problems.map((problem) => ({ message: describe(problem) }));
  const [first] = problems;
  const reason = first === undefined || first.reason === "" ? "Forbidden" : first.reason;
  return refuse({ code: 403, reason, message: causes[0]?.message ?? "", details: { ...status.details, causes } });
}

function describe({ policy, binding, message }: Problem): string {
  if (binding === undefined) return `policy ${JSON.stringify(policy.name)} denied request: ${message}`;
  return `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;
}
