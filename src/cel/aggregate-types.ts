/** Types of lists, maps and messages, and of the variables of loops over them. */
import type { Comprehension, Expression } from "./ast.ts";
import { mostGeneral } from "./assignability.ts";
import type { TypeBindings } from "./type-bindings.ts";
import { DYN, ERROR, formatType, INT, isDynOrError, isOptional, mapType, optionalType, type CelType } from "./types.ts";

/** The part of the checker that checks of subexpressions use. */
export type CheckContext = {
  readonly bindings: TypeBindings;
  readonly check: (node: Expression) => CelType;
  /** Reports an error; the type of the node is then an error. */
  readonly issue: (node: { readonly at: number }, message: string) => CelType;
  readonly lookUp: (name: string) => CelType | undefined;
  readonly fieldOf: (node: { readonly at: number }, struct: CelType, field: string) => CelType;
};

export function mismatch(context: CheckContext, node: { readonly at: number }, expected: CelType, found: CelType): CelType {
  return context.issue(node, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
}

/** The common type of all elements, or dyn; mixed literals are refused later, if there is no other error. */
export function joinTypes(
  context: CheckContext,
  elements: readonly { readonly node: Expression; readonly optional: boolean }[],
): CelType | undefined {
  let joined: CelType | undefined;
  for (const { node, optional } of elements) {
    const type = unwrapped(context, node, context.check(node), optional);
    if (joined === undefined) joined = type;
    else if (context.bindings.assign([joined], [type])) joined = mostGeneral(joined, type);
    else joined = DYN;
  }
  return joined;
}

function unwrapped(context: CheckContext, node: Expression, type: CelType, optional: boolean): CelType {
  if (!optional) return type;
  if (isOptional(type)) return type.parameters[0] ?? DYN;
  if (type.kind !== "dyn") mismatch(context, node, optionalType(type), type);
  return type;
}

export function mapLiteralType(context: CheckContext, node: Extract<Expression, { kind: "map" }>): CelType {
  let key: CelType | undefined;
  let value: CelType | undefined;
  for (const entry of node.entries) {
    const keyType = context.check(entry.key);
    key = key === undefined ? keyType : joined(context, key, keyType);
    const valueType = unwrapped(context, entry.value, context.check(entry.value), entry.optional);
    value = value === undefined ? valueType : joined(context, value, valueType);
  }
  return mapType(key ?? context.bindings.freshType(), value ?? context.bindings.freshType());
}

function joined(context: CheckContext, previous: CelType, current: CelType): CelType {
  return context.bindings.assign([previous], [current]) ? mostGeneral(previous, current) : DYN;
}

/** Rules of custom resources cannot construct messages: types of a schema have no constructor. Mutations of policies can. */
export function structType(context: CheckContext, node: Extract<Expression, { kind: "struct" }>): CelType {
  const type = context.lookUp(node.name);
  if (type === undefined) return context.issue(node, `undeclared reference to '${node.name}' (in container '')`);
  if (type.kind !== "type") return context.issue(node, `'${formatType(type)}' is not a type`);
  const made = type.parameters[0] ?? DYN;
  if (made.kind !== "struct") return context.issue(node, `'${formatType(made)}' is not a message type`);
  for (const field of node.fields) {
    const value = unwrapped(context, field.value, context.check(field.value), field.optional);
    const declared = context.fieldOf(field, made, field.name);
    if (declared !== ERROR && !context.bindings.assign([declared], [value])) {
      const wanted = formatType(declared);
      context.issue(field, `expected type of field '${field.name}' is '${wanted}' but provided type is '${formatType(value)}'`);
    }
  }
  return made;
}

export function loopVariables(context: CheckContext, node: Comprehension, range: CelType): ReadonlyMap<string, CelType> {
  const [first, second] = elementTypes(context, node, range);
  if (node.variable2 === undefined) return new Map([[node.variable, range.kind === "list" ? second : first]]);
  return new Map([
    [node.variable, first],
    [node.variable2, second],
  ]);
}

/** Index or key, and value. */
function elementTypes(context: CheckContext, node: Comprehension, range: CelType): readonly [CelType, CelType] {
  if (range.kind === "list") return [INT, range.parameters[0] ?? DYN];
  if (range.kind === "map") return [range.parameters[0] ?? DYN, range.parameters[1] ?? DYN];
  if (isDynOrError(range) || range.kind === "parameter") {
    context.bindings.assign([DYN], [range]);
    return [DYN, DYN];
  }
  const text = `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
  context.issue(node.range, text);
  return [ERROR, ERROR];
}
