/** What a person reads on a resource that this release checks but does not act on. Pure. */
import { formatFieldError, type FieldError } from "#crds";
import { field, isJsonObject, type KubeObject, type NewCondition } from "#kube";

/** Condition types and reasons, each with when it surfaces; docs are checked against them. */
export const ACCEPTANCE_REASONS = {
  Valid: "the resource says nothing that Lattice would have to refuse",
  InvalidSpec: "the resource contradicts its schema; the message names each field",
  NotYetBuilt: "this release records the resource and acts on none of the fields that the message names",
} as const satisfies Record<string, string>;

/** Enough to act on; the rest comes when these are mended. */
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

/** CRDS: a field works, or a condition names it. Here none works yet, so all that are used are named. */
export function implementedCondition(object: KubeObject): NewCondition {
  const spec = field(object, "spec");
  const used = isJsonObject(spec)
    ? Object.keys(spec)
        .map((name) => `spec.${name}`)
        .toSorted()
    : [];
  const fields = used.length === 0 ? "its spec" : used.join(", ");
  return { type: "Implemented", status: "False", reason: "NotYetBuilt", message: `this release of Lattice does not act on ${fields} yet` };
}
