/** The compiled rules of a schema, as a tree with the structure of the schema. */
import { escapeName, type DeclaredType } from "#cel";
import { valueSchema, type JsonSchema } from "../schema/json-schema.ts";
import { compileRules, type CompiledRule } from "./rules.ts";
import { declaredType } from "./schema-type.ts";

/** Undefined where neither the schema nor anything below it has rules. */
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
