/**
 * `variables` of a policy: named expressions, each of which may use the previous ones. A variable is evaluated when it is first read, and its
 * value is kept for the rest of the request.
 */
import {
  BOOL,
  BYTES,
  CelFailure,
  DOUBLE,
  DURATION,
  DYN,
  failure,
  INT,
  listType,
  mapType,
  NO_SUCH_OVERLOAD,
  NULL,
  SPENT,
  STRING,
  TIMESTAMP,
  UINT,
  unescapeName,
  type CelMap,
  type CelType,
  type CelValue,
  type RunLimits,
  type VariableValues,
} from "#cel";
import type { LazyVariables, VariablesOf } from "./activation.ts";
import { compile, type CompileOptions, type AdmissionExpression } from "./compile.ts";

export type NamedExpression = { readonly name: string; readonly expression: string };

export type Variables = {
  /** For `compile` of the expressions that use them. */
  readonly types: ReadonlyMap<string, CelType>;
  readonly expressions: ReadonlyMap<string, AdmissionExpression>;
  /** For `activationOf`: a fresh set of values per request. */
  readonly valuesOf: VariablesOf;
};

export function compileVariables(named: readonly NamedExpression[], options: Omit<CompileOptions, "returns" | "variables">): Variables {
  const types = new Map<string, CelType>();
  const expressions = new Map<string, AdmissionExpression>();
  for (const { name, expression } of named) {
    const compiled = compile(expression, { ...options, returns: "anything", variables: types });
    types.set(name, compiled.compiled.ok ? visibleType(compiled.compiled.value.type) : DYN);
    expressions.set(name, compiled);
  }
  return { types, expressions, valuesOf: (values) => lazyValues(expressions, values) };
}

const SIMPLE: ReadonlySet<CelType> = new Set([BOOL, BYTES, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT]);

/** Types declared by one expression are unknown in another, where they are dyn. */
function visibleType(type: CelType): CelType {
  if (SIMPLE.has(type)) return type;
  const [first = DYN, second = DYN] = type.parameters;
  if (type.kind === "list") return listType(visibleType(first));
  return type.kind === "map" ? mapType(visibleType(first), visibleType(second)) : DYN;
}

function lazyValues(expressions: ReadonlyMap<string, AdmissionExpression>, values: VariableValues): LazyVariables {
  const known = new Map<string, CelValue>();
  let limits: RunLimits = {};
  let cost = 0;
  const resolve = (name: string, expression: AdmissionExpression): CelValue => {
    const { compiled } = expression;
    if (!compiled.ok) return failure(`composited variable ${JSON.stringify(name)} fails to compile: ${compiled.error.detail}`);
    const left = (limits.cost ?? Number.POSITIVE_INFINITY) - cost;
    if (left < 0) return SPENT;
    const run = compiled.value.run(values, { ...limits, cost: left });
    cost += run.cost;
    const { value } = run;
    if (!(value instanceof CelFailure)) return value;
    return new CelFailure(
      `composited variable ${JSON.stringify(name)} fails to evaluate: ${value.message}`,
      value.fatal && value !== SPENT,
    );
  };
  const map: CelMap = {
    kind: "map",
    size: expressions.size,
    keys: () => [...expressions.keys()],
    get: (key) => {
      if (typeof key !== "string") return NO_SUCH_OVERLOAD;
      const name = unescapeName(key);
      const expression = name === undefined ? undefined : expressions.get(name);
      if (name === undefined || expression === undefined) return undefined;
      const kept = known.get(name);
      if (kept !== undefined) return kept;
      const value = resolve(name, expression);
      // the limit belongs to the expression that read the variable: the next expression has its own
      if (!(value instanceof CelFailure && value.fatal)) known.set(name, value);
      return value;
    },
    equalTo: (other) => (other === map ? true : NO_SUCH_OVERLOAD),
  };
  const limit = (next: RunLimits): void => {
    limits = next;
  };
  const takeCost = (): number => {
    const taken = cost;
    cost = 0;
    return taken;
  };
  return { map, limit, takeCost };
}
