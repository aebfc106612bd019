/** When a Job has failed or succeeded early: its podFailurePolicy and successPolicy. */
import { repeats } from "#base";
import type { Json, JsonObject } from "#kube";
import { at, listAt, numberAt, objectAt, objectsAt, textAt } from "../draft.ts";
import { duplicate, invalid, invalidEach, nonNegative, notSupported, required, tooLong, tooMany, type Causes } from "./causes.ts";
import { qualifiedName } from "./formats.ts";

const MAX_RULES = 20;
const MAX_VALUES = 255;
const MAX_INDEXES = 64 * 1024;
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const STATUSES = ["False", "True", "Unknown"];

export function validateFailurePolicy(spec: JsonObject, path: string): Causes {
  const rules = objectsAt(spec, "podFailurePolicy", "rules");
  return [
    ...(rules.length > MAX_RULES ? [tooMany(`${path}.rules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, index) => validateRule(rule, spec, `${path}.rules[${index}]`)),
  ];
}

function validateRule(rule: JsonObject, spec: JsonObject, path: string): Causes {
  const [codes, conditions] = [objectAt(rule, "onExitCodes"), objectsAt(rule, "onPodConditions")];
  return [
    ...validateAction(textAt(rule, "action"), spec, `${path}.action`),
    ...(codes === undefined ? [] : validateExitCodes(codes, containerNames(spec), `${path}.onExitCodes`)),
    ...validatePatterns(conditions, `${path}.onPodConditions`),
    ...(codes !== undefined && conditions.length > 0
      ? [unshown(path, "specifying both OnExitCodes and OnPodConditions is not supported")]
      : []),
    ...(codes === undefined && conditions.length === 0
      ? [unshown(path, "specifying one of OnExitCodes and OnPodConditions is required")]
      : []),
  ];
}

/** A cause that leaves out the value. */
function unshown(field: string, detail: string): Causes[number] {
  return { reason: "FieldValueInvalid", field, detail: `Invalid value: ${detail}` };
}

/** As Go prints a list of texts. */
const goList = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;

function requiredOneOf(value: string, supported: readonly string[], path: string): Causes {
  if (value === "") return [required(path, `valid values: ${goList(supported)}`)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

function validateAction(action: string, spec: JsonObject, path: string): Causes {
  const lonely = action === "FailIndex" && numberAt(spec, "backoffLimitPerIndex") === undefined;
  return lonely ? [invalid(path, action, "requires the backoffLimitPerIndex to be set")] : requiredOneOf(action, ACTIONS, path);
}

function containerNames(spec: JsonObject): readonly string[] {
  const template = objectAt(spec, "template", "spec");
  return ["containers", "initContainers"].flatMap((list) => objectsAt(template, list).map((container) => textAt(container, "name")));
}

function validateExitCodes(codes: JsonObject, names: readonly string[], path: string): Causes {
  const [operator, container, values] = [textAt(codes, "operator"), at(codes, "containerName"), listAt(codes, "values")];
  const unknown = typeof container === "string" && !names.includes(container);
  return [
    ...requiredOneOf(operator, OPERATORS, `${path}.operator`),
    ...(unknown
      ? [invalid(`${path}.containerName`, container, "must be one of the container or initContainer names in the pod template")]
      : []),
    ...(values.length === 0 ? [invalid(`${path}.values`, [], "at least one value is required")] : []),
    ...(values.length > MAX_VALUES ? [tooMany(`${path}.values`, values.length, MAX_VALUES)] : []),
    ...validateValues(values, operator, `${path}.values`),
  ];
}

function validateValues(values: readonly Json[], operator: string, path: string): Causes {
  const ordered = values.every((value, index) => index === 0 || Number(values[index - 1]) <= Number(value));
  const stoodBefore = repeats(values);
  return [
    ...values.flatMap((value, index) => [
      ...(operator === "In" && value === 0 ? [invalid(`${path}[${index}]`, value, "must not be 0 for the In operator")] : []),
      ...(stoodBefore(value, index) ? [duplicate(`${path}[${index}]`, value)] : []),
    ]),
    ...(ordered ? [] : [invalid(path, [...values], "must be ordered")]),
  ];
}

function validatePatterns(patterns: readonly JsonObject[], path: string): Causes {
  return [
    ...(patterns.length > MAX_RULES ? [tooMany(path, patterns.length, MAX_RULES)] : []),
    ...patterns.flatMap((pattern, index) => [
      ...invalidEach(`${path}[${index}].type`, textAt(pattern, "type"), qualifiedName(textAt(pattern, "type"))),
      ...requiredOneOf(textAt(pattern, "status"), STATUSES, `${path}[${index}].status`),
    ]),
  ];
}

/** Of an indexed Job: only its Pods have an index. */
export function validateSuccessPolicy(spec: JsonObject, path: string): Causes {
  const rules = objectsAt(spec, "successPolicy", "rules");
  const completions = numberAt(spec, "completions") ?? 0;
  return [
    ...(rules.length === 0 ? [required(`${path}.rules`, "at least one rules must be specified when the successPolicy is specified")] : []),
    ...(rules.length > MAX_RULES ? [tooMany(`${path}.rules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, index) => validateSuccessRule(rule, completions, `${path}.rules[${index}]`)),
  ];
}

function validateSuccessRule(rule: JsonObject, completions: number, path: string): Causes {
  const [count, indexes] = [numberAt(rule, "succeededCount"), at(rule, "succeededIndexes")];
  const given = typeof indexes === "string" ? indexes : undefined;
  const read = given === undefined ? undefined : readIndexes(given, completions);
  const tooMuch = (max: number, what: string) =>
    count !== undefined && count > max
      ? [invalid(`${path}.succeededCount`, count, `must be less than or equal to ${max} (the number of ${what})`)]
      : [];
  return [
    ...(count === undefined && given === undefined
      ? [required(path, "at least one of succeededCount or succeededIndexes must be specified")]
      : []),
    ...((given ?? "").length > MAX_INDEXES ? [tooLong(`${path}.succeededIndexes`, MAX_INDEXES)] : []),
    ...(typeof read === "string" ? [invalid(`${path}.succeededIndexes`, given, `error parsing succeededIndexes: ${read}`)] : []),
    ...nonNegative(`${path}.succeededCount`, count),
    ...tooMuch(completions, "specified completions"),
    ...(read === undefined ? [] : tooMuch(typeof read === "string" ? 0 : read, "indexes in the specified succeededIndexes field")),
  ];
}

/** How many indexes "1,3-5" stands for; a text says what is wrong with it. */
function readIndexes(text: string, completions: number): number | string {
  if (text === "") return 0;
  let [last, total] = [-1, 0];
  for (const part of text.split(",")) {
    const limits = part.split("-");
    if (limits.length > 2) {
      const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
      return `the fragment ${JSON.stringify(part)} ${rule}`;
    }
    const wrong = limits.find((limit) => !/^[+-]?[0-9]+$/.test(limit) || Number(limit) >= completions);
    if (wrong !== undefined) {
      const number = /^[+-]?[0-9]+$/.test(wrong);
      return `${number ? "too large index" : "cannot convert string to integer for index"}: ${JSON.stringify(wrong)}`;
    }
    const [from = 0, to = from] = limits.map(Number);
    if (limits.length === 2 && from >= to) return `non-increasing order, previous: ${from}, current: ${to}`;
    if (last >= from) return `non-increasing order, previous: ${last}, current: ${from}`;
    total += to - from + 1;
    last = to;
  }
  return total;
}
