/** Expressions in objects: compiled when they are written, so that a mistake is reported to its author and not to the users whose requests it checks. */
import { repeats } from "#base";
import type { JsonObject } from "#kube";
import { BOOL, isReserved } from "#cel";
import { compile, compileVariables, type CompileOptions, type CompileProblem, type Declared } from "../../admission-cel/index.ts";
import type { FieldCause } from "../../resource-type.ts";
import { textAt } from "../draft.ts";
import { duplicate, invalid, invalidEach, required, tooMany, type Causes } from "./causes.ts";
import { qualifiedName } from "./formats.ts";

/** `shown` is what the cause quotes, where that is not what was compiled. */
export function validateExpression(text: string, path: string, options: CompileOptions, shown = text): Causes {
  const { compiled } = compile(text, options);
  return compiled.ok ? [] : [problemOf(compiled.error, shown, path)];
}

function problemOf({ kind, detail }: CompileProblem, text: string, path: string): FieldCause {
  if (kind === "invalid") return invalid(path, text, detail);
  return { reason: "InternalError", field: path, detail: `Internal error: ${detail}` };
}

const MAX_CONDITIONS = 64;

export function validateMatchConditions(conditions: readonly JsonObject[], list: string, declared: Declared): Causes {
  const names = conditions.map((condition) => textAt(condition, "name"));
  const tooManyOfThem = conditions.length > MAX_CONDITIONS ? [tooMany(list, conditions.length, MAX_CONDITIONS)] : [];
  const stoodBefore = repeats(names);
  return [
    ...tooManyOfThem,
    ...conditions.flatMap((condition, index) => {
      const path = `${list}[${index}]`;
      const expression = textAt(condition, "expression").trim();
      const name = names[index] ?? "";
      return [
        ...(expression === ""
          ? [required(`${path}.expression`)]
          : validateExpression(expression, `${path}.expression`, { ...declared, returns: [BOOL] })),
        ...(name === "" ? [required(`${path}.name`)] : invalidEach(`${path}.name`, name, qualifiedName(name))),
        ...(name !== "" && stoodBefore(name, index) ? [duplicate(`${path}.name`, name)] : []),
      ];
    }),
  ];
}

type Checked = { readonly causes: Causes; readonly types: NonNullable<Declared["variables"]> };

/** Their types are for the expressions that use them. */
export function validateVariables(variables: readonly JsonObject[], declared: Declared): Checked {
  const named = variables.map((variable) => ({ name: textAt(variable, "name"), expression: textAt(variable, "expression") }));
  const { types, expressions } = compileVariables(
    named.filter(({ expression }) => expression.trim() !== ""),
    declared,
  );
  const causes = named.flatMap(({ name, expression }, index) => {
    const path = `spec.variables[${index}]`;
    const compiled = expressions.get(name)?.compiled;
    return [
      ...validateVariableName(name, `${path}.name`),
      ...(expression.trim() === "" ? [required(`${path}.expression`, "expression is not specified")] : []),
      ...(compiled === undefined || compiled.ok || expression.trim() === ""
        ? []
        : [problemOf(compiled.error, expression, `${path}.expression`)]),
    ];
  });
  return { causes, types };
}

function validateVariableName(name: string, path: string): Causes {
  if (name.trim() === "") return [required(path, "name is not specified")];
  const isIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !isReserved(name);
  return isIdentifier ? [] : [invalid(path, name, "must be a valid CEL identifier")];
}
