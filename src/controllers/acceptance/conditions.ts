/** Conditions about the validity of a resource and about fields that this release does not act on. Pure. */
import { formatFieldError, type FieldError } from "#crds";
import { field, findCondition, isJsonObject, type Condition, type KubeObject, type NewCondition } from "#kube";

/** Condition types and reasons, each with when it surfaces; docs are checked against them. */
export const ACCEPTANCE_REASONS = {
  Valid: "the resource has nothing that Lattice would refuse",
  InvalidSpec: "the resource contradicts its schema; the message names each field",
  NotYetBuilt: "this release records the resource and acts on none of the fields that the message names",
  Built: "this release acts on all fields that are used, after one that did not, or after such a field was taken out",
  Accepted: "Ready, on a resource that others read: it is valid, and counts",
} as const satisfies Record<string, string>;

/** Problems listed in one message; the others are counted. */
const MAX_ERRORS_SHOWN = 10;

export function acceptedCondition(errors: readonly FieldError[]): NewCondition {
  if (errors.length === 0) return { type: "Accepted", status: "True", reason: "Valid", message: "the resource is valid" };
  return { type: "Accepted", status: "False", reason: "InvalidSpec", message: describeErrors(errors) };
}

export function describeErrors(errors: readonly FieldError[]): string {
  const shown = errors.slice(0, MAX_ERRORS_SHOWN).map(formatFieldError);
  const more = errors.length - shown.length;
  return more > 0 ? `${shown.join("; ")}; and ${more} more` : shown.join("; ");
}

/** Top-level fields of the spec that are used. */
export function usedFields(object: KubeObject): readonly string[] {
  const spec = field(object, "spec");
  const names = isJsonObject(spec) ? Object.keys(spec).map((name) => `spec.${name}`) : [];
  return names.length === 0 ? ["its spec"] : names.toSorted();
}

export function describeUnbuilt(unbuilt: readonly string[]): string {
  return `this release of Lattice does not act on ${unbuilt.join(", ")} yet`;
}

/** Every field either works or is listed in a condition. If all work there is no condition, unless an older one must be replaced. */
export function implementedCondition(unbuilt: readonly string[], written: readonly Condition[] | undefined): readonly NewCondition[] {
  const type = "Implemented";
  if (unbuilt.length > 0) return [{ type, status: "False", reason: "NotYetBuilt", message: describeUnbuilt(unbuilt) }];
  if (findCondition(written, type) === undefined) return [];
  return [{ type, status: "True", reason: "Built", message: "this release acts on all fields that are used" }];
}
