/** What the names in a template stand for. Unknown names are answered with the nearest known one. */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { RenderBudget } from "./budget.ts";
import { plain, type Value } from "./value.ts";

/** Why a name has no value. `resource`: the error is that resource's own, and is reported once and not at every use. */
export type MissingName = { readonly message: string; readonly resource?: string };

export type FoundValue = { readonly value: Value; readonly source: string };

/** `rest`: the path behind the namespace's own name, with at least one name. */
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

/** Both spellings are in the documents that Lattice comes from: `service.config` is `config`, and `env` is `environment`. */
function namespaceOf(path: readonly string[]): { readonly name: string; readonly rest: readonly string[] } {
  const name = path[0] ?? "";
  if (name === "service" && path[1] === "config") return { name: "config", rest: path.slice(2) };
  return { name: name === "env" ? "environment" : name, rest: path.slice(1) };
}

/** Plain texts under fixed names. One that is known but has no value says how to give it one. */
export function fields(name: string, values: ReadonlyMap<string, string | undefined>, hint: string): TemplateNamespace {
  return (rest) => {
    const wanted = rest.join(".");
    if (!values.has(wanted)) return missing(`${name} has no '${wanted}'${didYouMean(wanted, values.keys())}`);
    const text = values.get(wanted);
    return text === undefined ? missing(`${name}.${wanted} is not set; ${hint}`) : ok({ value: plain(text), source: `${name}.${wanted}` });
  };
}
