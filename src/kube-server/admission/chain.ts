/** Joins the admission plugins: each receives the object that the previous one returned; the first error ends the chain. */
import { ok, whenOk, type Later, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { Failure } from "../protocol/status.ts";
import type { Admission, AdmissionPlugin, Attributes, Mutate, Validate } from "../protocol/admission-port.ts";

export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutators = plugins.flatMap(({ mutate }) => (mutate === undefined ? [] : [mutate]));
  const validators = plugins.flatMap(({ validate }) => (validate === undefined ? [] : [validate]));
  return {
    mutate: (attributes) => whenOk(mutateFrom(mutators, 0, attributes), (object) => secondRound(mutators, attributes, object)),
    validate: (attributes) => validateFrom(validators, 0, attributes),
  };
}

/** A loop as long as no plugin returns a promise, which is nearly always: a callback per plugin would cost more than most plugins do. */
function mutateFrom(mutators: readonly Mutate[], from: number, given: Attributes): Later<Result<KubeObject | undefined, Failure>> {
  let attributes = given;
  for (let at = from; at < mutators.length; at += 1) {
    const answer = mutators[at]?.(attributes) ?? ok(attributes.object);
    if (answer instanceof Promise) {
      const seen = attributes;
      return whenOk(answer, (object) => mutateFrom(mutators, at + 1, withObject(seen, object)));
    }
    if (!answer.ok) return answer;
    attributes = withObject(attributes, answer.value);
  }
  return ok(attributes.object);
}

function withObject(attributes: Attributes, object: KubeObject | undefined): Attributes {
  return object === attributes.object ? attributes : { ...attributes, object };
}

/** After a change by a webhook all plugins run once more. */
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
  for (let at = from; at < validators.length; at += 1) {
    const answer = validators[at]?.(attributes) ?? ok(undefined);
    if (answer instanceof Promise) return whenOk(answer, () => validateFrom(validators, at + 1, attributes));
    if (!answer.ok) return answer;
  }
  return ok(undefined);
}
