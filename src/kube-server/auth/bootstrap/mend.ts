/**
 * A changed default Role or binding gets back what was removed; additions stay. To opt out, set the
 * annotation `rbac.authorization.kubernetes.io/autoupdate` to "false".
 */
import { fieldAt, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { readRules, ruleObject, uncovered } from "../rbac/rules.ts";
import { isUntouched, type DefaultObject } from "./rbac-defaults.ts";

const AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate";

/** `undefined`: nothing is missing. */
export function mended(object: KubeObject, wanted: DefaultObject): KubeObject | undefined {
  const isDefault = wanted.annotations[AUTOUPDATE] !== undefined;
  if (!isDefault || isUntouched(object, wanted) || object.metadata.annotations?.[AUTOUPDATE] !== "true") return undefined;
  const [rules, subjects] = [withMissingRules(object, wanted), withMissingSubjects(object, wanted)];
  if (rules === undefined && subjects === undefined) return undefined;
  const changes: JsonObject = { ...(rules === undefined ? {} : { rules }), ...(subjects === undefined ? {} : { subjects }) };
  return { ...object, ...changes };
}

function withMissingRules(object: KubeObject, { content }: DefaultObject): Json | undefined {
  // the rules of an aggregated role belong to the aggregation controller
  if (content["aggregationRule"] !== undefined || content["rules"] === undefined) return undefined;
  const missing = uncovered(readRules(fieldAt(object, "rules")), readRules(content["rules"]));
  return missing.length === 0 ? undefined : [...listOf(fieldAt(object, "rules")), ...missing.map(ruleObject)];
}

function withMissingSubjects(object: KubeObject, { content }: DefaultObject): Json | undefined {
  const known = listOf(fieldAt(object, "subjects"));
  const missing = listOf(content["subjects"]).filter((subject) => !known.some((own) => jsonEqual(own, subject)));
  return missing.length === 0 ? undefined : [...known, ...missing];
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
