/**
 * From text to tree, by recursive descent. Syntax errors read like those of cel-go's ANTLR grammar as far as its error recovery
 * can be followed: the first of them, and every token that was none.
 */
import { err, ok, type Result } from "#base";
import { call, type Call, type Expression, type ListItem, type MapEntry, type StructField } from "./ast.ts";
import type { Token } from "./lexer.ts";
import { INT64, readBytes, readInteger, readString, UINT64 } from "./literals.ts";
import { expandMacro } from "./macros.ts";
import { Source } from "./source.ts";
import { endsExpression, startsExpression, TokenCursor } from "./token-cursor.ts";
import { CelUint } from "./values.ts";

const MAX_DEPTH = 250;
const START = [
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
const SUMS = new Set(["+", "-"]);
const PRODUCTS = new Set(["*", "/", "%"]);
const RELATIONS = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);

export function parseExpression(text: string): Result<Expression, string> {
  const source = new Source(text);
  const parser = new Parser(source);
  const expression = parser.parse();
  const { issues } = parser.cursor;
  return issues.length > 0 ? err(source.describe(issues)) : ok(expression);
}

class Parser {
  readonly cursor: TokenCursor;
  #depth = 0;

  constructor(source: Source) {
    this.cursor = new TokenCursor(source);
  }

  parse(): Expression {
    const expression = this.#conditional();
    if (this.cursor.peek().kind !== "eof") this.cursor.unexpected("<EOF>", this.cursor.peek(1).kind === "eof");
    return expression;
  }

  #report(at: number, message: string): Expression {
    this.cursor.report(at, message);
    return { kind: "constant", at, value: null };
  }

  #deeper<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#tooDeep();
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  #tooDeep(): void {
    this.cursor.fail({ ...this.cursor.peek(), at: 0 }, `expression recursion limit exceeded: ${MAX_DEPTH}`, "");
  }

  #conditional(): Expression {
    return this.#deeper(() => {
      const condition = this.#logical("||", () => this.#logical("&&", () => this.#relation()));
      const question = this.cursor.accept("?");
      if (question === undefined) return condition;
      const yes = this.#logical("||", () => this.#logical("&&", () => this.#relation()));
      this.cursor.expect(":", startsExpression);
      return this.#make(question.at, "_?_:_", undefined, [condition, yes, this.#conditional()]);
    });
  }

  /** A chain becomes a balanced tree, as in cel-go: its depth, and so its cost of recursion, grows with the logarithm. */
  #logical(operator: "&&" | "||", parse: () => Expression): Expression {
    const terms = [parse()];
    const at: number[] = [];
    for (let token = this.cursor.accept(operator); token !== undefined; token = this.cursor.accept(operator)) {
      at.push(token.at);
      terms.push(parse());
    }
    return balanced(`_${operator}_`, terms, at, 0, at.length - 1);
  }

  #relation(): Expression {
    let left = this.#sum();
    while (this.cursor.isOneOf(RELATIONS)) {
      const operator = this.cursor.take();
      const name = operator.text === "in" ? "@in" : `_${operator.text}_`;
      left = this.#make(operator.at, name, undefined, [left, this.#sum()]);
    }
    return left;
  }

  #sum(): Expression {
    return this.#chain(SUMS, () => this.#chain(PRODUCTS, () => this.#unary()));
  }

  #chain(operators: ReadonlySet<string>, parse: () => Expression): Expression {
    let left = parse();
    while (this.cursor.isOneOf(operators)) {
      const operator = this.cursor.take();
      left = this.#make(operator.at, `_${operator.text}_`, undefined, [left, parse()]);
    }
    return left;
  }

  #unary(): Expression {
    const operator = this.cursor.accept("!") ?? this.cursor.accept("-");
    if (operator === undefined) return this.#member();
    const token = this.cursor.peek();
    if (operator.text === "-" && (token.kind === "int" || token.kind === "float"))
      return this.#memberOf(this.#number(this.cursor.take(), operator));
    let count = 1;
    while (this.cursor.accept(operator.text) !== undefined) count += 1;
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#make(operator.at, `${operator.text}_`, undefined, [operand]);
  }

  #member(): Expression {
    return this.#memberOf(this.#primary());
  }

  #memberOf(primary: Expression): Expression {
    let operand = primary;
    for (let steps = 0; ; steps++) {
      if (steps > MAX_DEPTH) this.#tooDeep();
      if (this.cursor.is(".")) operand = this.#dotted(operand);
      else if (this.cursor.is("[")) operand = this.#indexed(operand);
      else return operand;
    }
  }

  #dotted(operand: Expression): Expression {
    const dot = this.cursor.take();
    const optional = this.cursor.accept("?") !== undefined;
    const name = this.cursor.take();
    if (name.kind === "escaped") return this.#report(name.at, "unsupported syntax: '`'");
    if (name.kind !== "identifier") {
      const input = name.kind === "eof" ? "." : `.${name.text}`;
      this.cursor.fail(name, `no viable alternative at input '${input}'`);
    }
    if (optional) return call(dot.at, "_?._", operand, { kind: "constant", at: name.at, value: name.text });
    const open = this.cursor.accept("(");
    if (open === undefined) return { kind: "select", at: dot.at, operand, field: name.text, testOnly: false };
    return this.#make(open.at, name.text, operand, this.#arguments());
  }

  #indexed(operand: Expression): Expression {
    const open = this.cursor.take();
    const name = this.cursor.accept("?") === undefined ? "_[_]" : "_[?_]";
    this.#atStart(name === "_[_]" ? [...START.slice(0, 6), "'?'", ...START.slice(6)] : START);
    const index = this.#conditional();
    this.cursor.expect("]", endsExpression);
    return this.#make(open.at, name, undefined, [operand, index]);
  }

  #arguments(): readonly Expression[] {
    if (this.cursor.accept(")") !== undefined) return [];
    this.#atStart([...START.slice(0, 3), "')'", ...START.slice(3)], ")");
    const args = [this.#conditional()];
    while (this.cursor.accept(",") !== undefined) args.push(this.#conditional());
    this.cursor.expect(")", endsExpression);
    return args;
  }

  /** Only to word the error: more can stand here than at the start of an expression. */
  #atStart(expected: readonly string[], closing = ""): void {
    if (startsExpression(this.cursor.peek())) return;
    const ahead = this.cursor.peek(1);
    this.cursor.unexpected(`{${expected.join(", ")}}`, startsExpression(ahead) || (closing !== "" && ahead.text === closing));
  }

  #primary(): Expression {
    this.#atStart(START);
    if (this.cursor.failed) return { kind: "constant", at: 0, value: null };
    const token = this.cursor.take();
    switch (token.kind) {
      case "int":
      case "float":
      case "uint":
        return this.#number(token, undefined);
      case "string":
      case "bytes":
        return this.#text(token);
      case "identifier":
        return this.#named(token, "");
      default:
        return this.#bracketed(token);
    }
  }

  #number(token: Token, sign: Token | undefined): Expression {
    const at = sign?.at ?? token.at;
    if (token.kind === "float") return { kind: "constant", at, value: Number(`${sign?.text ?? ""}${token.text}`) };
    const unsigned = token.kind === "uint";
    const digits = unsigned ? token.text.slice(0, -1) : `${sign?.text ?? ""}${token.text}`;
    const value = digits.length > 40 ? undefined : readInteger(digits, unsigned ? UINT64 : INT64);
    if (value === undefined) return this.#report(at, `invalid ${unsigned ? "uint" : "int"} literal`);
    return { kind: "constant", at, value: unsigned ? new CelUint(value) : value };
  }

  #text(token: Token): Expression {
    const value = token.kind === "string" ? readString(token.text) : readBytes(token.text);
    return value.ok ? { kind: "constant", at: token.at, value: value.value } : this.#report(token.at, value.error);
  }

  #named(token: Token, dot: string): Expression {
    const { at, text } = token;
    if (text === "true" || text === "false") return { kind: "constant", at, value: text === "true" };
    if (text === "null") return { kind: "constant", at, value: null };
    const message = this.#message(token, dot);
    if (message !== undefined) return message;
    const open = this.cursor.accept("(");
    const args = open === undefined ? [] : this.#arguments();
    if (RESERVED.has(text)) return this.#report(at, `reserved identifier: ${text}`);
    return open === undefined ? { kind: "identifier", at, name: dot + text } : this.#make(open.at, dot + text, undefined, args);
  }

  /** `a.b.Name{field: value}`: known only once the brace is seen. */
  #message(token: Token, dot: string): Expression | undefined {
    let ahead = 0;
    let name = dot + token.text;
    while (this.cursor.peek(ahead).text === "." && this.cursor.peek(ahead + 1).kind === "identifier") {
      name += `.${this.cursor.peek(ahead + 1).text}`;
      ahead += 2;
    }
    if (this.cursor.peek(ahead).text !== "{" || this.cursor.peek(ahead).kind !== "symbol") return undefined;
    this.cursor.skip(ahead);
    const open = this.cursor.take();
    return { kind: "struct", at: open.at, name, fields: this.#entries((optional) => this.#structField(optional)) };
  }

  #structField(optional: boolean): StructField {
    const name = this.cursor.take();
    const colon = this.cursor.expect(":", startsExpression);
    return { at: colon.at, name: name.text, value: this.#conditional(), optional };
  }

  #bracketed(token: Token): Expression {
    if (token.text === ".") return this.#named(this.cursor.take(), ".");
    if (token.text === "[") return { kind: "list", at: token.at, items: this.#items() };
    if (token.text === "{") return { kind: "map", at: token.at, entries: this.#entries((optional) => this.#mapEntry(optional)) };
    const inner = this.#conditional();
    this.cursor.expect(")", endsExpression);
    return inner;
  }

  #items(): readonly ListItem[] {
    const items: ListItem[] = [];
    while (!this.cursor.failed && this.cursor.accept("]") === undefined) {
      const optional = this.cursor.accept("?") !== undefined;
      items.push({ value: this.#conditional(), optional });
      if (!this.cursor.is("]") && this.cursor.accept(",") === undefined) this.cursor.unexpected("{']', ','}", false);
    }
    return items;
  }

  #entries<T>(parse: (optional: boolean) => T): readonly T[] {
    const entries: T[] = [];
    while (!this.cursor.failed && this.cursor.accept("}") === undefined) {
      entries.push(parse(this.cursor.accept("?") !== undefined));
      if (!this.cursor.is("}") && this.cursor.accept(",") === undefined) this.cursor.unexpected("{'}', ','}", false);
    }
    return entries;
  }

  #mapEntry(optional: boolean): MapEntry {
    const key = this.#conditional();
    const colon = this.cursor.expect(":", startsExpression);
    return { at: colon.at, key, value: this.#conditional(), optional };
  }

  #make(at: number, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const plain: Call = { kind: "call", at, name, target, args };
    const expanded = expandMacro(plain);
    if (expanded === undefined) return plain;
    return expanded.ok ? expanded.value : this.#report(expanded.error.at, expanded.error.message);
  }
}

function balanced(name: string, terms: readonly Expression[], at: readonly number[], low: number, high: number): Expression {
  const first = terms[0];
  if (first === undefined) throw new Error("a chain has at least one term");
  if (low > high) return terms[low] ?? first;
  const middle = Math.floor((low + high + 1) / 2);
  const left = middle === low ? (terms[middle] ?? first) : balanced(name, terms, at, low, middle - 1);
  const right = middle === high ? (terms[middle + 1] ?? first) : balanced(name, terms, at, middle + 1, high);
  return call(at[middle] ?? 0, name, left, right);
}
