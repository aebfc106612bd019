/**
 * Rules that a pattern cannot express. Each is declared once, in two languages: the API server evaluates `cel`, the parser here
 * evaluates `holds` (or `violations`), and both report the same message.
 *
 * Both must be equivalent. Every row of test/builders/invalid-resources.ts must be rejected by both.
 */
import type * as z from "zod";
import { once } from "#base";
import { described } from "./described.ts";

/** The reason of the API server's error; absent means "Invalid value". */
export type RuleReason = "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";

export type RelativePath = readonly (string | number)[];

type Declared = {
  readonly cel: string;
  /** The error and how to fix it. */
  readonly message: string;
  /** The field of the error, relative to the value with the rule. */
  readonly field?: readonly string[];
  readonly reason?: RuleReason;
};

/** `violations` returns the exact paths, where CEL can only report the whole map; an empty list means that the rule holds. */
export type Rule<T> = Declared &
  ({ readonly holds: (value: T) => boolean } | { readonly violations: (value: T) => readonly RelativePath[] });

/**
 * A rule for an update. `on` is the field with the rule; as on the server, the rule is skipped if that field is absent
 * before or after.
 */
export type Transition<T> = Declared & { readonly on: string; readonly holds: (before: T, after: T) => boolean };

/** An item of `x-kubernetes-validations` in a CRD. */
export type KubernetesValidation = {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: RuleReason;
};

export const VALIDATIONS = "x-kubernetes-validations";

/** Adds rules to a schema: the parser checks them, and the CRD contains them. */
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

/** A raw string literal of CEL, without escapes; the patterns contain no quotes. */
export function celPattern(pattern: string): string {
  return `r'${pattern}'`;
}

/** The same pattern for the parser here; compiled at first use, because most are never used. */
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
