/** Field selectors: `metadata.name=x,spec.nodeName!=`. Only fields that the kind declares can be asked for. */
import { err, ok, type Result } from "#base";
import type { KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";

export type FieldTerm = { readonly field: string; readonly value: string; readonly equal: boolean };

const COMMON: ReadonlyMap<string, (object: KubeObject) => string> = new Map([
  ["metadata.name", (object) => object.metadata.name],
  ["metadata.namespace", (object) => object.metadata.namespace ?? ""],
]);

export function parseFieldSelector(text: string, type: ResourceType): Result<readonly FieldTerm[], string> {
  const terms: FieldTerm[] = [];
  for (const term of readTerms(text)) {
    if (!term.ok) return term;
    if (readerOf(type, term.value.field) === undefined) return err(unknownField(type, term.value.field));
    terms.push(term.value);
  }
  return ok(terms);
}

/** Whatever fields it names. */
export function parseFieldTerms(text: string): Result<readonly FieldTerm[], string> {
  const terms: FieldTerm[] = [];
  for (const term of readTerms(text)) {
    if (!term.ok) return term;
    terms.push(term.value);
  }
  return ok(terms);
}

function* readTerms(text: string): Generator<Result<FieldTerm, string>> {
  for (const part of splitTerms(text)) {
    if (part === "") continue;
    const term = parseTerm(part);
    yield term === undefined ? err(`invalid selector: '${text}'; can't understand '${part}'`) : ok(term);
  }
}

/** Kinds with selectors of their own word it differently from those that have only the two of everybody. */
function unknownField(type: ResourceType, field: string): string {
  if (type.fieldSelectors.size === 0 && !type.custom)
    return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
  return `field label not supported: ${field}`;
}

/** A backslash takes the meaning from `,`, `=` and `\`. */
function splitTerms(text: string): string[] {
  return text.split(/(?<!\\)(?:\\\\)*,/);
}

function parseTerm(part: string): FieldTerm | undefined {
  const operator = /^((?:[^\\=!]|\\.)*?)(!=|==|=)(.*)$/s.exec(part);
  if (operator === null) return undefined;
  const [, field = "", sign, value = ""] = operator;
  if (/(?<!\\)=/.test(value)) return undefined;
  return { field, value: value.replace(/\\([\\,=])/g, "$1"), equal: sign !== "!=" };
}

function readerOf(type: ResourceType, field: string): ((object: KubeObject) => string | readonly string[]) | undefined {
  return COMMON.get(field) ?? type.fieldSelectors.get(field);
}

export function fieldsMatch(terms: readonly FieldTerm[], type: ResourceType, object: KubeObject): boolean {
  return terms.every(({ field, value, equal }) => {
    const own = readerOf(type, field)?.(object);
    return (typeof own === "string" ? own === value : own?.includes(value) === true) === equal;
  });
}

/** The one name that can match, when the selector says so: then nothing needs to be scanned. */
export function exactName(terms: readonly FieldTerm[]): string | undefined {
  return terms.find(({ field, equal }) => field === "metadata.name" && equal)?.value;
}

export function exactNamespace(terms: readonly FieldTerm[]): string | undefined {
  return terms.find(({ field, equal }) => field === "metadata.namespace" && equal)?.value;
}
