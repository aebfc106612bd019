/**
 * Runs the rules of a schema on an object, from the root down. Rules that compare with the old value run only where there is one;
 * a rule that fails on a value that did not change is forgiven.
 *
 * All rules of one object share a budget; when it is spent, the rest is not run and the object is refused.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import type { FieldCause } from "../../resource-type.ts";
import { child, index, key, type FieldPath } from "../causes/field-path.ts";
import { OldItems, type Correlation } from "../validation/correlation.ts";
import { withResourceFields } from "./declared-type.ts";
import { outOfBudget, runRule } from "./rule-outcome.ts";
import type { RuleTree } from "./rule-tree.ts";
import { schemaValue } from "./schema-values.ts";

/** What all rules of one object may cost together. */
export const OBJECT_COST_BUDGET = 10_000_000;

/** `forgiven`: what is wrong, and was before. */
export type RuleRun = { readonly causes: readonly FieldCause[]; readonly forgiven: readonly FieldCause[]; readonly budget: number };

/** What changed between the old object and the new: of the value itself if it can be told, otherwise of what holds it. */
type Ratchet = { readonly own: Correlation | undefined; readonly parent: Correlation | undefined };

type State = { budget: number; readonly causes: FieldCause[]; readonly forgiven: FieldCause[] };

export function runRules(
  tree: RuleTree,
  path: FieldPath,
  value: Json,
  old: Json | undefined,
  correlation?: Correlation,
  budget = OBJECT_COST_BUDGET,
): RuleRun {
  const state: State = { budget, causes: [], forgiven: [] };
  visit(state, tree, path, value, old, { own: correlation, parent: undefined });
  return state;
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
    if (cause !== undefined) {
      const counts = cause.always || compiled.usesOldSelf || !isForgiven(ratchet);
      (counts ? state.causes : state.forgiven).push(cause.cause);
    }
    if (state.budget < 0) return;
  }
}

function spend(state: State, path: FieldPath, type: string): void {
  state.causes.push(outOfBudget(path, type));
  state.budget = -1;
}
