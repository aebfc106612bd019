/**
 * The common part of every kind's status. Unknown fields are dropped, not rejected: an older operator must be able to read an object whose
 * status a newer one wrote.
 */
import * as z from "zod";
import type { Condition } from "#kube";
import { listOf } from "./collections.ts";
import { described } from "./described.ts";
import { anyText, integer, oneOf, patterned, timestampField } from "./fields.ts";

const conditionShape = () =>
  observed("One observation.", {
    type: patterned("What is observed, such as Ready.", {
      pattern: "^([a-z0-9.-]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
      max: 316,
      message: "must be a condition type, such as Ready",
    }),
    status: oneOf("Whether it holds.", ["True", "False", "Unknown"]),
    reason: patterned("Why, as one CamelCase identifier for programs.", {
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
      max: 1_024,
      message: "must be one CamelCase identifier",
    }),
    message: anyText("Why, for people.", 32_768),
    lastTransitionTime: timestampField("When the status last changed."),
    observedGeneration: integer("The metadata.generation that was looked at.", 0, Number.MAX_SAFE_INTEGER).optional(),
  });

// Condition has exact optional fields; `normalise` has removed every undefined
const condition = () => conditionShape() as unknown as z.ZodType<Condition>;

/** A status object: fields of a newer version are dropped when it is read. */
export function observed<S extends z.ZodRawShape>(description: string, shape: S) {
  return described(z.object(shape), description);
}

export const count = (description: string) => integer(description, 0, Number.MAX_SAFE_INTEGER);

export function statusOf<const Phases extends readonly [string, ...string[]], S extends z.ZodRawShape>(phases: Phases, shape: S) {
  return observed("What the operator observed. Written by the operator only.", {
    phase: oneOf("The phase of the object's life cycle.", phases).optional(),
    message: anyText("What the phase means just now, for people.", 32_768).optional(),
    observedGeneration: count("The metadata.generation that this status is about.").optional(),
    conditions: listOf("The latest observations, one for each type.", condition(), { max: 64, type: { keys: ["type"] } }).optional(),
    ...shape,
  });
}

/** The phases of kinds without a lifecycle of their own. */
export const SIMPLE_PHASES = ["Pending", "Ready", "Failed"] as const;
