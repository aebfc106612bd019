/**
 * Runs the rules of a schema on an object, from the root down. Rules that compare with the old value run only where there is one;
 * a rule that fails on a value that did not change is forgiven.
 *
 * All rules of one object share a budget; when it is spent, the rest is not run and the object is refused.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { quote } from "../../apply/go-text.ts";
import type { FieldCause } from "../../resource-type.ts";
import { duplicate, forbidden, invalid, OMITTED, required } from "../causes/causes.ts";
import { child, index, key, type FieldPath } from "../causes/field-path.ts";
import { valueSchema, type JsonSchema } from "../schema/json-schema.ts";
import { OldItems, type Correlation } from "../validation/correlation.ts";
import { declaredType, withResourceFields, type DeclaredType } from "./declared-type.ts";
import { escapeName } from "./escaping.ts";
import { compileRules, type CompiledRule } from "./rules.ts";
import { schemaValue } from "./schema-values.ts";
import { CelFailure, CelOptional, NONE, type CelValue } from "./values.ts";

/** What all rules of one object may cost together. */
export const OBJECT_COST_BUDGET = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Rules in the shape of the schema that has them; undefined where neither it nor anything below has any. */
export type RuleTree = {
  readonly schema: JsonSchema;
  readonly isResource: boolean;
  readonly rules: readonly CompiledRule[];
  readonly items: RuleTree | undefined;
  readonly values: RuleTree | undefined;
  readonly fields: ReadonlyMap<string, RuleTree>;
};

export function ruleTree(schema: JsonSchema, isResource: boolean): RuleTree | undefined {
  return hasRules(schema) ? treeOf(schema, isResource, declaredType(schema, isResource)) : undefined;
}

function hasRules(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false;
  if (schema.validations.length > 0 || hasRules(schema.items) || hasRules(valueSchema(schema))) return true;
  return [...(schema.properties?.values() ?? [])].some(hasRules);
}

function treeOf(schema: JsonSchema | undefined, isResource: boolean, declared: DeclaredType | undefined): RuleTree | undefined {
  if (schema === undefined || !hasRules(schema)) return undefined;
  const fields = new Map<string, RuleTree>();
  for (const [name, property] of schema.properties ?? []) {
    const escaped = escapeName(name);
    const type = escaped === undefined ? declaredType(property, property.embeddedResource) : declared?.fields.get(escaped);
    const below = type === undefined ? undefined : treeOf(property, property.embeddedResource, type);
    if (below !== undefined) fields.set(name, below);
  }
  const values = valueSchema(schema);
  return {
    schema,
    isResource,
    rules: declared === undefined ? [] : compileRules(schema, declared),
    items: treeOf(schema.items, schema.items?.embeddedResource === true, declared?.element),
    values: treeOf(values, values?.embeddedResource === true, declared?.element),
    fields,
  };
}

export type RuleRun = { readonly causes: readonly FieldCause[]; readonly budget: number };

/** What changed between the old object and the new: of the value itself if it can be told, otherwise of what holds it. */
type Ratchet = { readonly own: Correlation | undefined; readonly parent: Correlation | undefined };

type State = { budget: number; readonly causes: FieldCause[] };

export function runRules(
  tree: RuleTree,
  path: FieldPath,
  value: Json,
  old: Json | undefined,
  correlation?: Correlation,
  budget = OBJECT_COST_BUDGET,
): RuleRun {
  const state: State = { budget, causes: [] };
  visit(state, tree, path, value, old, { own: correlation, parent: undefined });
  return { causes: state.causes, budget: state.budget };
}

function visit(state: State, tree: RuleTree, path: FieldPath, value: Json, old: Json | undefined, ratchet: Ratchet): void {
  if (value === null || state.budget < 0) return;
  runOwnRules(state, tree, path, value, old ?? null, ratchet);
  if (state.budget < 0) return;
  if (Array.isArray(value)) visitItems(state, tree, path, value, old, ratchet);
  else if (isJsonObject(value)) visitFields(state, tree, path, value, old, ratchet);
}

function visitItems(state: State, tree: RuleTree, path: FieldPath, items: readonly Json[], old: Json | undefined, ratchet: Ratchet): void {
  if (tree.items === undefined) return;
  const oldItems = new OldItems(tree.schema, Array.isArray(old) ? old : []);
  for (const [position, item] of items.entries()) {
    const below = ratchet.own === undefined ? ratchet : { own: ratchet.own.item(position), parent: ratchet.own };
    visit(state, tree.items, index(path, position), item, oldItems.find(item), below);
    if (state.budget < 0) return;
  }
}

function visitFields(state: State, tree: RuleTree, path: FieldPath, value: JsonObject, old: Json | undefined, ratchet: Ratchet): void {
  for (const [name, item] of Object.entries(value)) {
    const below = belowField(ratchet, name);
    const oldItem = field(old, name);
    if (tree.values !== undefined) visit(state, tree.values, key(path, name), item ?? null, oldItem, below);
    const known = tree.fields.get(name);
    if (known !== undefined) visit(state, known, child(path, name), item ?? null, oldItem, below);
    if (state.budget < 0) return;
  }
}

function belowField(ratchet: Ratchet, name: string): Ratchet {
  if (ratchet.own === undefined) return ratchet;
  if (ratchet.parent === undefined && (name === "apiVersion" || name === "kind")) return { own: undefined, parent: undefined };
  return { own: ratchet.own.field(name), parent: ratchet.own };
}

function isForgiven(ratchet: Ratchet): boolean {
  return (ratchet.own ?? ratchet.parent)?.isUnchanged() === true;
}

function runOwnRules(state: State, tree: RuleTree, path: FieldPath, value: Json, old: Json, ratchet: Ratchet): void {
  if (tree.rules.length === 0) return;
  const { type } = tree.schema;
  if (state.budget <= 0) return spend(state, path, type);
  const schema = tree.isResource ? withResourceFields(tree.schema) : tree.schema;
  const self = schemaValue(value, schema);
  const oldSelf = old === null ? undefined : schemaValue(old, schema);
  for (const compiled of tree.rules) {
    const cause = runRule(state, compiled, { path, value, type, self, oldSelf });
    if (cause !== undefined && (cause.always || compiled.usesOldSelf || !isForgiven(ratchet))) state.causes.push(cause.cause);
    if (state.budget < 0) return;
  }
}

function spend(state: State, path: FieldPath, type: string): void {
  state.causes.push(outOfBudget(path, type));
  state.budget = -1;
}

function outOfBudget(path: FieldPath, type: string): FieldCause {
  return invalid(path, type, "validation failed due to running out of cost budget, no further validation rules will be run");
}

type Subject = {
  readonly path: FieldPath;
  readonly value: Json;
  readonly type: string;
  readonly self: CelValue;
  readonly oldSelf: CelValue | undefined;
};

/** `always`: not the value's fault, so nothing forgives it. */
type Refusal = { readonly cause: FieldCause; readonly always: boolean };

function runRule(state: State, compiled: CompiledRule, subject: Subject): Refusal | undefined {
  const { rule } = compiled;
  const always = (cause: FieldCause): Refusal => ({ cause, always: true });
  if (compiled.error !== undefined) return always(invalid(subject.path, subject.type, `rule compile error: ${compiled.error}`));
  if (compiled.program === undefined || (compiled.usesOldSelf && subject.oldSelf === undefined && rule.optionalOldSelf !== true))
    return undefined;
  const run = compiled.program(variablesOf(compiled, subject));
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

function failed(state: State, problem: CelFailure, compiled: CompiledRule, subject: Subject): FieldCause {
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

function refused(state: State, compiled: CompiledRule, subject: Subject): Refusal {
  const { rule } = compiled;
  const path = compiled.fieldPath === "" ? subject.path : child(subject.path, compiled.fieldPath);
  const message = evaluateMessage(state, compiled, subject);
  if (typeof message === "object") return { cause: invalid(path, subject.type, message.problem), always: false };
  const detail = message ?? (rule.message === "" ? `failed rule: ${ruleText(compiled)}` : rule.message.trim());
  const value = subject.type === "object" || subject.type === "array" ? OMITTED : subject.value;
  return { cause: causeOf(rule.reason, path, value, detail), always: false };
}

function causeOf(reason: string | undefined, path: FieldPath, value: Json | typeof OMITTED, detail: string): FieldCause {
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

/** Undefined: the fixed message stands in. */
function evaluateMessage(state: State, compiled: CompiledRule, subject: Subject): string | { readonly problem: string } | undefined {
  if (compiled.messageProgram === undefined) return undefined;
  const run = compiled.messageProgram(variablesOf({ ...compiled, rule: { ...compiled.rule, optionalOldSelf: undefined } }, subject));
  if (run.cost > state.budget) {
    state.budget = -1;
    return { problem: "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run" };
  }
  state.budget -= run.cost;
  if (run.value instanceof CelFailure && run.value.fatal) {
    state.budget = -1;
    return {
      problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(compiled.rule.messageExpression)}`,
    };
  }
  const text = typeof run.value === "string" ? run.value.trim() : "";
  const isUsable = text !== "" && !text.includes("\n") && new TextEncoder().encode(text).length <= MAX_MESSAGE_BYTES;
  return isUsable ? text : undefined;
}
