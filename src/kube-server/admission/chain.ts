/** The parts of admission as one: each gets what the one before it left; the first refusal ends it. */
import { ok, whenOk, whenThere, type Later, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { Failure } from "../rest/status.ts";
import type { Admission, AdmissionPlugin, Attributes, Mutate, Validate } from "./port.ts";

export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutators = plugins.flatMap(({ mutate }) => (mutate === undefined ? [] : [mutate]));
  const validators = plugins.flatMap(({ validate }) => (validate === undefined ? [] : [validate]));
  return {
    mutate: (attributes) => whenOk(mutateFrom(mutators, 0, attributes), (object) => secondRound(mutators, attributes, object)),
    validate: (attributes) => validateFrom(validators, 0, attributes),
  };
}

function mutateFrom(mutators: readonly Mutate[], from: number, attributes: Attributes): Later<Result<KubeObject | undefined, Failure>> {
  const mutate = mutators[from];
  if (mutate === undefined) return ok(attributes.object);
  return whenThere(mutate(attributes), (answer) => {
    if (!answer.ok) return answer;
    const next = answer.value === attributes.object ? attributes : { ...attributes, object: answer.value };
    return mutateFrom(mutators, from + 1, next);
  });
}

/** What a webhook changed is shown to everybody once more. */
function secondRound(
  mutators: readonly Mutate[],
  attributes: Attributes,
  object: KubeObject | undefined,
): Later<Result<KubeObject | undefined, Failure>> {
  const { reinvocation } = attributes;
  if (reinvocation?.wanted !== true) return ok(object);
  reinvocation.round = 2;
  return mutateFrom(mutators, 0, { ...attributes, object });
}

function validateFrom(validators: readonly Validate[], from: number, attributes: Attributes): Later<Result<undefined, Failure>> {
  const validate = validators[from];
  if (validate === undefined) return ok(undefined);
  return whenThere(validate(attributes), (answer) => (answer.ok ? validateFrom(validators, from + 1, attributes) : answer));
}
