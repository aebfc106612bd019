/**
 * Label selectors of a query string. In contrast to the parser in #kube, errors have the messages of a real server.
 *
 * The text is split into tokens first, as on a real server, because its messages name the token that was found.
 */
import { err, ok, type Result } from "#base";
import type { Requirement } from "#kube";
import { labelValue, qualifiedName } from "../builtin-kinds/rules/formats.ts";

type Token = { readonly kind: "text" | "sign" | "end"; readonly text: string };

const SIGNS = ["!=", "==", "=", ",", "(", ")", "!", ">", "<"];
const END: Token = { kind: "end", text: "" };
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

class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  get terms(): number {
    return this.#tokens.filter(({ kind }) => kind === "text").length;
  }

  peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const sign = SIGNS.find((candidate) => text.startsWith(candidate, at));
    const space = /^\s+/.exec(text.slice(at))?.[0];
    const token = /^[^\s!=,()<>]+/.exec(text.slice(at))?.[0] ?? "";
    if (space !== undefined) at += space.length;
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
    else tokens.push({ kind: "text", text: token });
    if (space === undefined) at += sign?.length ?? token.length;
  }
  return tokens;
}

/** Keys and values of one selector. A watch keeps its selector in memory, and there may be thousands of watches. */
const MAX_SELECTOR_TERMS = 2_000;

export function parseLabelSelector(text: string): Result<readonly Requirement[], string> {
  const tokens = new Tokens(text);
  if (tokens.terms > MAX_SELECTOR_TERMS)
    return err(`labelSelector: has ${tokens.terms} keys and values; must have at most ${MAX_SELECTOR_TERMS}`);
  const requirements: Requirement[] = [];
  for (;;) {
    const first = tokens.peek();
    if (first.kind === "end") return ok(requirements);
    if (first.kind !== "text" && first.text !== "!") return err(`found '${first.text}', expected: !, identifier, or 'end of string'`);
    const requirement = parseRequirement(tokens);
    if (!requirement.ok) return err(`unable to parse requirement: ${requirement.error}`);
    requirements.push(requirement.value);
    const after = tokens.next();
    if (after.kind === "end") return ok(requirements);
    if (after.text !== "," || after.kind !== "sign") return err(`found '${after.text}', expected: ',' or 'end of string'`);
    const following = tokens.peek();
    if (following.kind !== "text" && following.text !== "!") return err(`found '${following.text}', expected: identifier after ','`);
  }
}

function parseRequirement(tokens: Tokens): Result<Requirement, string> {
  const first = tokens.next();
  const negated = first.text === "!" && first.kind === "sign";
  const name = negated ? tokens.next() : first;
  if (name.kind !== "text") return err(`found '${name.text}', expected: identifier`);
  const [wrong] = qualifiedName(name.text);
  if (wrong !== undefined) return err(`<nil>: Invalid value: ${JSON.stringify(name.text)}: ${wrong}`);
  const operator = tokens.peek();
  if (negated) return ok({ key: name.text, operator: "absent" });
  if (operator.kind === "end" || operator.text === ",") return ok({ key: name.text, operator: "exists" });
  return parseComparison(tokens, name.text);
}

function parseComparison(tokens: Tokens, key: string): Result<Requirement, string> {
  const sign = tokens.next();
  const operator = OPERATORS.get(sign.text);
  if (operator === undefined) return err(`found '${sign.text}', expected: ${KNOWN_OPERATORS}`);
  const values = sign.text === "in" || sign.text === "notin" ? parseSet(tokens) : parseOne(tokens);
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
function parseOne(tokens: Tokens): Result<readonly string[], string> {
  const token = tokens.peek();
  if (token.kind === "end" || token.text === ",") return ok([""]);
  if (token.kind !== "text") return err(`found '${token.text}', expected: identifier`);
  tokens.next();
  return ok([token.text]);
}

function parseSet(tokens: Tokens): Result<readonly string[], string> {
  const open = tokens.next();
  if (open.text !== "(") return err(`found '${open.text}' expected: '('`);
  const values: string[] = [];
  let last: Token = open;
  for (;;) {
    const token = tokens.next();
    if (token.text === ")" && token.kind === "sign") {
      if (last.kind === "sign") values.push("");
      return ok([...new Set(values)]);
    }
    if (token.kind === "text") {
      if (last.kind === "text") return err(`found '${token.text}', expected: ',' or ')'`);
      values.push(token.text);
    } else if (token.text === ",") {
      if (last.kind === "sign") values.push("");
    } else return err(`found '${token.text}', expected: ${expectedAfter(last)}`);
    last = token;
  }
}

function expectedAfter(last: Token): string {
  if (last.kind === "text") return "',' or ')'";
  return last.text === "(" ? "',', ')' or identifier" : "',', or identifier";
}
