/**
 * Variables in the manifests of Cluster API's providers, replaced as `clusterctl` replaces them: `${NAME:=default}`, `${NAME}`, and
 * `${NAME/#prefix/replacement}` (without a value: empty). Other components are left as they are: there `${` belongs to shell scripts.
 */
import { err, ok, type Result } from "#base";

const VARIABLE = /\$\{([^}]*)\}/g;
const FORM = /^([A-Za-z_][A-Za-z0-9_]*)(?:(?::?[=-])(.*)|\/#([^/]*)\/(.*))?$/s;

export type Substitution = { readonly text: string; readonly used: ReadonlySet<string> };

export function substituteVariables(text: string, values: ReadonlyMap<string, string>): Result<Substitution, string> {
  const used = new Set<string>();
  const missing = new Set<string>();
  const unknown = new Set<string>();
  const replaced = text.replaceAll(VARIABLE, (whole, inner: string) => {
    const [, name, fallback, prefix, replacement] = FORM.exec(inner) ?? [];
    if (name === undefined) {
      unknown.add(whole);
      return whole;
    }
    used.add(name);
    const value = values.get(name);
    if (prefix !== undefined)
      return value?.startsWith(prefix) === true ? `${replacement ?? ""}${value.slice(prefix.length)}` : (value ?? "");
    if (value === undefined && fallback === undefined) missing.add(name);
    return value ?? unquote(fallback ?? "");
  });
  const [form] = unknown;
  if (form !== undefined) return err(`${form} is not a form of variable that is supported; write the value into the file`);
  if (missing.size > 0) return err(`has variables without a default: ${[...missing].toSorted().join(", ")}; use --set NAME=VALUE`);
  return ok({ text: replaced, used });
}

/** `${NAME:=""}` is the empty text. */
function unquote(text: string): string {
  return /^(""|'')$/.test(text) ? "" : text;
}
