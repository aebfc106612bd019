/**
 * Validates every Lattice resource, writes the result into its status, and lists the fields that this release does not act on.
 *
 * The API server has validated the schema, but an object may be older than the schema, and some rules cannot be expressed in CEL and are
 * only in the parser. One controller per kind, all from the same function, until a kind gets its own.
 */
import { err, ok, type Result } from "#base";
import {
  conditionsOf,
  defineController,
  nothing,
  waiting,
  type Controller,
  type DesiredStatus,
  type Plan,
  type PlanError,
} from "#controller-runtime";
import type { AnyLatticeKind, FieldError } from "#crds";
import { field, type KubeObject, type NewCondition } from "#kube";
import { acceptedCondition, describeErrors, describeUnbuilt, implementedCondition, usedFields } from "./conditions.ts";

/** Validation errors, empty if valid; and fields that are set but have no effect. */
export type AcceptanceFindings = { readonly errors: readonly FieldError[]; readonly unbuilt: readonly string[] };

export type AcceptanceOptions = {
  /** Other controllers act on all fields of the resource, so a valid one is Ready. Absent: no controller acts on it yet. */
  readonly readByOthers?: boolean;
};

/** Only a new release changes the result without a change of the object. */
const REVALIDATE_MS = 600_000;

export function acceptanceController(
  kind: AnyLatticeKind,
  { readByOthers = false }: AcceptanceOptions = {},
): Controller<KubeObject, AcceptanceFindings, never> {
  return defineController<KubeObject, AcceptanceFindings, never>({
    name: `accept-${kind.shortName}`,
    reconciles: kind.resource,
    observe: (object) => Promise.resolve(ok({ errors: errorsIn(kind, object), unbuilt: readByOthers ? [] : usedFields(object) })),
    plan,
    status: statusOf,
  });
}

function errorsIn(kind: AnyLatticeKind, object: KubeObject): readonly FieldError[] {
  const parsed = kind.parse(object);
  return parsed.ok ? [] : parsed.error;
}

function plan(_object: KubeObject, { errors, unbuilt }: AcceptanceFindings): Result<Plan<never>, PlanError> {
  if (errors.length > 0) return err({ kind: "invalid-spec", message: describeErrors(errors) });
  if (unbuilt.length === 0) return nothing;
  return ok({ ...nothing.value, outcome: waiting("NotYetBuilt", REVALIDATE_MS, describeUnbuilt(unbuilt)) });
}

function statusOf(object: KubeObject, { errors, unbuilt }: AcceptanceFindings): DesiredStatus {
  const accepted = acceptedCondition(errors);
  const written = conditionsOf(field(object, "status"));
  const conditions = [accepted, ...implementedCondition(unbuilt, written)];
  if (errors.length > 0) return { phase: "Failed", message: accepted.message, conditions };
  if (unbuilt.length > 0) return { phase: "Pending", message: describeUnbuilt(unbuilt), conditions };
  const ready: NewCondition = { type: "Ready", status: "True", reason: "Accepted", message: accepted.message };
  return { phase: "Ready", message: accepted.message, conditions: [...conditions, ready] };
}
