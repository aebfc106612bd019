/**
 * Regular expressions of CRDs and CEL rules: RE2, as in the API server, so that no pattern can take more than linear time.
 *
 * Compiled patterns are cached up to a limit; a schema has few of them, and they are used for every object.
 */
import { boundedMap, describeThrown, err, fromThrowing, type Result } from "#base";
import { RE2JS } from "re2js";

/** The limit for the instructions of all cached programs: about 50 MB. */
const MAX_KEPT_INSTRUCTIONS = 250_000;
/** The smallest size that a program counts as, so that at most 4,000 are cached. */
const LEAST_WEIGHT = MAX_KEPT_INSTRUCTIONS / 4_000;
/** A larger program takes longer to compile than a request may block the event loop. */
const MAX_INSTRUCTIONS = 40_000;

const compiled = boundedMap<string, Result<RE2JS, string>>({
  limit: MAX_KEPT_INSTRUCTIONS,
  weigh: (result, pattern) => Math.max(LEAST_WEIGHT, result.ok ? result.value.programSize() : pattern.length),
  longestKey: MAX_INSTRUCTIONS,
});

export const compileRegex = compiled.memoize(compile);

export function isCompiled(pattern: string): boolean {
  return compiled.has(pattern);
}

function compile(pattern: string): Result<RE2JS, string> {
  if (programEstimate(pattern) > MAX_INSTRUCTIONS) return err("error parsing regexp: expression too large");
  return fromThrowing(() => RE2JS.compile(pattern), describeThrown);
}

/** A piece of a pattern: a class, an escape, the start or the end of a group, a repetition with numbers, or one character. */
const PIECE = /\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|\((?:\?[a-zA-Z-]*:?)?|\)|\{(\d{1,4})(?:,(\d{0,4}))?\}|[^]/gsu;

/** The approximate number of instructions of a compiled pattern: `a{1,100}` is a hundred times `a`. Never far too small. */
export function programEstimate(pattern: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  for (const [piece, least, most] of pattern.matchAll(PIECE)) {
    if (piece.startsWith("(")) {
      outer.push(size);
      [size, last] = [0, 0];
    } else if (piece === ")") {
      last = size + 2;
      size = (outer.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const times = Math.max(1, Number(least) + 1, Number(most ?? 0));
      size += last * (times - 1) * 2;
      last *= times * 2;
    } else {
      last = 2;
      size += last;
    }
  }
  return outer.reduce((total, one) => total + one, size);
}

/** The limit of characters times instructions for the patterns of one object: at worst about a quarter of a second. */
export const MAX_PATTERN_STEPS = 3_000_000;

/** The remaining budget for the patterns of one object. RE2 takes linear time, but a text of a megabyte and a large pattern take seconds. */
export class PatternBudget {
  #left = MAX_PATTERN_STEPS;

  /** Whether the pattern matches anywhere in the text; undefined for an invalid pattern. */
  matches(pattern: string, text: string): boolean | "too long" | undefined {
    const regex = compileRegex(pattern);
    if (!regex.ok) return undefined;
    this.#left -= (text.length + 1) * regex.value.programSize();
    return this.#left < 0 ? "too long" : regex.value.matcher(text).find();
  }
}

/** Whether the pattern matches anywhere in the text; undefined for an invalid pattern. */
export function regexMatches(pattern: string, text: string): boolean | undefined {
  const regex = compileRegex(pattern);
  return regex.ok ? regex.value.matcher(text).find() : undefined;
}
