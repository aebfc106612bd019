/**
 * Assignability of types, which binds type parameters. Bindings are immutable: a failed attempt changes none.
 */
import { DYN, isDynOrError, listType, mapType, sameType, type CelType } from "./types.ts";

export type Bindings = ReadonlyMap<string, CelType>;

type Attempt = Map<string, CelType>;

/** The bindings extended so that each of `from` is assignable to its `to`; undefined if that is impossible. */
export function assignAll(bindings: Bindings, from: readonly CelType[], to: readonly CelType[]): Bindings | undefined {
  const attempt: Attempt = new Map(bindings);
  return fitsAll(attempt, from, to) ? attempt : undefined;
}

function fitsAll(bound: Attempt, from: readonly CelType[], to: readonly CelType[]): boolean {
  return from.length === to.length && from.every((type, position) => fits(bound, type, to[position] ?? DYN));
}

function fits(bound: Attempt, from: CelType, to: CelType): boolean {
  if (to.kind === "parameter") {
    const { valid, hadBinding } = bind(bound, from, to);
    if (valid) return true;
    if (hadBinding) return false;
  }
  if (from.kind === "parameter") return bind(bound, to, from).valid;
  if (isDynOrError(from) || isDynOrError(to)) return true;
  if (from.kind === "null") return takesNull(to);
  if (to.kind === "null") return takesNull(from);
  switch (from.kind) {
    case "type":
      return to.kind === "type";
    case "opaque":
    case "list":
    case "map":
      return from.kind === to.kind && from.name === to.name && fitsAll(bound, from.parameters, to.parameters);
    default:
      return sameType(from, to);
  }
}

function takesNull(type: CelType): boolean {
  return ["null", "opaque", "struct", "duration", "timestamp"].includes(type.kind);
}

function bind(bound: Attempt, type: CelType, parameter: CelType): { readonly valid: boolean; readonly hadBinding: boolean } {
  if (sameType(type, parameter)) return { valid: true, hadBinding: true };
  const known = bound.get(parameter.name);
  if (known === undefined) {
    if (mentions(bound, parameter, type)) return { valid: false, hadBinding: false };
    bound.set(parameter.name, type);
    return { valid: true, hadBinding: false };
  }
  if (sameType(type, known)) return { valid: true, hadBinding: true };
  if (!fits(bound, type, known)) return { valid: false, hadBinding: true };
  const general = mostGeneral(type, known);
  if (!mentions(bound, parameter, general)) bound.set(parameter.name, general);
  return { valid: true, hadBinding: true };
}

/** Whether the type contains the parameter, so that binding it would be circular. */
function mentions(bound: Attempt, parameter: CelType, type: CelType): boolean {
  if (sameType(parameter, type)) return true;
  if (type.kind === "parameter") {
    const known = bound.get(type.name);
    return known !== undefined && mentions(bound, parameter, known);
  }
  return type.parameters.some((inner) => mentions(bound, parameter, inner));
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (a.kind === "dyn" || a.kind === "parameter") return true;
  if (b.kind === "dyn" || b.kind === "parameter" || a.kind !== b.kind) return false;
  if (a.kind === "type") return true;
  if (a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((parameter, position) => isLessSpecific(parameter, b.parameters[position] ?? DYN));
}

/** The type with its parameters replaced; those that are not bound stay, or become dyn. */
export function substitute(bindings: Bindings, type: CelType, freeBecomesDyn: boolean): CelType {
  const bound = type.kind === "parameter" ? bindings.get(type.name) : undefined;
  if (bound !== undefined) return substitute(bindings, bound, freeBecomesDyn);
  if (type.kind === "parameter") return freeBecomesDyn ? DYN : type;
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((parameter) => substitute(bindings, parameter, freeBecomesDyn));
  const [first = DYN, second = DYN] = parameters;
  if (type.kind === "list") return listType(first);
  return type.kind === "map" ? mapType(first, second) : { ...type, parameters };
}
