/**
 * Parses the operands of an expression: names, literals, lists, maps, calls, and expressions in brackets. Macros are expanded here, as soon as a
 * call is parsed.
 */
import type { Call, Expression, ListItem, MapEntry, StructField } from "./ast.ts";
import type { Token } from "./lexer.ts";
import { INT64, readBytes, readInteger, readString, UINT64 } from "./literals.ts";
import { expandMacro } from "./macros.ts";
import { endsExpression, startsExpression, type TokenCursor } from "./token-cursor.ts";
import { CelUint } from "./values.ts";

/** The tokens that can start an expression, as ANTLR lists them. */
export const START = [
  "'['",
  "'{'",
  "'('",
  "'.'",
  "'-'",
  "'!'",
  "'true'",
  "'false'",
  "'null'",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
];
const RESERVED = new Set("as break const continue else for function if import let loop package namespace return var void while".split(" "));

export class OperandParser {
  readonly #cursor: TokenCursor;
  /** A whole expression in brackets. */
  readonly #whole: () => Expression;

  constructor(cursor: TokenCursor, whole: () => Expression) {
    this.#cursor = cursor;
    this.#whole = whole;
  }

  /** For the error message only: more tokens are possible here than at the start of an expression. */
  atStart(expected: readonly string[], closing = ""): void {
    if (startsExpression(this.#cursor.peek())) return;
    const ahead = this.#cursor.peek(1);
    this.#cursor.unexpected(`{${expected.join(", ")}}`, startsExpression(ahead) || (closing !== "" && ahead.text === closing));
  }

  primary(): Expression {
    this.atStart(START);
    if (this.#cursor.failed) return { kind: "constant", at: 0, value: null };
    const token = this.#cursor.take();
    switch (token.kind) {
      case "int":
      case "float":
      case "uint":
        return this.number(token, undefined);
      case "string":
      case "bytes":
        return this.#text(token);
      case "identifier":
        return this.#named(token, "");
      default:
        return this.#bracketed(token);
    }
  }

  number(token: Token, sign: Token | undefined): Expression {
    const at = sign?.at ?? token.at;
    if (token.kind === "float") return { kind: "constant", at, value: Number(`${sign?.text ?? ""}${token.text}`) };
    const unsigned = token.kind === "uint";
    const digits = unsigned ? token.text.slice(0, -1) : `${sign?.text ?? ""}${token.text}`;
    const value = digits.length > 40 ? undefined : readInteger(digits, unsigned ? UINT64 : INT64);
    if (value === undefined) return this.report(at, `invalid ${unsigned ? "uint" : "int"} literal`);
    return { kind: "constant", at, value: unsigned ? new CelUint(value) : value };
  }

  #text(token: Token): Expression {
    const value = token.kind === "string" ? readString(token.text) : readBytes(token.text);
    return value.ok ? { kind: "constant", at: token.at, value: value.value } : this.report(token.at, value.error);
  }

  #named(token: Token, dot: string): Expression {
    const { at, text } = token;
    if (text === "true" || text === "false") return { kind: "constant", at, value: text === "true" };
    if (text === "null") return { kind: "constant", at, value: null };
    const message = this.#message(token, dot);
    if (message !== undefined) return message;
    const open = this.#cursor.accept("(");
    const args = open === undefined ? [] : this.arguments();
    if (RESERVED.has(text)) return this.report(at, `reserved identifier: ${text}`);
    return open === undefined ? { kind: "identifier", at, name: dot + text } : this.make(open.at, dot + text, undefined, args);
  }

  /** `a.b.Name{field: value}`: recognised by its brace. */
  #message(token: Token, dot: string): Expression | undefined {
    let ahead = 0;
    let name = dot + token.text;
    while (this.#cursor.peek(ahead).text === "." && this.#cursor.peek(ahead + 1).kind === "identifier") {
      name += `.${this.#cursor.peek(ahead + 1).text}`;
      ahead += 2;
    }
    if (this.#cursor.peek(ahead).text !== "{" || this.#cursor.peek(ahead).kind !== "symbol") return undefined;
    this.#cursor.skip(ahead);
    const open = this.#cursor.take();
    return { kind: "struct", at: open.at, name, fields: this.#entries((optional) => this.#structField(optional)) };
  }

  #structField(optional: boolean): StructField {
    const name = this.#cursor.take();
    const colon = this.#cursor.expect(":", startsExpression);
    return { at: colon.at, name: name.text, value: this.#whole(), optional };
  }

  #bracketed(token: Token): Expression {
    if (token.text === ".") return this.#named(this.#cursor.take(), ".");
    if (token.text === "[") return { kind: "list", at: token.at, items: this.#items() };
    if (token.text === "{") return { kind: "map", at: token.at, entries: this.#entries((optional) => this.#mapEntry(optional)) };
    const inner = this.#whole();
    this.#cursor.expect(")", endsExpression);
    return inner;
  }

  #items(): readonly ListItem[] {
    const items: ListItem[] = [];
    while (!this.#cursor.failed && this.#cursor.accept("]") === undefined) {
      const optional = this.#cursor.accept("?") !== undefined;
      items.push({ value: this.#whole(), optional });
      if (!this.#cursor.is("]") && this.#cursor.accept(",") === undefined) this.#cursor.unexpected("{']', ','}", false);
    }
    return items;
  }

  #entries<T>(parse: (optional: boolean) => T): readonly T[] {
    const entries: T[] = [];
    while (!this.#cursor.failed && this.#cursor.accept("}") === undefined) {
      entries.push(parse(this.#cursor.accept("?") !== undefined));
      if (!this.#cursor.is("}") && this.#cursor.accept(",") === undefined) this.#cursor.unexpected("{'}', ','}", false);
    }
    return entries;
  }

  #mapEntry(optional: boolean): MapEntry {
    const key = this.#whole();
    const colon = this.#cursor.expect(":", startsExpression);
    return { at: colon.at, key, value: this.#whole(), optional };
  }

  arguments(): readonly Expression[] {
    if (this.#cursor.accept(")") !== undefined) return [];
    this.atStart([...START.slice(0, 3), "')'", ...START.slice(3)], ")");
    const args = [this.#whole()];
    while (this.#cursor.accept(",") !== undefined) args.push(this.#whole());
    this.#cursor.expect(")", endsExpression);
    return args;
  }

  make(at: number, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const plain: Call = { kind: "call", at, name, target, args };
    const expanded = expandMacro(plain);
    if (expanded === undefined) return plain;
    return expanded.ok ? expanded.value : this.report(expanded.error.at, expanded.error.message);
  }

  report(at: number, message: string): Expression {
    this.#cursor.report(at, message);
    return { kind: "constant", at, value: null };
  }
}
