/**
 * Label selectors of a query string. #kube reads them for people; this reader says what is wrong in the words of a real server.
 *
 * Words are cut first, then read one after the other, because that is how the real messages come about: they name the word that was found.
 */
import { err, ok, type Result } from "#base";
import type { Requirement } from "#kube";
import { labelValue, qualifiedName } from "../builtin-kinds/rules/formats.ts";

type Word = { readonly kind: "word" | "sign" | "end"; readonly text: string };

const SIGNS = ["!=", "==", "=", ",", "(", ")", "!", ">", "<"];
const END: Word = { kind: "end", text: "" };
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "in"],
  ["==", "in"],
  ["!=", "notin"],
  [">", "greater"],
  ["<", "less"],
]);
const KNOWN_OPERATORS = "in, notin, =, ==, !=, gt, lt";

class Words {
  readonly #words: readonly Word[];
  #at = 0;

  constructor(text: string) {
    this.#words = wordsOf(text);
  }

  get terms(): number {
    return this.#words.filter(({ kind }) => kind === "word").length;
  }

  peek(): Word {
    return this.#words[this.#at] ?? END;
  }

  next(): Word {
    const word = this.peek();
    this.#at += 1;
    return word;
  }
}

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  while (at < text.length) {
    const sign = SIGNS.find((candidate) => text.startsWith(candidate, at));
    const space = /^\s+/.exec(text.slice(at))?.[0];
    const word = /^[^\s!=,()<>]+/.exec(text.slice(at))?.[0] ?? "";
    if (space !== undefined) at += space.length;
    else if (sign !== undefined) words.push({ kind: "sign", text: sign });
    else words.push({ kind: "word", text: word });
    if (space === undefined) at += sign?.length ?? word.length;
  }
  return words;
}

/** Keys and values of one selector. A watch keeps its selector in memory, and there may be thousands of watches. */
const MAX_SELECTOR_TERMS = 2_000;

export function parseLabelSelector(text: string): Result<readonly Requirement[], string> {
  const words = new Words(text);
  if (words.terms > MAX_SELECTOR_TERMS)
    return err(`labelSelector: has ${words.terms} keys and values; must have at most ${MAX_SELECTOR_TERMS}`);
  const requirements: Requirement[] = [];
  for (;;) {
    const first = words.peek();
    if (first.kind === "end") return ok(requirements);
    if (first.kind !== "word" && first.text !== "!") return err(`found '${first.text}', expected: !, identifier, or 'end of string'`);
    const requirement = parseRequirement(words);
    if (!requirement.ok) return err(`unable to parse requirement: ${requirement.error}`);
    requirements.push(requirement.value);
    const after = words.next();
    if (after.kind === "end") return ok(requirements);
    if (after.text !== "," || after.kind !== "sign") return err(`found '${after.text}', expected: ',' or 'end of string'`);
    const following = words.peek();
    if (following.kind !== "word" && following.text !== "!") return err(`found '${following.text}', expected: identifier after ','`);
  }
}

function parseRequirement(words: Words): Result<Requirement, string> {
  const first = words.next();
  const negated = first.text === "!" && first.kind === "sign";
  const name = negated ? words.next() : first;
  if (name.kind !== "word") return err(`found '${name.text}', expected: identifier`);
  const [wrong] = qualifiedName(name.text);
  if (wrong !== undefined) return err(`<nil>: Invalid value: ${JSON.stringify(name.text)}: ${wrong}`);
  const operator = words.peek();
  if (negated) return ok({ key: name.text, operator: "absent" });
  if (operator.kind === "end" || operator.text === ",") return ok({ key: name.text, operator: "exists" });
  return parseComparison(words, name.text);
}

function parseComparison(words: Words, key: string): Result<Requirement, string> {
  const sign = words.next();
  const operator = OPERATORS.get(sign.text);
  if (operator === undefined) return err(`found '${sign.text}', expected: ${KNOWN_OPERATORS}`);
  const values = sign.text === "in" || sign.text === "notin" ? parseSet(words) : parseOne(words);
  if (!values.ok) return values;
  if (operator === "in" || operator === "notin") return withValues(key, operator, values.value);
  const [value = ""] = values.value;
  if (!/^[-+]?[0-9]{1,18}$/.test(value)) {
    return err(`values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`);
  }
  return ok({ key, operator: operator === "greater" ? "greater" : "less", value: Number(value) });
}

function withValues(key: string, operator: "in" | "notin", values: readonly string[]): Result<Requirement, string> {
  for (const [index, value] of values.entries()) {
    const [wrong] = labelValue(value);
    if (wrong !== undefined) return err(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${wrong}`);
  }
  return ok({ key, operator, values });
}

/** `a=` selects the empty value. */
function parseOne(words: Words): Result<readonly string[], string> {
  const word = words.peek();
  if (word.kind === "end" || word.text === ",") return ok([""]);
  if (word.kind !== "word") return err(`found '${word.text}', expected: identifier`);
  words.next();
  return ok([word.text]);
}

function parseSet(words: Words): Result<readonly string[], string> {
  const open = words.next();
  if (open.text !== "(") return err(`found '${open.text}' expected: '('`);
  const values: string[] = [];
  let last: Word = open;
  for (;;) {
    const word = words.next();
    if (word.text === ")" && word.kind === "sign") {
      if (last.kind === "sign") values.push("");
      return ok([...new Set(values)]);
    }
    if (word.kind === "word") {
      if (last.kind === "word") return err(`found '${word.text}', expected: ',' or ')'`);
      values.push(word.text);
    } else if (word.text === ",") {
      if (last.kind === "sign") values.push("");
    } else return err(`found '${word.text}', expected: ${expectedAfter(last)}`);
    last = word;
  }
}

function expectedAfter(last: Word): string {
  if (last.kind === "word") return "',' or ')'";
  return last.text === "(" ? "',', ')' or identifier" : "',', or identifier";
}
