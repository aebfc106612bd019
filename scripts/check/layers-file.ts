/**
 * layers.json: which folder may import which. Read strictly, because a misspelt key ("pur") would disable a rule.
 *
 * The order of the folders is part of the rule: a folder may only name folders above it, so there can be no cycle.
 */
import { err, ok, type Result } from "#base";

export type Layer = {
  readonly may: readonly string[];
  /** No input or output: no node:*, no clock, no randomness. */
  readonly pure: boolean;
  /** The node:* modules it may use; undefined means any (none, if pure). */
  readonly node: readonly string[] | undefined;
  /** What the folder is for, as ARCHITECTURE.md shows it. */
  readonly what: string;
  /** Its subfolders, each of which may import those before it; undefined means that only cycles are refused. */
  readonly order: readonly string[] | undefined;
};
export type Layers = ReadonlyMap<string, Layer>;

const KEYS = new Set(["what", "may", "pure", "node", "why", "order"]);

export function parseLayers(text: string): Result<Layers, readonly string[]> {
  const raw = (JSON.parse(text) as { readonly layers?: Readonly<Record<string, Readonly<Record<string, unknown>>>> }).layers ?? {};
  const layers = new Map<string, Layer>();
  const problems: string[] = [];
  for (const [folder, rule] of Object.entries(raw)) {
    const may = names(rule["may"]);
    const unknown = Object.keys(rule).filter((key) => !KEYS.has(key));
    problems.push(...unknown.map((key) => `${folder}: unknown key "${key}"; known are ${[...KEYS].join(", ")}`));
    const later = may.filter((other) => !layers.has(other));
    problems.push(...later.map((other) => `${folder} may import ${other}, which does not stand above it in layers.json`));
    layers.set(folder, {
      may,
      pure: rule["pure"] === true,
      node: optionalNames(rule["node"]),
      what: typeof rule["what"] === "string" ? rule["what"] : "",
      order: optionalNames(rule["order"]),
    });
  }
  return problems.length > 0 ? err(problems) : ok(layers);
}

function optionalNames(value: unknown): readonly string[] | undefined {
  return value === undefined ? undefined : names(value);
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
