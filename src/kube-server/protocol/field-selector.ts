/** Field selectors: `metadata.name=x,spec.nodeName!=`. Only fields that the kind declares can be selected. */
import { err, memoizeByObject, ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";

export type FieldTerm = { readonly field: string; readonly value: string; readonly equal: boolean };

const COMMON: ReadonlyMap<string, (object: KubeObject) => string> = new Map([
  ["metadata.name", (object) => object.metadata.name],
  ["metadata.namespace", (object) => object.metadata.namespace ?? ""],
]);

/** Syntax errors of the whole selector are reported before unknown fields. */
export function parseFieldSelector(text: string, type: ResourceType): Result<readonly FieldTerm[], string> {
  const terms = parseFieldTerms(text);
  if (!terms.ok) return terms;
  const unknown = terms.value.find(({ field }) => readerOf(type, field) === undefined);
  return unknown === undefined ? terms : err(unknownField(type, unknown.field));
}

/** A watch keeps its selector in memory, and there may be thousands of watches. */
const MAX_FIELD_TERMS = 1_000;

/** Does not check whether the fields exist. A term without a field and without a value selects everything. */
export function parseFieldTerms(text: string): Result<readonly FieldTerm[], string> {
  const terms: FieldTerm[] = [];
  const parts = splitTerms(text);
  if (parts.length > MAX_FIELD_TERMS) return err(`fieldSelector: has ${parts.length} terms; must have at most ${MAX_FIELD_TERMS}`);
  for (const part of parts.toSorted()) {
    if (part === "") continue;
    const [, field, sign, escaped = ""] = /^(.*?)(!=|==|=)(.*)$/s.exec(part) ?? [];
    if (field === undefined) return err(`invalid selector: '${text}'; can't understand '${part}'`);
    const value = unescape(escaped);
    if (!value.ok) return value;
    if (field !== "" || value.value !== "") terms.push({ field, value: value.value, equal: sign !== "!=" });
  }
  return ok(terms);
}

/** The message differs between kinds with selectors of their own and kinds that have only the two common ones. */
function unknownField(type: ResourceType, field: string): string {
  if (type.fieldSelectors.size === 0 && !type.custom)
    return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
  if (type.collection === "batch/jobs") return `field label ${JSON.stringify(field)} not supported for Job`;
  if (type.collection === "resource.k8s.io/resourceslices")
    return `field label not supported for resource.k8s.io/${type.resource.version}, Kind=ResourceSlice: ${field}`;
  return `field label not supported: ${field}`;
}

/** A backslash escapes the next character. */
function splitTerms(text: string): string[] {
  return text.match(/(?:[^\\,]|\\.?)+/gs) ?? [];
}

function unescape(escaped: string): Result<string, string> {
  const invalidSelector = (what: string) => err(`invalid field selector: ${what}`);
  let value = "";
  for (const [part = ""] of escaped.matchAll(/\\?.|\\/gsu)) {
    if (part === "\\" || (part.length > 1 && part.startsWith("\\") && !"\\,=".includes(part.slice(1))))
      return invalidSelector(`invalid escape sequence: ${part}`);
    if (part === "," || part === "=") return invalidSelector(`unescaped character in value: ${part.charCodeAt(0)}`);
    value += part.replace(/^\\/, "");
  }
  return ok(value);
}

function readerOf(type: ResourceType, field: string): ((object: KubeObject) => string | readonly string[]) | undefined {
  return COMMON.get(field) ?? type.fieldSelectors.get(field);
}

export function fieldsMatch(terms: readonly FieldTerm[], type: ResourceType, object: KubeObject): boolean {
  if (terms.length > FEW) return joinedByField(terms).every((rule) => ruleHolds(rule, readerOf(type, rule.field)?.(object)));
  return terms.every(({ field, value, equal }) => {
    const own = readerOf(type, field)?.(object);
    return (typeof own === "string" ? own === value : own?.includes(value) === true) === equal;
  });
}

/** More terms than these are joined by field, so that each field is read once. */
const FEW = 8;
type FieldRule = { readonly field: string; readonly wanted: Set<string>; readonly unwanted: Set<string> };

/** A selector is matched against every object of a list. */
const joinedByField = memoizeByObject((terms: readonly FieldTerm[]): readonly FieldRule[] => {
  const rules = new Map<string, FieldRule>();
  for (const { field, value, equal } of terms) {
    const rule = rules.get(field) ?? { field, wanted: new Set(), unwanted: new Set() };
    rules.set(field, rule);
    (equal ? rule.wanted : rule.unwanted).add(value);
  }
  return [...rules.values()];
});

/** A field with several values must contain every wanted one. */
function ruleHolds({ wanted, unwanted }: FieldRule, own: string | readonly string[] | undefined): boolean {
  const values = new Set(typeof own === "string" ? [own] : own);
  return [...values].every((value) => !unwanted.has(value)) && [...wanted].every((value) => values.has(value));
}

/** The only name that can match, if the selector names one: then no scan is needed. */
export function exactName(terms: readonly FieldTerm[]): string | undefined {
  return terms.find(({ field, equal }) => field === "metadata.name" && equal)?.value;
}

export function exactNamespace(terms: readonly FieldTerm[]): string | undefined {
  return terms.find(({ field, equal }) => field === "metadata.namespace" && equal)?.value;
}
