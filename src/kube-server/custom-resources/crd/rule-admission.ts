/**
 * The rules of a CRD at admission: they must compile, and their estimated cost on the largest object that the schema allows is limited, for
 * each rule and in total.
 */
import { escapeName, MAX_COST, type DeclaredType } from "#cel";
import type { FieldCause } from "../../resource-type.ts";
import { forbidden, internalError, invalid } from "../causes/causes.ts";
import { child, index } from "../causes/field-path.ts";
import { compileRules, type CompiledRule } from "../rules/rules.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { printedRule } from "./go-internal.ts";
import { declaredType } from "../rules/schema-type.ts";

const RULE_COST_LIMIT = 10_000_000;
const CRD_COST_LIMIT = 100_000_000;

type Costly = { readonly path: string; readonly cost: number };
type Step = { readonly kind: "field"; readonly name: string } | { readonly kind: "items" } | { readonly kind: "values" };

/** The sum over a whole schema. */
class RuleCosts {
  total = 0;
  #costly: readonly Costly[] = [];

  observe(path: string, cost: number): void {
    this.total = Math.min(MAX_COST, this.total + cost);
    if (cost < CRD_COST_LIMIT / 100) return;
    this.#costly = [...this.#costly, { path, cost }].toSorted((a, b) => b.cost - a.cost).slice(0, 4);
  }

  causes(path: string): readonly FieldCause[] {
    if (this.total <= CRD_COST_LIMIT) return [];
    const detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [...this.#costly.map((one) => forbidden(one.path, detail)), forbidden(path, costText(name, this.total, CRD_COST_LIMIT))];
  }
}

function costText(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const text = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** A position in a schema: its type, and the largest number of values at this position in one object. */
export class RuleScope {
  readonly declared: DeclaredType | undefined;
  readonly costs: RuleCosts;
  readonly #schema: JsonSchema;
  /** Undefined: without limit. */
  readonly #cardinality: number | undefined;

  private constructor(schema: JsonSchema, declared: DeclaredType | undefined, cardinality: number | undefined, costs: RuleCosts) {
    this.#schema = schema;
    this.declared = declared;
    this.#cardinality = cardinality;
    this.costs = costs;
  }

  static root(schema: JsonSchema): RuleScope {
    return new RuleScope(schema, declaredType(schema, true), 1, new RuleCosts());
  }

  below(step: Step, schema: JsonSchema): RuleScope {
    const most = maxElements(this.#schema);
    const cardinality = this.#cardinality === undefined || most === undefined ? undefined : Math.min(MAX_COST, this.#cardinality * most);
    return new RuleScope(schema, this.#declaredBelow(step, schema), cardinality, this.costs);
  }

  /** A field whose name is no CEL identifier still has its own type. */
  #declaredBelow(step: Step, schema: JsonSchema): DeclaredType | undefined {
    const escaped = step.kind === "field" ? escapeName(step.name) : undefined;
    const known = step.kind === "field" ? (escaped === undefined ? undefined : this.declared?.fields.get(escaped)) : this.declared?.element;
    return known ?? declaredType(schema, schema.embeddedResource);
  }

  costOf(rule: CompiledRule): number {
    return Math.min(MAX_COST, rule.maxCost * (this.#cardinality ?? rule.maxCardinality));
  }
}

function maxElements(schema: JsonSchema): number | undefined {
  if (schema.type === "object" && schema.additionalProperties !== undefined) return atLeastZero(schema.maxProperties);
  return schema.type === "array" ? atLeastZero(schema.maxItems) : 1;
}

function atLeastZero(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(0, value);
}

export function ruleCauses(schema: JsonSchema, path: string, scope: RuleScope, uncorrelatable: string | undefined): readonly FieldCause[] {
  if (scope.declared === undefined) {
    const detail =
      "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
    return [internalError(path, detail)];
  }
  return compileRules(schema, scope.declared).flatMap((compiled, position) => {
    const at = index(path, position);
    return [...costAndCompileCauses(compiled, at, scope), ...oldSelfCauses(compiled, at, uncorrelatable)];
  });
}

function costAndCompileCauses(compiled: CompiledRule, path: string, scope: RuleScope): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const cost = scope.costOf(compiled);
  const [rule, message] = [child(path, "rule"), child(path, "messageExpression")];
  if (cost > RULE_COST_LIMIT) causes.push(forbidden(rule, costText("estimated rule cost", cost, RULE_COST_LIMIT)));
  scope.costs.observe(rule, cost);
  if (compiled.error !== undefined) causes.push(invalid(rule, printedRule(compiled.rule), compiled.error));
  if (compiled.messageError !== undefined) causes.push(invalid(message, printedRule(compiled.rule), compiled.messageError));
  else if (compiled.messageProgram !== undefined) {
    if (compiled.messageMaxCost > RULE_COST_LIMIT) {
      causes.push(forbidden(message, costText("estimated messageExpression cost", compiled.messageMaxCost, RULE_COST_LIMIT)));
    }
    scope.costs.observe(message, compiled.messageMaxCost);
  }
  return causes;
}

function oldSelfCauses(compiled: CompiledRule, path: string, uncorrelatable: string | undefined): readonly FieldCause[] {
  const { rule } = compiled;
  if (compiled.usesOldSelf && uncorrelatable !== undefined) {
    return [
      invalid(
        child(path, "rule"),
        rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
      ),
    ];
  }
  if (compiled.usesOldSelf || rule.optionalOldSelf === undefined) return [];
  return [invalid(child(path, "optionalOldSelf"), rule.optionalOldSelf, "may not be set if oldSelf is not used in rule")];
}
