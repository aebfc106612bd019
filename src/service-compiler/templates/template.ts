/**
 * Score's `${…}` in a text: found, and taken apart at its dots. Nothing is evaluated; a placeholder is a path and no expression.
 *
 * One pass from left to right: the length of the text is all that a hostile one can cost. `$${` is a `${` that means itself; a dot behind a
 * backslash belongs to the name around it.
 */
import { boundedMap, err, ok, type Result } from "#base";
import { MOST_PLACEHOLDERS, MOST_PROBLEMS } from "./budget.ts";

export type Placeholder = {
  readonly path: readonly string[];
  /** As it was written, without `${` and `}`. */
  readonly text: string;
  readonly offset: number;
};

export type Part = string | Placeholder;
export type Template = readonly Part[];

export type TemplateProblem = {
  readonly message: string;
  /** Where in the text: from 1, as editors count. */
  readonly line: number;
  readonly column: number;
  /** The param whose text it is: `params.database`. */
  readonly field?: string | undefined;
  /** The resource whose own fault it is. */
  readonly resource?: string | undefined;
  /** The budget of the service does not allow it. */
  readonly exceeded?: true | undefined;
  /** Not looked at, because the budget was exceeded at another place, which is reported there. */
  readonly repeated?: true | undefined;
};

const OPENING = "${";

export function hasPlaceholders(text: string): boolean {
  return text.includes(OPENING);
}

type Parsed = Result<Template, readonly TemplateProblem[]>;

/** Services are written alike, and each is compiled again and again: most templates have been read before. */
const parsed = boundedMap<string, Parsed>({ limit: 2_000, longestKey: 256 });

export function parseTemplate(text: string): Parsed {
  if (!hasPlaceholders(text)) return ok(text === "" ? [] : [text]);
  return parsed.get(text) ?? readOwn(text);
}

/** A part of a file keeps the whole file in memory, so the key and the result are made of a copy. */
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
    // refused when it is filled in; there is no point in reading on
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

/** Nearly all: names and dots, nothing to look at twice. */
const SIMPLE_PATH = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/** Dots part names; `\.` is a dot inside one. */
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

/** Places in a text, asked for from left to right, so that all of them together cost one walk over it. */
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
