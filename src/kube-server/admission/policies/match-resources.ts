/** `matchConstraints` of a policy and `matchResources` of a binding, which have the same fields and meaning. */
import { ok, type Result } from "#base";
import { field, type Json } from "#kube";
import type { Failure } from "../../protocol/status.ts";
import {
  matchedIn,
  matchRules,
  readRules,
  readSelector,
  selectsNamespace,
  selectsObject,
  type MatchedRule,
  type MatchPolicy,
  type AdmissionRule,
  type Selector,
} from "../matching/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";

export type MatchResources = {
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  /** Empty: every request matches. */
  readonly rules: readonly AdmissionRule[];
  readonly excluded: readonly AdmissionRule[];
  readonly policy: MatchPolicy;
};

export function readMatchResources(resources: Json | undefined): MatchResources {
  return {
    namespaceSelector: readSelector(field(resources, "namespaceSelector")),
    objectSelector: readSelector(field(resources, "objectSelector")),
    rules: readRules(field(resources, "resourceRules")),
    excluded: readRules(field(resources, "excludeResourceRules")),
    policy: field(resources, "matchPolicy") === "Exact" ? "Exact" : "Equivalent",
  };
}

/** A missing namespace is an error only for policies whose rules match. */
export function matchResources(
  resources: MatchResources,
  attributes: Attributes,
  context: AdmissionContext,
): Result<MatchedRule | undefined, Failure> {
  const inNamespace = selectsNamespace(resources.namespaceSelector, attributes, context);
  if (inNamespace.ok && !inNamespace.value) return ok(undefined);
  if (!selectsObject(resources.objectSelector, attributes)) return ok(undefined);
  const options = { types: context.types, policy: resources.policy };
  if (matchRules(resources.excluded, attributes, options) !== undefined) return ok(undefined);
  const { rules } = resources;
  const matched = rules.length === 0 ? matchedIn(attributes.type, attributes) : matchRules(rules, attributes, options);
  return matched === undefined || inNamespace.ok ? ok(matched) : inNamespace;
}
