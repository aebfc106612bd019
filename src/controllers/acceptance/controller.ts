/**
 * Looks at every Lattice resource, says in its status whether it is valid, and names what this release does not act on.
 *
 * The API server has checked the schema already, yet it is checked again: an object may be older than the schema, and rules
 * that CEL cannot say are only in the parser. One controller per kind, all from the same value, until a kind gets its own.
 */
import { err, ok, type Result } from "#base";
import {
  defineController,
  nothing,
  waiting,
  type Controller,
  type DesiredStatus,
  type Plan,
  type PlanError,
  type Runtime,
} from "#controller-runtime";
import type { AnyLatticeKind, FieldError } from "#crds";
import type { KubeObject } from "#kube";
import { acceptedCondition, describeErrors, implementedCondition } from "./conditions.ts";

/** What was found wrong; empty when nothing was. */
export type Verdict = { readonly errors: readonly FieldError[] };

/** A new release is the only thing that changes the verdict without a change of the object. */
const LOOK_AGAIN_MS = 600_000;

export function acceptanceController(kind: AnyLatticeKind): Controller<KubeObject, Verdict, never, Runtime> {
  return defineController<KubeObject, Verdict, never, Runtime>({
    name: `accept-${kind.shortName}`,
    reconciles: kind.resource,
    observe: (object) => Promise.resolve(ok(judge(kind, object))),
    plan,
    perform: (command) => command,
    status: statusOf,
  });
}

function judge(kind: AnyLatticeKind, object: KubeObject): Verdict {
  const parsed = kind.parse(object);
  return { errors: parsed.ok ? [] : parsed.error };
}

function plan(object: KubeObject, { errors }: Verdict): Result<Plan<never>, PlanError> {
  if (errors.length > 0) return err({ kind: "invalid-spec", message: describeErrors(errors) });
  const { reason, message } = implementedCondition(object);
  return ok({ ...nothing.value, outcome: waiting(reason, LOOK_AGAIN_MS, message) });
}

function statusOf(object: KubeObject, { errors }: Verdict): DesiredStatus {
  const accepted = acceptedCondition(errors);
  return {
    phase: errors.length === 0 ? "Pending" : "Failed",
    message: errors.length === 0 ? implementedCondition(object).message : accepted.message,
    conditions: [accepted, implementedCondition(object)],
  };
}
