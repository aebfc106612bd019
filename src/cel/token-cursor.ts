/**
 * The tokens of an expression and a position in them, with the errors of ANTLR's error recovery.
 *
 * After the first error the position is at the end: all callers then find no token and return.
 */
import { lex, type Token } from "./lexer.ts";
import type { Issue, Source } from "./source.ts";

export class TokenCursor {
  readonly issues: Issue[];
  readonly #tokens: readonly Token[];
  #next = 0;
  #failed = false;

  constructor(source: Source) {
    const lexed = lex(source);
    this.#tokens = lexed.tokens;
    this.issues = [...lexed.issues];
  }

  get failed(): boolean {
    return this.#failed;
  }

  peek(ahead = 0): Token {
    const token = this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)];
    if (token === undefined) throw new Error("the token list always ends with EOF");
    return token;
  }

  take(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }

  skip(count: number): void {
    this.#next += count;
  }

  is(text: string): boolean {
    const token = this.peek();
    return token.kind === "symbol" && token.text === text;
  }

  isOneOf(texts: { has(text: string): boolean }): boolean {
    const token = this.peek();
    return token.kind === "symbol" && texts.has(token.text);
  }

  accept(text: string): Token | undefined {
    return this.is(text) ? this.take() : undefined;
  }

  /** `insertable`: the tokens that may follow the missing one, with which ANTLR would continue. */
  expect(text: string, insertable: (token: Token) => boolean): Token {
    if (this.is(text)) return this.take();
    const token = this.peek();
    const ahead = this.peek(1);
    if (ahead.kind === "symbol" && ahead.text === text) return this.fail(token, `extraneous input '${token.text}' expecting '${text}'`);
    if (insertable(token)) return this.fail(token, `missing '${text}' at '${token.text}'`);
    return this.fail(token, `mismatched input '${token.text}' expecting '${text}'`);
  }

  unexpected(expected: string, extraneous: boolean): void {
    const token = this.peek();
    this.fail(token, `${extraneous ? "extraneous" : "mismatched"} input '${token.text}' expecting ${expected}`);
  }

  fail(token: Token, message: string, prefix = "Syntax error: "): Token {
    if (!this.#failed) this.issues.push({ at: token.at, message: `${prefix}${message}` });
    this.#failed = true;
    this.#next = this.#tokens.length - 1;
    return this.peek();
  }

  /** An error that does not stop the parser. */
  report(at: number, message: string): void {
    if (!this.#failed) this.issues.push({ at, message });
  }
}

export function startsExpression(token: Token): boolean {
  if (token.kind === "eof" || token.kind === "escaped") return false;
  return token.kind !== "symbol" || OPENING.has(token.text);
}

export function endsExpression(token: Token): boolean {
  return token.kind === "eof" || (token.kind === "symbol" && !OPENING.has(token.text));
}

const OPENING = new Set(["[", "{", "(", ".", "-", "!"]);
