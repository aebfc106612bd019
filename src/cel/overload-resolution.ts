/** The possible overloads of a call for the types of its operands, and its result type. */
import type { Declarations, Overload } from "./declarations.ts";
import type { TypeBindings } from "./type-bindings.ts";
import { BOOL, DYN, ERROR, formatArguments, formatType, sameType, type CelType } from "./types.ts";

export type CallSite = { readonly name: string; readonly types: readonly CelType[]; readonly isMember: boolean };

/** `operand`: the position of the error; undefined for the call as a whole. */
export type Resolution = {
  readonly type: CelType;
  readonly overloads: readonly Overload[];
  readonly issues: readonly { readonly message: string; readonly operand?: number }[];
};

export function resolveCall(functions: Declarations, bindings: TypeBindings, site: CallSite): Resolution {
  const { name, types, isMember } = site;
  const declared = functions.get(name.startsWith(".") ? name.slice(1) : name);
  if (declared === undefined) return failed(`undeclared reference to '${name}' (in container '')`);
  if (name === "_&&_" || name === "_||_") return resolveLogical(declared, bindings, types);
  const overloads: Overload[] = [];
  let result: CelType | undefined;
  for (const overload of declared) {
    if (overload.isMember !== isMember) continue;
    const fresh = bindings.instantiate(overload);
    if (!bindings.assign(types, fresh.parameters)) continue;
    overloads.push(overload);
    const type = bindings.resolved(fresh.result);
    if (result === undefined) result = type;
    else if (result.kind !== "dyn" && !sameType(result, type)) result = DYN;
  }
  if (result !== undefined) return { type: result, overloads, issues: [] };
  const shown = formatArguments(
    types.map((type) => bindings.resolved(type, true)),
    isMember,
  );
  return failed(`found no matching overload for '${name}' applied to '${shown}'`);
}

function failed(message: string): Resolution {
  return { type: ERROR, overloads: [], issues: [{ message }] };
}

/** Each operand is checked separately. */
function resolveLogical(overloads: readonly Overload[], bindings: TypeBindings, types: readonly CelType[]): Resolution {
  const issues = types.flatMap((type, operand) =>
    bindings.assign([type], [BOOL]) ? [] : [{ message: `expected type 'bool' but found '${formatType(type)}'`, operand }],
  );
  return { type: issues.length > 0 ? ERROR : BOOL, overloads, issues };
}
