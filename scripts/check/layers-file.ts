/**
 * layers.json: who may import whom. Read strictly, because a misspelt key ("pur") would quietly switch a rule off.
 *
 * The order of the folders is part of the rule: a folder may only name folders above it, so there can be no circle.
 */
import { err, ok, type Result } from "#base";

export type Layer = {
  readonly may: readonly string[];
  /** No input or output of its own: no node:*, no clock, no randomness. */
  readonly pure: boolean;
  /** The node:* modules it may use; undefined means any (none, if pure). */
  readonly node: readonly string[] | undefined;
};
export type Layers = ReadonlyMap<string, Layer>;

const KEYS = new Set(["may", "pure", "node", "why"]);

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
    layers.set(folder, { may, pure: rule["pure"] === true, node: rule["node"] === undefined ? undefined : names(rule["node"]) });
  }
  return problems.length > 0 ? err(problems) : ok(layers);
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
