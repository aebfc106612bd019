/**
 * Parses text to a tree, by recursive descent. Syntax errors have the messages of cel-go's ANTLR grammar as far as its error recovery can be
 * reproduced: the first of them, and every invalid token.
 */
import { err, ok, type Result } from "#base";
import { call, type Expression } from "./ast.ts";
import { tooDeep } from "./depth.ts";
import { OperandParser, START } from "./operand-parser.ts";
import { NOWHERE, Source } from "./source.ts";
import { endsExpression, startsExpression, TokenCursor } from "./token-cursor.ts";

const MAX_DEPTH = 250;
/** In code points. */
const MAX_SIZE = 100_000;
const SUMS = new Set(["+", "-"]);
const PRODUCTS = new Set(["*", "/", "%"]);
const RELATIONS = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);

export function parseExpression(text: string): Result<Expression, string> {
  const source = new Source(text);
  const size = source.characters.length;
  if (size > MAX_SIZE) return refused(source, `expression code point size exceeds limit: size: ${size}, limit ${MAX_SIZE}`);
  const parser = new Parser(source);
  const expression = parser.parse();
  const { issues } = parser.cursor;
  if (issues.length > 0) return err(source.describe(issues));
  const problem = tooDeep(expression);
  return problem === undefined ? ok(expression) : refused(source, problem);
}

function refused(source: Source, message: string): Result<never, string> {
  return err(source.describe([{ at: NOWHERE, message }]));
}

class Parser {
  readonly cursor: TokenCursor;
  readonly #operands: OperandParser;
  #depth = 0;

  constructor(source: Source) {
    this.cursor = new TokenCursor(source);
    this.#operands = new OperandParser(this.cursor, () => this.#conditional());
  }

  parse(): Expression {
    const expression = this.#conditional();
    if (this.cursor.peek().kind !== "eof") this.cursor.unexpected("<EOF>", this.cursor.peek(1).kind === "eof");
    return expression;
  }

  #deeper<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#tooDeep();
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  #tooDeep(): void {
    this.cursor.fail({ ...this.cursor.peek(), at: NOWHERE }, `expression recursion limit exceeded: ${MAX_DEPTH}`, "");
  }

  #conditional(): Expression {
    return this.#deeper(() => {
      const condition = this.#logical("||", () => this.#logical("&&", () => this.#relation()));
      const question = this.cursor.accept("?");
      if (question === undefined) return condition;
      const yes = this.#logical("||", () => this.#logical("&&", () => this.#relation()));
      this.cursor.expect(":", startsExpression);
      return this.#operands.make(question.at, "_?_:_", undefined, [condition, yes, this.#conditional()]);
    });
  }

  /** A chain becomes a balanced tree, as in cel-go: its depth grows with the logarithm of its length. */
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
      left = this.#operands.make(operator.at, name, undefined, [left, this.#sum()]);
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
      left = this.#operands.make(operator.at, `_${operator.text}_`, undefined, [left, parse()]);
    }
    return left;
  }

  #unary(): Expression {
    const operator = this.cursor.accept("!") ?? this.cursor.accept("-");
    if (operator === undefined) return this.#member();
    const token = this.cursor.peek();
    if (operator.text === "-" && (token.kind === "int" || token.kind === "float"))
      return this.#memberOf(this.#operands.number(this.cursor.take(), operator));
    let count = 1;
    while (this.cursor.accept(operator.text) !== undefined) count += 1;
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#operands.make(operator.at, `${operator.text}_`, undefined, [operand]);
  }

  #member(): Expression {
    return this.#memberOf(this.#operands.primary());
  }

  #memberOf(primary: Expression): Expression {
    let operand = primary;
    for (;;) {
      if (this.cursor.is(".")) operand = this.#dotted(operand);
      else if (this.cursor.is("[")) operand = this.#indexed(operand);
      else return operand;
    }
  }

  #dotted(operand: Expression): Expression {
    const dot = this.cursor.take();
    const optional = this.cursor.accept("?") !== undefined;
    const name = this.cursor.take();
    if (name.kind === "escaped") return this.#operands.report(name.at, "unsupported syntax: '`'");
    if (name.kind !== "identifier") {
      const input = name.kind === "eof" ? "." : `.${name.text}`;
      this.cursor.fail(name, `no viable alternative at input '${input}'`);
    }
    if (optional) return call(dot.at, "_?._", operand, { kind: "constant", at: name.at, value: name.text });
    const open = this.cursor.accept("(");
    if (open === undefined) return { kind: "select", at: dot.at, operand, field: name.text, testOnly: false };
    return this.#operands.make(open.at, name.text, operand, this.#operands.arguments());
  }

  #indexed(operand: Expression): Expression {
    const open = this.cursor.take();
    const name = this.cursor.accept("?") === undefined ? "_[_]" : "_[?_]";
    this.#operands.atStart(name === "_[_]" ? [...START.slice(0, 6), "'?'", ...START.slice(6)] : START);
    const index = this.#conditional();
    this.cursor.expect("]", endsExpression);
    return this.#operands.make(open.at, name, undefined, [operand, index]);
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
