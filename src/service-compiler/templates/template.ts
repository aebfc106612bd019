/**
 * Parses Score's `${…}` in a text, and splits it at its dots. Nothing is evaluated; a placeholder is a path, not an expression.
 *
 * One pass from left to right, so the time is linear in the length of the text. `$${` is a literal `${`; a dot after a
 * backslash is part of the name.
 */
import { boundedMap, err, ok, type Result } from "#base";
import { MOST_PLACEHOLDERS, MOST_PROBLEMS } from "./budget.ts";

export type Placeholder = {
  readonly path: readonly string[];
  /** The text between `${` and `}`. */
  readonly text: string;
  readonly offset: number;
};

export type Part = string | Placeholder;
export type Template = readonly Part[];

export type TemplateProblem = {
  readonly message: string;
  /** Position in the text, counted from 1. */
  readonly line: number;
  readonly column: number;
  /** The param that contains the text: `params.database`. */
  readonly field?: string | undefined;
  /** The resource that causes the error. */
  readonly resource?: string | undefined;
  /** It exceeds the budget of the service. */
  readonly exceeded?: true | undefined;
  /** Not rendered, because the budget was exceeded at another field, which is reported there. */
  readonly repeated?: true | undefined;
};

const OPENING = "${";

export function hasPlaceholders(text: string): boolean {
  return text.includes(OPENING);
}

type Parsed = Result<Template, readonly TemplateProblem[]>;

/** Cache of parsed templates: services are similar and are compiled repeatedly. */
const parsed = boundedMap<string, Parsed>({ limit: 2_000, longestKey: 256 });

export function parseTemplate(text: string): Parsed {
  if (!hasPlaceholders(text)) return ok(text === "" ? [] : [text]);
  return parsed.get(text) ?? readOwn(text);
}

/** A substring keeps the whole file in memory, so the key and the result use a copy. */
function readOwn(text: string): Parsed {
  const own = text.split(OPENING).join(OPENING);
  return parsed.set(own, readTemplate(own));
}

function readTemplate(text: string): Parsed {
  const parts: Part[] = [];
  const problems: TemplateProblem[] = [];
  let places: ReturnType<typeof placesIn> | undefined;
  const problemAt = (offset: number, message: string) => (places ??= placesIn(text))(offset, message);
  let literal = "";
  let at = 0;
  let placeholders = 0;
  for (let open = text.indexOf(OPENING); open >= 0; open = text.indexOf(OPENING, at)) {
    if (text[open - 1] === "$" && open - 1 >= at) {
      literal += `${text.slice(at, open - 1)}${OPENING}`;
      at = open + OPENING.length;
      continue;
    }
    literal += text.slice(at, open);
    const end = text.indexOf("}", open);
    if (end < 0) {
      problems.push(problemAt(open, "'${' has no '}'; close it, or write '$${' for a literal '${'"));
      return err(problems);
    }
    const read = readPath(text.slice(open + OPENING.length, end));
    placeholders += 1;
    // rendering refuses it, so parsing stops here
    if (placeholders > MOST_PLACEHOLDERS + 1) return problems.length > 0 ? err(problems) : ok(parts);
    if (read.ok) {
      if (literal !== "") parts.push(literal);
      literal = "";
      parts.push({ path: read.value, text: text.slice(open + OPENING.length, end), offset: open });
    } else {
      problems.push(problemAt(open, read.error));
      if (problems.length >= MOST_PROBLEMS) return err(problems);
    }
    at = end + 1;
  }
  literal += text.slice(at);
  if (literal !== "") parts.push(literal);
  return problems.length > 0 ? err(problems) : ok(parts);
}

const LONGEST_PATH = 1_024;

/** Fast path for nearly all placeholders: names and dots only. */
const SIMPLE_PATH = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/** Dots separate names; `\.` is a dot inside a name. */
function readPath(text: string): Result<readonly string[], string> {
  if (text.length <= LONGEST_PATH && SIMPLE_PATH.test(text)) return ok(text.split("."));
  if (text.length > LONGEST_PATH) return err(`a placeholder of ${text.length} characters is too long; is a '}' missing before it?`);
  if (text === "") return err("'${}' names nothing; write what to fill in, such as ${metadata.name}");
  if (text.includes(OPENING)) return err(`'\${${text}}' has a '\${' inside; a placeholder cannot contain another`);
  if (/\s/.test(text)) return err(`'\${${text}}' has a space inside; write the path without spaces`);
  const names = text
    .replaceAll("\\.", "\0")
    .split(".")
    .map((name) => name.replaceAll("\0", "."));
  return names.includes("") ? err(`'\${${text}}' has an empty name between its dots`) : ok(names);
}

/** Line and column of offsets that are requested from left to right, so that one pass over the text is enough. */
export function placesIn(text: string): (offset: number, message: string) => TemplateProblem {
  let line = 1;
  let start = 0;
  return (offset, message) => {
    for (let next = text.indexOf("\n", start); next >= 0 && next < offset; next = text.indexOf("\n", start)) {
      line += 1;
      start = next + 1;
    }
    return { message, line, column: offset - start + 1 };
  };
}
