/** Evaluates one rule on one value, charges its cost, and returns the cause for the client. */
import { goQuote, type Json } from "#kube";
import { CelFailure, CelOptional, Effort, NONE, type CelValue, type Program, type Run } from "#cel";
import type { Pace } from "../../pace.ts";
import type { FieldCause } from "../../resource-type.ts";
import { duplicate, forbidden, invalid, OMITTED, required } from "../causes/causes.ts";
import { child, type CausePath } from "../causes/field-path.ts";
import type { CompiledRule } from "./rules.ts";

const MAX_MESSAGE_BYTES = 5 * 1024;

/** The remaining cost; below zero, nothing more is run. */
export type Budget = { budget: number; readonly pace?: Pace | undefined };

export function outOfBudget(path: CausePath, type: string): FieldCause {
  return invalid(path, type, "validation failed due to running out of cost budget, no further validation rules will be run");
}

/** Within the remaining budget. */
function runProgram({ budget, pace }: Budget, program: Program, variables: ReadonlyMap<string, CelValue>): Run {
  const effort = new Effort(pace?.clock);
  const run = program(variables, { cost: budget, effort });
  pace?.count(effort.used);
  return run;
}

export type Subject = {
  readonly path: CausePath;
  readonly value: Json;
  readonly type: string;
  readonly self: CelValue;
  readonly oldSelf: CelValue | undefined;
};

/** `always`: the failure is not caused by the value, so it counts also when the value did not change. */
export type RuleFailure = { readonly cause: FieldCause; readonly always: boolean };

export function runRule(state: Budget, compiled: CompiledRule, subject: Subject): RuleFailure | undefined {
  const { rule } = compiled;
  const always = (cause: FieldCause): RuleFailure => ({ cause, always: true });
  if (compiled.error !== undefined) return always(invalid(subject.path, subject.type, `rule compile error: ${compiled.error}`));
  if (compiled.program === undefined || (compiled.usesOldSelf && subject.oldSelf === undefined && rule.optionalOldSelf !== true))
    return undefined;
  const problem = state.pace?.problem;
  if (problem !== undefined) {
    state.budget = -1;
    return always(invalid(subject.path, subject.type, `validation failed: ${problem}, no further validation rules will be run`));
  }
  const run = runProgram(state, compiled.program, variablesOf(compiled, subject));
  if (run.cost > state.budget) {
    state.budget = -1;
    return always(outOfBudget(subject.path, subject.type));
  }
  state.budget -= run.cost;
  if (run.value instanceof CelFailure) return always(failed(state, run.value, compiled, subject));
  return run.value === true ? undefined : refused(state, compiled, subject);
}

function variablesOf(compiled: CompiledRule, subject: Subject): ReadonlyMap<string, CelValue> {
  const variables = new Map<string, CelValue>([["self", subject.self]]);
  const { oldSelf } = subject;
  if (compiled.rule.optionalOldSelf === true) variables.set("oldSelf", oldSelf === undefined ? NONE : new CelOptional(oldSelf));
  else if (oldSelf !== undefined) variables.set("oldSelf", oldSelf);
  return variables;
}

function ruleText(compiled: CompiledRule): string {
  const { rule } = compiled;
  return rule.message === "" ? rule.rule.trim() : rule.message.trim();
}

function failed(state: Budget, problem: CelFailure, compiled: CompiledRule, subject: Subject): FieldCause {
  const { message } = problem;
  const text = ruleText(compiled);
  if (problem.fatal) {
    state.budget = -1;
    return invalid(
      subject.path,
      subject.type,
      `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`,
    );
  }
  if (message.startsWith("no such overload")) {
    return invalid(
      subject.path,
      subject.type,
      `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`,
    );
  }
  return invalid(subject.path, subject.type, `${message} evaluating rule: ${text}`);
}

function refused(state: Budget, compiled: CompiledRule, subject: Subject): RuleFailure {
  const { rule } = compiled;
  const path = compiled.fieldPath === "" ? subject.path : child(subject.path, compiled.fieldPath);
  const message = evaluateMessage(state, compiled, subject);
  if (typeof message === "object") return { cause: invalid(path, subject.type, message.problem), always: false };
  const detail = message ?? (rule.message === "" ? `failed rule: ${ruleText(compiled)}` : rule.message.trim());
  const value = subject.type === "object" || subject.type === "array" ? OMITTED : subject.value;
  return { cause: causeOf(rule.reason, path, value, detail), always: false };
}

function causeOf(reason: string | undefined, path: CausePath, value: Json | typeof OMITTED, detail: string): FieldCause {
  switch (reason) {
    case "FieldValueForbidden":
      return forbidden(path, detail);
    case "FieldValueRequired":
      return required(path, detail);
    case "FieldValueDuplicate":
      return duplicate(path, value);
    default:
      return invalid(path, value, detail);
  }
}

/** Undefined: the fixed message is used. */
function evaluateMessage(state: Budget, compiled: CompiledRule, subject: Subject): string | { readonly problem: string } | undefined {
  if (compiled.messageProgram === undefined) return undefined;
  const variables = variablesOf({ ...compiled, rule: { ...compiled.rule, optionalOldSelf: undefined } }, subject);
  const run = runProgram(state, compiled.messageProgram, variables);
  if (run.cost > state.budget) {
    state.budget = -1;
    return { problem: "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run" };
  }
  state.budget -= run.cost;
  if (run.value instanceof CelFailure && run.value.fatal) {
    state.budget = -1;
    return {
      problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(compiled.rule.messageExpression)}`,
    };
  }
  const text = typeof run.value === "string" ? run.value.trim() : "";
  const isUsable = text !== "" && !text.includes("\n") && new TextEncoder().encode(text).length <= MAX_MESSAGE_BYTES;
  return isUsable ? text : undefined;
}
