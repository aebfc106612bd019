/**
 * Texts of a Compose file. Compose expands `${NAME:-default}` from the shell, which is not read here: the default is used, and a variable without one is replaced by
 * its name. Command strings are split into arguments as Compose does.
 */
import type { Json } from "#kube";
import type { Notices } from "./notice.ts";

/** `$$`, `${NAME}`, `${NAME:-default}` and its other forms, `$NAME`. The length limit keeps the match linear. */
const VARIABLE = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]{0,254})(?:(:?[-?+])([^}]{0,1000}))?\}|\$([A-Za-z_][A-Za-z0-9_]{0,254})/g;

function filledIn(text: string, notices: Notices): string {
  return text.replaceAll(VARIABLE, (whole, braced?: string, operator?: string, rest?: string, bare?: string) => {
    if (whole === "$$") return "$";
    const name = braced ?? bare ?? "";
    if (operator?.endsWith("-") === true) {
      notices.note(`\${${name}} is not read from the shell; its default is used`);
      return rest ?? "";
    }
    notices.warn(
      `\${${name}} has no default, so ${name} is used instead; write the value (docker compose config prints the file with all values)`,
    );
    return name;
  });
}

/** A text, number or boolean as text; anything else is undefined. */
export function scalarText(value: Json | undefined, notices: Notices): string | undefined {
  if (typeof value === "string") return filledIn(value, notices);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Escapes `${…}`, which Lattice would expand in template fields. */
export function asTemplate(text: string): string {
  return text.replaceAll("${", () => "$${");
}

/** A list of texts, or one text that is split into arguments. undefined: any other value. */
export function wordsOf(value: Json | undefined, notices: Notices): readonly string[] | undefined {
  if (typeof value === "string") return splitWords(filledIn(value, notices));
  if (!Array.isArray(value)) return undefined;
  const words = value.map((word: Json, at) => scalarText(word, notices.at(at)));
  return words.some((word) => word === undefined) ? undefined : words.filter((word) => word !== undefined);
}

/** As a shell splits arguments: quotes group text, a backslash escapes the next character. Nothing else is special. */
export function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let [word, quote, started] = ["", "", false];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'" && at + 1 < text.length) [word, started, at] = [word + text.charAt(at + 1), true, at + 1];
    else if (quote !== "") [word, quote] = character === quote ? [word, ""] : [word + character, quote];
    else if (character === '"' || character === "'") [quote, started] = [character, true];
    else if (!/\s/.test(character)) [word, started] = [word + character, true];
    else if (started) {
      words.push(word);
      [word, started] = ["", false];
    }
  }
  return started ? [...words, word] : words;
}
