/**
 * `matches`, `find` and `findAll` through RE2. The time of a search is proportional to the text and to the size of the compiled pattern, which a
 * short pattern can make large (`(a{1,100}){1,10}`); the cost in Kubernetes depends on the length of the pattern only.
 */
import { compileRegex, isCompiled, programEstimate } from "../formats/regex.ts";
import type { Meter } from "../meter.ts";
import { CelFailure, failure, listOf, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";

/** At worst, for one character and one instruction. */
const WORK_PER_STEP = 8;
const WORK_PER_INSTRUCTION = 400;

type Regex = Extract<ReturnType<typeof compileRegex>, { readonly ok: true }>["value"];

function regexOf(pattern: string, meter: Meter, prefix = ""): Regex | CelFailure {
  const spent = isCompiled(pattern) ? undefined : meter.work(programEstimate(pattern) * WORK_PER_INSTRUCTION);
  if (spent !== undefined) return spent;
  const regex = compileRegex(pattern);
  return regex.ok ? regex.value : failure(`${prefix}${regex.error}`);
}

function searchWork(regex: Regex, length: number): number {
  return (length + 1) * regex.programSize() * WORK_PER_STEP;
}

export function matches(meter: Meter, text: string, pattern: string): CelValue {
  const regex = regexOf(pattern, meter);
  if (regex instanceof CelFailure) return regex;
  return meter.timed(searchWork(regex, text.length), () => regex.matcher(text).find());
}

function findSome(meter: Meter, texts: { readonly text: string; readonly pattern: string }, limit: number): string[] | CelFailure {
  const { text, pattern } = texts;
  const regex = regexOf(pattern, meter, "Illegal regex: ");
  if (regex instanceof CelFailure) return regex;
  const matcher = regex.matcher(text);
  const found: string[] = [];
  while (found.length < limit) {
    const rest = text.length - (found.length === 0 ? 0 : matcher.end());
    const next = meter.timed(searchWork(regex, rest), () => matcher.find());
    if (next instanceof CelFailure) return next;
    if (!next) break;
    found.push(matcher.group() ?? "");
  }
  return found;
}

export function find(meter: Meter, text: string, pattern: string): CelValue {
  const found = findSome(meter, { text, pattern }, 1);
  return found instanceof CelFailure ? found : (found[0] ?? "");
}

export function findAll(meter: Meter, text: string, pattern: string, limit: CelValue = -1n): CelValue {
  if (typeof limit !== "bigint") return NO_SUCH_OVERLOAD;
  const found = findSome(meter, { text, pattern }, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit));
  return found instanceof CelFailure ? found : listOf(found);
}
