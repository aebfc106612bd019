/** `--namespaces a,b`: where the operator works, the same in `lattice operator` and `lattice rbac`. */
import { err, ok, type Result } from "#base";
import { isSystemNamespace } from "#crds";
import { parseNamespace } from "#kube";

/** Each namespace costs a list and a watch per kind. */
export const MOST_NAMESPACES = 100;

/** Undefined: the whole cluster. */
export function parseNamespaces(text: string | undefined): Result<readonly string[] | undefined, string> {
  if (text === undefined) return ok(undefined);
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  if (names.length > MOST_NAMESPACES) {
    return err(
      `--namespaces: has ${names.length} namespaces, at most ${MOST_NAMESPACES} are supported; leave it out to work in all of them`,
    );
  }
  for (const name of names) {
    const parsed = parseNamespace(name);
    if (!parsed.ok) return err(`--namespaces: ${parsed.error}`);
    if (isSystemNamespace(name)) return err(`--namespaces: ${name} is a system namespace, which Lattice never changes; leave it out`);
  }
  return ok(names);
}
