/**
 * Rules that a pattern cannot say. Each is declared once, in two languages side by side: `cel` is what the API server
 * evaluates, `holds` (or `violations`) is what our parser evaluates, and both refuse with the same message.
 *
 * The two must mean the same. test/builders/invalid-resources.ts keeps them together: every row is refused by both.
 */
import type * as z from "zod";
import { once } from "#base";
import { described } from "./described.ts";

/** How the API server labels the error; absent means "Invalid value". */
export type RuleReason = "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";

export type RelativePath = readonly (string | number)[];

type Declared = {
  readonly cel: string;
  /** What is wrong and what would fix it. */
  readonly message: string;
  /** The field the error is shown at, below the value that carries the rule. */
  readonly field?: readonly string[];
  readonly reason?: RuleReason;
};

/** `violations` names the exact places, where CEL can only point at the whole map; none means that the rule holds. */
export type Rule<T> = Declared &
  ({ readonly holds: (value: T) => boolean } | { readonly violations: (value: T) => readonly RelativePath[] });

/**
 * A rule about a change. `on` is the field that carries it; as on the server, it is skipped when that field is absent
 * before or after.
 */
export type Transition<T> = Declared & { readonly on: string; readonly holds: (before: T, after: T) => boolean };

/** `x-kubernetes-validations`, as a CRD writes it. */
export type KubernetesValidation = {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: RuleReason;
};

export const VALIDATIONS = "x-kubernetes-validations";

/** The schema with rules put on: checked by the parser, and carried into the CRD. */
export function withRules<S extends z.ZodType>(schema: S, rules: readonly Rule<z.output<S>>[]): S {
  // the server drops an empty list, so the next apply of the manifest would report a change
  if (rules.length === 0) return schema;
  const known = schema.meta() ?? {};
  const before = (known[VALIDATIONS] as readonly KubernetesValidation[] | undefined) ?? [];
  const checked = schema.superRefine((value, context) => {
    for (const rule of rules) {
      for (const path of violationsOf(rule, value)) context.addIssue({ code: "custom", path: [...path], message: rule.message });
    }
  });
  return described(checked, { ...known, [VALIDATIONS]: [...before, ...rules.map(toKubernetesValidation)] });
}

function violationsOf<T>(rule: Rule<T>, value: T): readonly RelativePath[] {
  if ("violations" in rule) return rule.violations(value);
  return rule.holds(value) ? [] : [rule.field ?? []];
}

export function toKubernetesValidation(rule: Declared): KubernetesValidation {
  return {
    rule: rule.cel,
    message: rule.message,
    ...(rule.field === undefined ? {} : { fieldPath: `.${rule.field.join(".")}` }),
    ...(rule.reason === undefined ? {} : { reason: rule.reason }),
  };
}

/** A string literal of CEL that needs no escapes; our patterns hold no quotes. */
export function celPattern(pattern: string): string {
  return `r'${pattern}'`;
}

/** The same pattern for our own parser; most are never asked, so each is compiled when it is. */
export function matcher(pattern: string): (text: string) => boolean {
  const compiled = once(() => new RegExp(pattern));
  return (text) => compiled().test(text);
}

export function exactlyOneOf<T extends object>(names: readonly (keyof T & string)[]): Rule<T> {
  return {
    cel: `${celCount(names)} == 1`,
    message: `set exactly one of ${listOfNames(names)}`,
    holds: (value) => countSet(value, names) === 1,
  };
}

export function atMostOneOf<T extends object>(names: readonly (keyof T & string)[]): Rule<T> {
  return {
    cel: `${celCount(names)} <= 1`,
    message: `set only one of ${listOfNames(names)}`,
    holds: (value) => countSet(value, names) <= 1,
  };
}

function celCount(names: readonly string[]): string {
  return names.map((name) => `(has(self.${name}) ? 1 : 0)`).join(" + ");
}

export function countSet<T extends object>(value: T, names: readonly (keyof T & string)[]): number {
  return names.filter((name) => value[name] !== undefined).length;
}

/** "a, b and c", for messages. */
function listOfNames(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
