/** Defaults in a schema: each must be valid for the schema, rules included, and have no unknown fields. */
import { jsonEqual, type Json } from "#kube";
import { runAtOnce } from "../../pace.ts";
import type { FieldCause } from "../../resource-type.ts";
import { describeCauses, invalid } from "../causes/causes.ts";
import { child, key } from "../causes/field-path.ts";
import { ruleTree } from "../rules/rule-tree.ts";
import { OBJECT_COST_BUDGET, runRules } from "../rules/run-rules.ts";
import { coerceEmbedded, validateEmbedded } from "../schema/embedded.ts";
import { prune } from "../schema/prune.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { validateDefault } from "../validation/schema-validator.ts";

type Place = {
  readonly path: string;
  /** The nearest enclosing resource, and the path of the default in it. */
  readonly resource: JsonSchema;
  readonly steps: readonly string[];
  readonly insideMeta: boolean;
};

type Budget = { left: number };

export function defaultCauses(schema: JsonSchema, path: string): readonly FieldCause[] {
  const root: JsonSchema = { ...schema, embeddedResource: true };
  return visit(root, { path, resource: root, steps: [], insideMeta: false }, { left: OBJECT_COST_BUDGET });
}

function visit(schema: JsonSchema, outer: Place, budget: Budget): readonly FieldCause[] {
  const at = schema.embeddedResource ? { ...outer, resource: schema, steps: [], insideMeta: false } : outer;
  const causes = schema.default === undefined ? [] : [...ownCauses(schema, schema.default, at, budget)];
  const below = (inner: JsonSchema, path: string, step: string, insideMeta: boolean): void => {
    if (budget.left >= 0) causes.push(...visit(inner, { ...at, path, steps: [...at.steps, step], insideMeta }, budget));
  };
  if (schema.items !== undefined) below(schema.items, child(at.path, "items"), "[]", at.insideMeta);
  for (const [name, property] of schema.properties ?? []) {
    const isMeta = schema.embeddedResource && (name === "metadata" || name === "apiVersion" || name === "kind");
    below(property, key(child(at.path, "properties"), name), name, at.insideMeta || isMeta);
  }
  return causes;
}

function ownCauses(schema: JsonSchema, value: Json, at: Place, budget: Budget): readonly FieldCause[] {
  const path = child(at.path, "default");
  if (at.insideMeta) {
    const problem = metadataProblem(value, at);
    return problem === undefined
      ? valueCauses(schema, value, path, at, budget)
      : [invalid(path, value, `must result in valid metadata: ${problem}`)];
  }
  const causes: FieldCause[] = [];
  if (!jsonEqual(prune(value, schema, schema.embeddedResource).value, value))
    causes.push(invalid(path, value, "must not have unknown fields"));
  const coerced = coerceEmbedded(value, schema, path);
  if (!coerced.ok) return [...causes, coerced.error];
  const embedded = validateEmbedded(path, coerced.value.value, schema, schema.embeddedResource);
  return [...causes, ...(embedded.length > 0 ? embedded : valueCauses(schema, coerced.value.value, path, at, budget))];
}

/** The smallest resource that contains this default. */
function metadataProblem(value: Json, at: Place): string | undefined {
  const resource = { apiVersion: "validation/v1", kind: "Validation", ...(surrounded(value, at.steps) as object) } as Json;
  const coerced = coerceEmbedded(resource, at.resource);
  if (!coerced.ok) return describeCauses([coerced.error]);
  const causes = validateEmbedded(undefined, coerced.value.value, at.resource, true);
  return causes.length === 0 ? undefined : describeCauses(causes);
}

function surrounded(value: Json, steps: readonly string[]): Json {
  return steps.reduceRight((inner: Json, step) => (step === "[]" ? [inner] : { [step]: inner }), value);
}

function valueCauses(schema: JsonSchema, value: Json, path: string, at: Place, budget: Budget): readonly FieldCause[] {
  const causes = validateDefault(path, schema, value);
  if (causes.length > 0) return causes;
  const tree = ruleTree(schema, schema === at.resource);
  if (tree === undefined) return [];
  const changed = runAtOnce(runRules(tree, { path, value, old: value, budget: budget.left }));
  if (changed.causes.length > 0) {
    budget.left = changed.budget;
    return changed.causes;
  }
  const created = runAtOnce(runRules(tree, { path, value, old: undefined, budget: budget.left }));
  budget.left = Math.min(changed.budget, created.budget);
  return created.causes;
}
