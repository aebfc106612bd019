/**
 * A compiled admission expression. One that does not compile is kept with its problem: objects written by older servers may contain such
 * expressions, and the failure policy then decides about the request.
 */
import { err, ok, type Result } from "#base";
import { brokenConversion, CALL_COST_LIMIT, check, parseExpression, planProgram, sameType, type CelType, type Program } from "#cel";
import { environmentOf, type Declared } from "./environment.ts";

/** "invalid": a mistake of the author. "internal": accepted, but it cannot be run. The detail is the real server's text. */
export type CompileProblem = { readonly kind: "invalid" | "internal"; readonly detail: string };

export type AdmissionExpression = {
  readonly text: string;
  readonly compiled: Result<{ readonly run: Program; readonly type: CelType; readonly reads: ReadonlySet<string> }, CompileProblem>;
};

export type CompileOptions = Declared & {
  /** The accepted result types. */
  readonly returns: readonly CelType[] | "anything";
};

export function compile(text: string, options: CompileOptions): AdmissionExpression {
  return { text, compiled: compiledOf(text, options) };
}

function compiledOf(text: string, options: CompileOptions): AdmissionExpression["compiled"] {
  const parsed = parseExpression(text);
  if (!parsed.ok) return err({ kind: "invalid", detail: `compilation failed: ${parsed.error}` });
  const checked = check(text, parsed.value, environmentOf(options));
  if (!checked.ok) return err({ kind: "invalid", detail: `compilation failed: ${checked.error}` });
  const type = checked.value.typeOf(parsed.value);
  const wrong = wrongType(type, options.returns);
  if (wrong !== undefined) return err({ kind: "invalid", detail: wrong });
  const broken = brokenConversion(checked.value);
  if (broken !== undefined) return err({ kind: "internal", detail: `program instantiation failed: ${broken}` });
  return ok({ run: planProgram(checked.value, CALL_COST_LIMIT), type, reads: checked.value.variablesUsed });
}

/** The result must be exactly one of these types: dyn is refused, although it might be a bool. */
function wrongType(type: CelType, returns: CompileOptions["returns"]): string | undefined {
  if (returns === "anything" || returns.some((one) => sameType(one, type))) return undefined;
  const [only] = returns;
  const wanted = returns.length === 1 && only !== undefined ? declaredName(only) : `one of [${returns.map(declaredName).join(" ")}]`;
  return `must evaluate to ${wanted} but got ${declaredName(type)}`;
}

/** As cel-go declares it; messages of the checker have "timestamp" and "null" instead. */
function declaredName(type: CelType): string {
  const name = type.kind === "null" ? "null_type" : type.name;
  return type.parameters.length === 0 ? name : `${name}(${type.parameters.map(declaredName).join(", ")})`;
}
