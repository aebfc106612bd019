/**
 * Runs the rules of a schema on an object, from the root down. Rules that use oldSelf run only where there is an old value; a rule that fails on
 * an unchanged value does not refuse the object.
 *
 * All rules of one object share a cost budget; when it is used up, the remaining rules are not run and the object is refused.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import type { Pace, Paced } from "../../pace.ts";
import type { FieldCause } from "../../resource-type.ts";
import { child, index, key, type CausePath } from "../causes/field-path.ts";
import { OldItems, type Correlation } from "../validation/correlation.ts";
import { outOfBudget, runRule } from "./rule-outcome.ts";
import type { RuleTree } from "./rule-tree.ts";
import { schemaValue } from "./schema-values.ts";
import { withResourceFields } from "./schema-type.ts";

/** The cost limit of all rules of one object. */
export const OBJECT_COST_BUDGET = 10_000_000;

/** `tolerated`: failures on unchanged values. */
export type RuleRun = { readonly causes: readonly FieldCause[]; readonly tolerated: readonly FieldCause[]; readonly budget: number };

/** What changed between the old object and the new: of the value itself if it can be correlated, otherwise of its parent. */
type Ratchet = { readonly own: Correlation | undefined; readonly parent: Correlation | undefined };

type State = { budget: number; readonly causes: FieldCause[]; readonly tolerated: FieldCause[]; readonly pace: Pace | undefined };

export type RuleInput = {
  readonly path: CausePath;
  readonly value: Json;
  readonly old: Json | undefined;
  readonly correlation?: Correlation | undefined;
  readonly budget?: number;
  /** The time budget of the request; undefined: no limit. */
  readonly pace?: Pace | undefined;
};

/** Each rule may be followed by a pause. */
export function* runRules(tree: RuleTree, input: RuleInput): Paced<RuleRun> {
  const state: State = { budget: input.budget ?? OBJECT_COST_BUDGET, causes: [], tolerated: [], pace: input.pace };
  yield* visit(state, tree, { ...input, ratchet: { own: input.correlation, parent: undefined } });
  return state;
}

/** A value and its old value. */
type Place = { readonly path: CausePath; readonly value: Json; readonly old: Json | undefined; readonly ratchet: Ratchet };

function* visit(state: State, tree: RuleTree, place: Place): Paced<void> {
  const { value } = place;
  if (value === null || state.budget < 0) return;
  if (tree.rules.length > 0) yield* runOwnRules(state, tree, place);
  if (state.budget < 0) return;
  if (Array.isArray(value)) yield* visitItems(state, tree, { ...place, value });
  else if (isJsonObject(value)) yield* visitFields(state, tree, { ...place, value });
}

function* visitItems(state: State, tree: RuleTree, place: Place & { readonly value: readonly Json[] }): Paced<void> {
  if (tree.items === undefined) return;
  const { path, value, old, ratchet } = place;
  const oldItems = new OldItems(tree.schema, Array.isArray(old) ? old : []);
  for (const [position, item] of value.entries()) {
    const below = ratchet.own === undefined ? ratchet : { own: ratchet.own.item(position), parent: ratchet.own };
    yield* visit(state, tree.items, { path: index(path, position), value: item, old: oldItems.find(item), ratchet: below });
    if (state.budget < 0) return;
  }
}

function* visitFields(state: State, tree: RuleTree, place: Place & { readonly value: JsonObject }): Paced<void> {
  const { path, value, old } = place;
  for (const [name, item] of Object.entries(value)) {
    const known = tree.fields.get(name);
    if (tree.values === undefined && known === undefined) continue;
    const below = { value: item ?? null, old: field(old, name), ratchet: belowField(place.ratchet, name) };
    if (tree.values !== undefined) yield* visit(state, tree.values, { path: key(path, name), ...below });
    if (known !== undefined) yield* visit(state, known, { path: child(path, name), ...below });
    if (state.budget < 0) return;
  }
}

function belowField(ratchet: Ratchet, name: string): Ratchet {
  if (ratchet.own === undefined) return ratchet;
  if (ratchet.parent === undefined && (name === "apiVersion" || name === "kind")) return { own: undefined, parent: undefined };
  return { own: ratchet.own.field(name), parent: ratchet.own };
}

function isTolerated(ratchet: Ratchet): boolean {
  return (ratchet.own ?? ratchet.parent)?.isUnchanged() === true;
}

function* runOwnRules(state: State, tree: RuleTree, { path, value, old, ratchet }: Place): Paced<void> {
  const { type } = tree.schema;
  if (state.budget <= 0) return spend(state, path, type);
  const schema = tree.isResource ? withResourceFields(tree.schema) : tree.schema;
  const self = schemaValue(value, schema);
  const oldSelf = old === undefined || old === null ? undefined : schemaValue(old, schema);
  for (const compiled of tree.rules) {
    yield;
    const cause = runRule(state, compiled, { path, value, type, self, oldSelf });
    if (cause !== undefined) {
      const counts = cause.always || compiled.usesOldSelf || !isTolerated(ratchet);
      (counts ? state.causes : state.tolerated).push(cause.cause);
    }
    if (state.budget < 0) return;
  }
}

function spend(state: State, path: CausePath, type: string): void {
  state.causes.push(outOfBudget(path, type));
  state.budget = -1;
}
