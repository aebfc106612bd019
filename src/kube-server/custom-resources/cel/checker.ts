/**
 * Types of an expression, and which overloads each call can mean. The algorithm and the messages are cel-go's.
 *
 * What comes out is a checked tree: the same expression with a type, and for calls the overloads, on every node.
 */
import { isReserved } from "./escaping.ts";
import { err, ok, type Result } from "#base";
import { qualifiedName, type Call, type Comprehension, type Expression } from "./ast.ts";
import { assignAll, mostGeneral, substitute, type Bindings } from "./assignability.ts";
import type { Declarations, Overload } from "./declarations.ts";
import { literalIssues } from "./literal-checks.ts";
import { Source, type Issue } from "./source.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  formatArguments,
  formatType,
  INT,
  isDynOrError,
  isOptional,
  listType,
  mapType,
  NULL,
  optionalType,
  parameterType,
  sameType,
  STRING,
  typeOfType,
  UINT,
  type CelType,
} from "./types.ts";
import { CelUint } from "./values.ts";

export type CheckEnvironment = {
  readonly functions: Declarations;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Fields of a struct type by its name; undefined when there is no such struct. */
  readonly fieldsOf: (struct: string) => ReadonlyMap<string, CelType> | undefined;
};

export type Checked = {
  readonly expression: Expression;
  readonly typeOf: (expression: Expression) => CelType;
  readonly overloadsOf: (call: Expression) => readonly Overload[];
  /** The call is of a function whose name has dots: `ip.isCanonical(x)`, so there is no target. */
  readonly isQualified: (call: Expression) => boolean;
  /** Identifiers and selections that name a variable or a type. */
  readonly nameOf: (expression: Expression) => string | undefined;
  readonly variablesUsed: ReadonlySet<string>;
};

export function check(text: string, expression: Expression, environment: CheckEnvironment): Result<Checked, string> {
  const checker = new Checker(environment);
  checker.check(expression);
  const checked = checker.finish(expression);
  const issues = checker.issues.length > 0 ? checker.issues : literalIssues(checked);
  return issues.length > 0 ? err(new Source(text).describe(issues)) : ok(checked);
}

const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["null_type", NULL],
  ["list", listType(DYN)],
  ["map", mapType(DYN, DYN)],
  ["type", { kind: "type", name: "type", parameters: [] }],
  ["google.protobuf.Timestamp", { kind: "timestamp", name: "google.protobuf.Timestamp", parameters: [] }],
  ["google.protobuf.Duration", { kind: "duration", name: "google.protobuf.Duration", parameters: [] }],
  ["net.IP", { kind: "opaque", name: "net.IP", parameters: [] }],
  ["net.CIDR", { kind: "opaque", name: "net.CIDR", parameters: [] }],
]);

class Checker {
  readonly issues: Issue[] = [];
  readonly #environment: CheckEnvironment;
  readonly #types = new Map<Expression, CelType>();
  readonly #overloads = new Map<Expression, readonly Overload[]>();
  readonly #qualified = new Set<Expression>();
  readonly #names = new Map<Expression, string>();
  #scopes: readonly ReadonlyMap<string, CelType>[] = [];
  #bindings: Bindings = new Map();
  #fresh = 0;

  constructor(environment: CheckEnvironment) {
    this.#environment = environment;
  }

  finish(expression: Expression): Checked {
    const types = new Map([...this.#types].map(([node, type]) => [node, substitute(this.#bindings, type, true)]));
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
        return listType(this.#join(node.items.map((item) => ({ ...item, node: item.value }))) ?? this.#freshType());
      case "map":
        return this.#map(node);
      case "struct":
        return this.#struct(node);
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
    const type = TYPE_NAMES.get(plain);
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
    return node.testOnly ? BOOL : substitute(this.#bindings, type, false);
  }

  #field(node: Expression, operand: Expression, field: string, optional: boolean): CelType {
    const operandType = substitute(this.#bindings, this.check(operand), false);
    const wrapped = isOptional(operandType);
    const type = this.#fieldOf(node, wrapped ? (operandType.parameters[0] ?? DYN) : operandType, field);
    return wrapped || optional ? optionalType(type) : type;
  }

  #fieldOf(node: Expression, target: CelType, field: string): CelType {
    if (target.kind === "map") return target.parameters[1] ?? DYN;
    if (target.kind === "struct") {
      const fields = this.#environment.fieldsOf(target.name);
      if (fields === undefined) return this.#issue(node, `unexpected failed resolution of '${target.name}'`);
      // a word that CEL reserves may be written as it is where it can only be a field
      const reserved = isReserved(field) ? fields.get(`__${field}__`) : undefined;
      return fields.get(field) ?? reserved ?? this.#issue(node, `undefined field '${field}'`);
    }
    if (target.kind === "parameter") this.#assign([DYN], [target]);
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
    return substitute(this.#bindings, this.#field(node, operand, field.value, true), false);
  }

  #resolve(node: Call, name: string, operands: readonly Expression[], isMember: boolean): CelType {
    const overloads = this.#environment.functions.get(name.startsWith(".") ? name.slice(1) : name);
    if (overloads === undefined) return this.#issue(node, `undeclared reference to '${name}' (in container '')`);
    const types = operands.map((operand) => this.#types.get(operand) ?? ERROR);
    if (name === "_&&_" || name === "_||_") return this.#logical(node, overloads, operands, types);
    const found: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== isMember) continue;
      const fresh = this.#instantiate(overload);
      if (!this.#assign(types, fresh.parameters)) continue;
      found.push(overload);
      const type = substitute(this.#bindings, fresh.result, false);
      if (result === undefined) result = type;
      else if (result.kind !== "dyn" && !sameType(result, type)) result = DYN;
    }
    if (result === undefined) {
      const shown = formatArguments(
        types.map((type) => substitute(this.#bindings, type, true)),
        isMember,
      );
      return this.#issue(node, `found no matching overload for '${name}' applied to '${shown}'`);
    }
    this.#overloads.set(node, found);
    return result;
  }

  #logical(node: Call, overloads: readonly Overload[], operands: readonly Expression[], types: readonly CelType[]): CelType {
    const wrong = operands.filter((_, position) => !this.#assign([types[position] ?? ERROR], [BOOL]));
    for (const operand of wrong) this.#mismatch(operand, BOOL, this.#types.get(operand) ?? ERROR);
    this.#overloads.set(node, overloads);
    return wrong.length > 0 ? ERROR : BOOL;
  }

  #instantiate(overload: Overload): Pick<Overload, "parameters" | "result"> {
    const names = new Map<string, CelType>();
    const rename = (type: CelType): CelType => {
      if (type.kind === "parameter") {
        const known = names.get(type.name) ?? this.#freshType();
        names.set(type.name, known);
        return known;
      }
      return type.parameters.length === 0 ? type : { ...type, parameters: type.parameters.map(rename) };
    };
    return { parameters: overload.parameters.map(rename), result: rename(overload.result) };
  }

  #freshType(): CelType {
    this.#fresh += 1;
    return parameterType(`_var${this.#fresh - 1}`);
  }

  #assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    const bindings = assignAll(this.#bindings, from, to);
    if (bindings !== undefined) this.#bindings = bindings;
    return bindings !== undefined;
  }

  #mismatch(node: { readonly at: number }, expected: CelType, found: CelType): CelType {
    return this.#issue(node, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  /** The one type of all elements, or dyn; mixed literals are refused later, when nothing else is wrong. */
  #join(elements: readonly { readonly node: Expression; readonly optional: boolean }[]): CelType | undefined {
    let joined: CelType | undefined;
    for (const { node, optional } of elements) {
      const type = this.#unwrapped(node, this.check(node), optional);
      if (joined === undefined) joined = type;
      else if (this.#assign([joined], [type])) joined = mostGeneral(joined, type);
      else joined = DYN;
    }
    return joined;
  }

  #unwrapped(node: Expression, type: CelType, optional: boolean): CelType {
    if (!optional) return type;
    if (isOptional(type)) return type.parameters[0] ?? DYN;
    if (type.kind !== "dyn") this.#mismatch(node, optionalType(type), type);
    return type;
  }

  #map(node: Extract<Expression, { kind: "map" }>): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of node.entries) {
      const keyType = this.check(entry.key);
      key = key === undefined ? keyType : this.#joined(key, keyType);
      const valueType = this.#unwrapped(entry.value, this.check(entry.value), entry.optional);
      value = value === undefined ? valueType : this.#joined(value, valueType);
    }
    return mapType(key ?? this.#freshType(), value ?? this.#freshType());
  }

  #joined(previous: CelType, current: CelType): CelType {
    return this.#assign([previous], [current]) ? mostGeneral(previous, current) : DYN;
  }

  /** Rules cannot make messages: every struct type is one of a schema, and those have no constructor. */
  #struct(node: Extract<Expression, { kind: "struct" }>): CelType {
    const type = this.#lookup(node.name);
    if (type === undefined) return this.#issue(node, `undeclared reference to '${node.name}' (in container '')`);
    if (type.kind !== "type") return this.#issue(node, `'${formatType(type)}' is not a type`);
    return this.#issue(node, `'${formatType(type.parameters[0] ?? DYN)}' is not a message type`);
  }

  #comprehension(node: Comprehension): CelType {
    const range = substitute(this.#bindings, this.check(node.range), false);
    const accumulated = this.check(node.start);
    const outer = this.#scopes;
    this.#scopes = [...outer, new Map([[node.accumulator, accumulated]])];
    const withResult = this.#scopes;
    this.#scopes = [...withResult, this.#loopVariables(node, range)];
    this.#expectType(node.condition, BOOL);
    this.#expectType(node.step, accumulated);
    this.#scopes = withResult;
    const result = this.check(node.result);
    this.#scopes = outer;
    return substitute(this.#bindings, result, false);
  }

  #loopVariables(node: Comprehension, range: CelType): ReadonlyMap<string, CelType> {
    const [first, second] = this.#elementTypes(node, range);
    if (node.variable2 === undefined) return new Map([[node.variable, range.kind === "list" ? second : first]]);
    return new Map([
      [node.variable, first],
      [node.variable2, second],
    ]);
  }

  /** Index or key, and value. */
  #elementTypes(node: Comprehension, range: CelType): readonly [CelType, CelType] {
    if (range.kind === "list") return [INT, range.parameters[0] ?? DYN];
    if (range.kind === "map") return [range.parameters[0] ?? DYN, range.parameters[1] ?? DYN];
    if (isDynOrError(range) || range.kind === "parameter") {
      this.#assign([DYN], [range]);
      return [DYN, DYN];
    }
    const text = `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
    this.#issue(node.range, text);
    return [ERROR, ERROR];
  }

  #expectType(node: Expression, expected: CelType): void {
    const type = this.check(node);
    if (!this.#assign([expected], [type])) this.#mismatch(node, expected, type);
  }
}

function constantType(value: unknown): CelType {
  if (value === null) return NULL;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof CelUint) return UINT;
  if (typeof value === "bigint") return INT;
  if (typeof value === "number") return DOUBLE;
  return typeof value === "boolean" ? BOOL : STRING;
}
