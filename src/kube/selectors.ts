/** Label selectors: parsed from kubectl's text or a LabelSelector object, matched, and formatted for a query string. */
import { collect, err, map, memoizeByObject, ok, type Result } from "#base";
import { compiledSelector, isWhole, valueSet } from "./compiled-selector.ts";
import { parseLabelKey, parseLabelValue } from "./names.ts";

export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
};

export type Requirement =
  | { readonly key: string; readonly operator: "in" | "notin"; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: "exists" | "absent" }
  | { readonly key: string; readonly operator: "greater" | "less"; readonly value: number };

type Labels = Readonly<Record<string, string>> | undefined;

/** Selectors with more requirements, or more values in one, are compiled. */
const FEW = 8;

export function matches(requirements: readonly Requirement[], labels: Labels): boolean {
  if (requirements.length > FEW) return compiledSelector(requirements).matches(labels);
  return requirements.every((requirement) => holds(requirement, labels));
}

function holds(requirement: Requirement, labels: Labels): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case "in":
      return value !== undefined && isAmong(requirement.values, value);
    case "notin": // matches objects without the label
      return value === undefined || !isAmong(requirement.values, value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    case "greater":
      return value !== undefined && isWhole(value) && Number(value) > requirement.value;
    case "less":
      return value !== undefined && isWhole(value) && Number(value) < requirement.value;
  }
}

function isAmong(values: readonly string[], value: string): boolean {
  return values.length > FEW ? valueSet(values).has(value) : values.includes(value);
}

/**
 * An empty LabelSelector selects everything; the meaning of an absent one depends on the field, so the caller decides. Selectors are
 * immutable, and one is matched against many objects, so its requirements are cached.
 */
export function requirementsOf(selector: LabelSelector): readonly Requirement[] {
  const { matchLabels, matchExpressions } = selector;
  return (matchExpressions ?? []).length === 0 ? requirementsOfLabels(matchLabels ?? NO_LABELS) : readSelector(selector);
}

const NO_LABELS = {};
const requirementsOfLabels = memoizeByObject((labels: Readonly<Record<string, string>>): readonly Requirement[] =>
  Object.entries(labels).map(([key, value]) => ({ key, operator: "in", values: [value] })),
);

const readSelector = memoizeByObject(({ matchLabels, matchExpressions }: LabelSelector): readonly Requirement[] => {
  const expressions = (matchExpressions ?? []).map(({ key, operator, values }): Requirement => {
    switch (operator) {
      case "In":
        return { key, operator: "in", values: values ?? [] };
      case "NotIn":
        return { key, operator: "notin", values: values ?? [] };
      case "Exists":
        return { key, operator: "exists" };
      case "DoesNotExist":
        return { key, operator: "absent" };
    }
  });
  return [...requirementsOfLabels(matchLabels ?? NO_LABELS), ...expressions];
});

/** The format of kubectl: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>5`. */
export function parseSelector(text: string): Result<readonly Requirement[], string> {
  if (text.trim() === "") return ok([]);
  const parsed = collect(splitTerms(text).map(parseTerm));
  return parsed.ok ? parsed : err(`unable to parse selector "${text}": ${parsed.error.join("; ")}`);
}

/** Commas inside `( … )` separate values, not terms. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    else if (text[at] === ")") depth -= 1;
    else if (text[at] === "," && depth === 0) {
      terms.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...terms, text.slice(start).trim()];
}

const SET_TERM = /^([^\s!=<>(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const COMPARE_TERM = /^([^\s!=<>(),]+)\s*(==|=|!=|>|<)\s*([^\s!=<>(),]*)$/;
const KEY_TERM = /^(!?)\s*([^\s!=<>(),]+)$/;

function parseTerm(term: string): Result<Requirement, string> {
  const set = SET_TERM.exec(term);
  if (set !== null) {
    const [, key = "", operator, values = ""] = set;
    return requirement(
      key,
      values.split(",").map((value) => value.trim()),
      (list) => ({ key, operator: operator === "in" ? "in" : "notin", values: list }),
    );
  }
  const compare = COMPARE_TERM.exec(term);
  if (compare !== null) {
    const [, key = "", operator, value = ""] = compare;
    if (operator === ">" || operator === "<") {
      if (!isWhole(value)) return err(`"${value}" must be an integer for '${operator}'`);
      return requirement(key, [], () => ({ key, operator: operator === ">" ? "greater" : "less", value: Number(value) }));
    }
    return requirement(key, [value], (values) => ({ key, operator: operator === "!=" ? "notin" : "in", values }));
  }
  const bare = KEY_TERM.exec(term);
  if (bare !== null) {
    const [, not, key = ""] = bare;
    return requirement(key, [], () => ({ key, operator: not === "!" ? "absent" : "exists" }));
  }
  return err(`"${term}" is not a requirement`);
}

function requirement(
  key: string,
  values: readonly string[],
  make: (values: readonly string[]) => Requirement,
): Result<Requirement, string> {
  const checked = parseLabelKey(key);
  if (!checked.ok) return checked;
  const parsed = collect(values.map(parseLabelValue));
  return parsed.ok ? map(parsed, make) : err(parsed.error.join("; "));
}

export function formatSelector(requirements: readonly Requirement[]): string {
  return requirements.map(formatRequirement).join(",");
}

function formatRequirement(requirement: Requirement): string {
  switch (requirement.operator) {
    case "in":
      return requirement.values.length === 1
        ? `${requirement.key}=${requirement.values[0]}`
        : `${requirement.key} in (${requirement.values.join(",")})`;
    case "notin":
      return requirement.values.length === 1
        ? `${requirement.key}!=${requirement.values[0]}`
        : `${requirement.key} notin (${requirement.values.join(",")})`;
    case "exists":
      return requirement.key;
    case "absent":
      return `!${requirement.key}`;
    case "greater":
      return `${requirement.key}>${requirement.value}`;
    case "less":
      return `${requirement.key}<${requirement.value}`;
  }
}
