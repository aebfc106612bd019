/** Looks up the names of a template. The error for an unknown name suggests the nearest known one. */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { RenderBudget } from "./budget.ts";
import { plain, type Value } from "./value.ts";

/** Why a name has no value. `resource`: the error belongs to that resource, and is reported once and not at every use. */
export type MissingName = { readonly message: string; readonly resource?: string };

export type FoundValue = { readonly value: Value; readonly source: string };

/** `rest`: the path after the name of the template namespace, with at least one name. */
export type TemplateNamespace = (rest: readonly string[]) => Result<FoundValue, MissingName>;

export type TemplateScope = {
  readonly namespaces: ReadonlyMap<string, TemplateNamespace>;
  /** Shared by all templates of a service. */
  readonly budget: RenderBudget;
};

export function scopeOf(namespaces: Iterable<readonly [string, TemplateNamespace]>, budget = new RenderBudget()): TemplateScope {
  return { namespaces: new Map(namespaces), budget };
}

/** The same, with one more namespace. */
export function withNamespace({ namespaces, budget }: TemplateScope, name: string, namespace: TemplateNamespace): TemplateScope {
  return scopeOf([...namespaces, [name, namespace]], budget);
}

export function missing(message: string): Result<never, MissingName> {
  return err({ message });
}

export function lookUp({ namespaces }: Pick<TemplateScope, "namespaces">, path: readonly string[]): Result<FoundValue, MissingName> {
  const { name, rest } = namespaceOf(path);
  const namespace = namespaces.get(name);
  if (namespace === undefined) {
    const known = [...namespaces.keys()];
    return missing(`'${name}' is not a template namespace${didYouMean(name, known)}; there are ${known.join(", ")}`);
  }
  return rest.length === 0 ? missing(`'${path.join(".")}' names a template namespace without a value in it`) : namespace(rest);
}

/** Aliases: `service.config` is `config`, and `env` is `environment`. */
function namespaceOf(path: readonly string[]): { readonly name: string; readonly rest: readonly string[] } {
  const name = path[0] ?? "";
  if (name === "service" && path[1] === "config") return { name: "config", rest: path.slice(2) };
  return { name: name === "env" ? "environment" : name, rest: path.slice(1) };
}

/** Plain texts under fixed names. The error for a name without a value explains how to set it. */
export function fields(name: string, values: ReadonlyMap<string, string | undefined>, hint: string): TemplateNamespace {
  return (rest) => {
    const wanted = rest.join(".");
    if (!values.has(wanted)) return missing(`${name} has no '${wanted}'${didYouMean(wanted, values.keys())}`);
    const text = values.get(wanted);
    return text === undefined ? missing(`${name}.${wanted} is not set; ${hint}`) : ok({ value: plain(text), source: `${name}.${wanted}` });
  };
}
