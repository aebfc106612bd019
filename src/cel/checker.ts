/**
 * The types of an expression, and the possible overloads of each call. The algorithm and the messages are cel-go's.
 *
 * The result is a checked tree: the same expression with a type, and for calls the overloads, on every node.
 */
import { isReserved } from "./escaping.ts";
import { err, ok, type Result } from "#base";
import { joinTypes, loopVariables, mapLiteralType, mismatch, structType, type CheckContext } from "./aggregate-types.ts";
import { qualifiedName, type Call, type Comprehension, type Expression } from "./ast.ts";
import type { Checked, CheckEnvironment } from "./checked.ts";
import type { Overload } from "./declarations.ts";
import { literalIssues } from "./literal-checks.ts";
import { resolveCall } from "./overload-resolution.ts";
import { Source, type Issue } from "./source.ts";
import { TypeBindings } from "./type-bindings.ts";
import { constantType, TYPE_NAMES } from "./type-names.ts";
import { BOOL, DYN, ERROR, formatType, isDynOrError, isOptional, listType, optionalType, typeOfType, type CelType } from "./types.ts";

export function check(text: string, expression: Expression, environment: CheckEnvironment): Result<Checked, string> {
  const checker = new Checker(environment);
  checker.check(expression);
  const checked = checker.finish(expression);
  const issues = checker.issues.length > 0 ? checker.issues : literalIssues(checked);
  return issues.length > 0 ? err(new Source(text).describe(issues)) : ok(checked);
}

class Checker {
  readonly issues: Issue[] = [];
  readonly #environment: CheckEnvironment;
  readonly #types = new Map<Expression, CelType>();
  readonly #overloads = new Map<Expression, readonly Overload[]>();
  readonly #qualified = new Set<Expression>();
  readonly #names = new Map<Expression, string>();
  #scopes: readonly ReadonlyMap<string, CelType>[] = [];
  readonly #bindings = new TypeBindings();
  readonly #context: CheckContext = {
    bindings: this.#bindings,
    check: (node) => this.check(node),
    issue: (node, message) => this.#issue(node, message),
    lookUp: (name) => this.#lookup(name),
    fieldOf: (node, struct, field) => this.#fieldOf(node, struct, field),
  };

  constructor(environment: CheckEnvironment) {
    this.#environment = environment;
  }

  finish(expression: Expression): Checked {
    const types = new Map([...this.#types].map(([node, type]) => [node, this.#bindings.resolved(type, true)]));
    return {
      expression,
      typeOf: (node) => types.get(node) ?? DYN,
      overloadsOf: (node) => this.#overloads.get(node) ?? [],
      isQualified: (node) => this.#qualified.has(node),
      nameOf: (node) => this.#names.get(node),
      variablesUsed: new Set(this.#names.values()),
    };
  }

  check(node: Expression): CelType {
    const type = this.#typeOf(node);
    this.#types.set(node, type);
    return type;
  }

  #typeOf(node: Expression): CelType {
    switch (node.kind) {
      case "constant":
        return constantType(node.value);
      case "identifier":
        return this.#identifier(node);
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return listType(
          joinTypes(
            this.#context,
            node.items.map((item) => ({ ...item, node: item.value })),
          ) ?? this.#bindings.freshType(),
        );
      case "map":
        return mapLiteralType(this.#context, node);
      case "struct":
        return structType(this.#context, node);
      case "comprehension":
        return this.#comprehension(node);
    }
  }

  #issue(node: { readonly at: number }, message: string): CelType {
    this.issues.push({ at: node.at, message });
    return ERROR;
  }

  #lookup(name: string): CelType | undefined {
    const plain = name.startsWith(".") ? name.slice(1) : name;
    const local = this.#scopes.findLast((scope) => scope.has(plain))?.get(plain) ?? this.#environment.variables.get(plain);
    if (local !== undefined) return local;
    const type = TYPE_NAMES.get(plain) ?? this.#environment.structNamed?.(plain);
    return type === undefined ? undefined : typeOfType(type);
  }

  #identifier(node: Extract<Expression, { kind: "identifier" }>): CelType {
    const type = this.#lookup(node.name);
    if (type === undefined) return this.#issue(node, `undeclared reference to '${node.name}' (in container '')`);
    this.#names.set(node, node.name);
    return type;
  }

  #select(node: Extract<Expression, { kind: "select" }>): CelType {
    const name = qualifiedName(node);
    const named = name === undefined ? undefined : this.#lookup(name);
    if (name !== undefined && named !== undefined) {
      this.#names.set(node, name);
      return named;
    }
    const type = this.#field(node, node.operand, node.field, false);
    return node.testOnly ? BOOL : this.#bindings.resolved(type);
  }

  #field(node: Expression, operand: Expression, field: string, optional: boolean): CelType {
    const operandType = this.#bindings.resolved(this.check(operand));
    const wrapped = isOptional(operandType);
    const type = this.#fieldOf(node, wrapped ? (operandType.parameters[0] ?? DYN) : operandType, field);
    return wrapped || optional ? optionalType(type) : type;
  }

  #fieldOf(node: { readonly at: number }, target: CelType, field: string): CelType {
    if (target.kind === "map") return target.parameters[1] ?? DYN;
    if (target.kind === "struct") {
      const fields = this.#environment.fieldsOf(target.name);
      if (fields === undefined) return this.#issue(node, `unexpected failed resolution of '${target.name}'`);
      // a reserved identifier of CEL needs no escape where it can only be a field
      const reserved = isReserved(field) ? fields.get(`__${field}__`) : undefined;
      return fields.get(field) ?? reserved ?? this.#issue(node, `undefined field '${field}'`);
    }
    if (target.kind === "parameter") this.#bindings.assign([DYN], [target]);
    else if (!isDynOrError(target)) this.#issue(node, `type '${formatType(target)}' does not support field selection`);
    return DYN;
  }

  #call(node: Call): CelType {
    if (node.name === "_?._") return this.#optionalSelect(node);
    for (const arg of node.args) this.check(arg);
    const { target } = node;
    if (target === undefined) return this.#resolve(node, node.name, node.args, false);
    const prefix = qualifiedName(target);
    const full = prefix === undefined ? undefined : `${prefix}.${node.name}`;
    if (full !== undefined && this.#environment.functions.has(full)) {
      this.#qualified.add(node);
      return this.#resolve(node, full, node.args, false);
    }
    this.check(target);
    return this.#resolve(node, node.name, [target, ...node.args], true);
  }

  #optionalSelect(node: Call): CelType {
    const [operand, field] = node.args;
    if (operand === undefined || field?.kind !== "constant" || typeof field.value !== "string") return ERROR;
    this.check(field);
    return this.#bindings.resolved(this.#field(node, operand, field.value, true));
  }

  #resolve(node: Call, name: string, operands: readonly Expression[], isMember: boolean): CelType {
    const types = operands.map((operand) => this.#types.get(operand) ?? ERROR);
    const found = resolveCall(this.#environment.functions, this.#bindings, { name, types, isMember });
    for (const issue of found.issues) this.#issue(issue.operand === undefined ? node : (operands[issue.operand] ?? node), issue.message);
    if (found.overloads.length > 0) this.#overloads.set(node, found.overloads);
    return found.type;
  }

  #comprehension(node: Comprehension): CelType {
    const range = this.#bindings.resolved(this.check(node.range));
    const accumulated = this.check(node.start);
    const outer = this.#scopes;
    this.#scopes = [...outer, new Map([[node.accumulator, accumulated]])];
    const withResult = this.#scopes;
    this.#scopes = [...withResult, loopVariables(this.#context, node, range)];
    this.#expectType(node.condition, BOOL);
    this.#expectType(node.step, accumulated);
    this.#scopes = withResult;
    const result = this.check(node.result);
    this.#scopes = outer;
    return this.#bindings.resolved(result);
  }

  #expectType(node: Expression, expected: CelType): void {
    const type = this.check(node);
    if (!this.#bindings.assign([expected], [type])) mismatch(this.#context, node, expected, type);
  }
}
