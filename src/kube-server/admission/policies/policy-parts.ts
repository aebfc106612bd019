/** Readers for the fields that both kinds of policies have. */
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import type { NamedExpression } from "../../admission-cel/index.ts";
import { textAt } from "./policy-list.ts";

export function namedExpressions(policy: KubeObject): readonly NamedExpression[] {
  return itemsAt(policy, "variables").map((variable) => ({ name: textAt(variable, "name"), expression: textAt(variable, "expression") }));
}

export function conditionsOf(policy: KubeObject): readonly { readonly expression: string }[] {
  return itemsAt(policy, "matchConditions").map((condition) => ({ expression: textAt(condition, "expression") }));
}

export function itemsAt(policy: KubeObject, list: string): readonly JsonObject[] {
  const items = field(field(policy, "spec"), list);
  return Array.isArray(items) ? (items as readonly Json[]).filter(isJsonObject) : [];
}
