/**
 * The JSONPath of printer columns and selectable fields, with the syntax of kubectl's templates: names, indices, slices, unions, `*`,
 * `..` and filters of one comparison.
 *
 * Surprise: `['a.b']` means `.a.b`, and double quotes are no quotes there: a name with a dot is written `a\.b`.
 */
import { err, ok, type Result } from "#base";
import type { Json } from "#kube";
import { chain, children, descendants, filter, member, slice, union, type PathStep, type VisitBudget } from "./json-path-steps.ts";

/** How many values one path may visit. */
export const MAX_VISITS = 50_000;

/** The caller may use the rest of the budget afterwards. */
export type JsonPath = (root: Json, budget?: VisitBudget) => readonly Json[];

export function parseJsonPath(text: string): Result<JsonPath, string> {
  const step = parseSteps(text);
  return step.ok ? ok((root, budget = { left: MAX_VISITS }) => step.value([root], budget) ?? []) : step;
}

/** The length of a step in the text, and its function. */
type Parsed = { readonly length: number; readonly step: PathStep };

const NAME = String.raw`(?:\\.|[^\\\s.,[\]$@{}])*`;
const FILTER = /^\[\?\(((?:"[^"]*"|'[^']*'|[^"')])*)\)\]/;
const DESCENT = new RegExp(String.raw`^\.\.([\w]${NAME})?`, "su");
const FIELD = new RegExp(String.raw`^\.(${NAME})`, "su");
const LITERAL = /^(?:(["'])([^"']*)\1|([+-]?\d+(?:\.\d+)?)|(true|false)\b)/;

function parseSteps(text: string): Result<PathStep, string> {
  const steps: PathStep[] = [];
  let rest = text;
  while (rest !== "") {
    const parsed = parseStep(rest);
    if (!parsed.ok) return parsed;
    steps.push(parsed.value.step);
    rest = rest.slice(parsed.value.length);
  }
  return ok(chain(steps));
}

function parseStep(rest: string): Result<Parsed, string> {
  if (/^[ @$]/.test(rest)) return ok({ length: 1, step: (values) => values });
  const filtered = FILTER.exec(rest);
  if (filtered !== null) return withLength(parseFilter(filtered[1] ?? ""), filtered[0].length);
  const descent = DESCENT.exec(rest);
  if (descent !== null) {
    const steps = descent[1] === undefined ? [descendants] : [descendants, member(descent[1])];
    return ok({ length: descent[0].length, step: chain(steps) });
  }
  const named = FIELD.exec(rest);
  if (named !== null) return ok({ length: named[0].length, step: named[1] === "*" ? children : member(unescaped(named[1] ?? "")) });
  const bracket = /^\[([^\]]*)\]/.exec(rest);
  if (bracket !== null) return withLength(parseBracket(bracket[1] ?? ""), bracket[0].length);
  const literal = LITERAL.exec(rest);
  if (literal !== null) return ok({ length: literal[0].length, step: constant(literal) });
  return err(`unrecognized character in action: ${rest}`);
}

function withLength(step: Result<PathStep, string>, length: number): Result<Parsed, string> {
  return step.ok ? ok({ length, step: step.value }) : step;
}

function unescaped(name: string): string {
  return name.replaceAll("\\", "");
}

function constant([whole, quote, text, number]: RegExpExecArray): PathStep {
  const value = quote !== undefined ? (text ?? "") : number === undefined ? whole === "true" : Number(number);
  return (values) => values.map(() => value);
}

function parseBracket(text: string): Result<PathStep, string> {
  if (text.includes(",")) {
    const parts = text.split(",").map((part) => parseBracket(part.trim()));
    const failed = parts.find((part) => !part.ok);
    return failed ?? ok(union(parts.flatMap((part) => (part.ok ? [part.value] : []))));
  }
  const quoted = /^'([^']*)'$/.exec(text);
  if (quoted !== null) return parseSteps(`.${quoted[1]}`);
  const sliced = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text === "*" ? ":" : text);
  if (sliced === null) return err(`invalid array index ${text}`);
  const numberOf = (part: string | undefined): number | undefined => {
    const digits = part?.replace(/^:/, "") ?? "";
    return digits === "" ? undefined : Number(digits);
  };
  const single = sliced[2] === undefined;
  return ok(slice({ start: numberOf(sliced[1]) ?? 0, end: numberOf(sliced[2]), step: numberOf(sliced[3]) ?? 1, single }));
}

/** `@.type=="Ready"`, or `@.name`, which tests whether the field exists. */
function parseFilter(text: string): Result<PathStep, string> {
  const parts = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text);
  const left = parseSteps(parts?.[1] ?? text);
  if (!left.ok || parts === null) return left.ok ? ok(filter(left.value, undefined)) : left;
  const right = parseSteps(parts[3] ?? "");
  return right.ok ? ok(filter(left.value, { left: left.value, operator: parts[2] ?? "", right: right.value })) : right;
}
