/**
 * Removes the invalid fields of a document, so that the rest of it can be checked in the same run. For reports only: no
 * objects are compiled from a document with a mistake.
 *
 * A resource with a mistake is replaced by an unreadable one, and a port by another port, so that references to them are not reported too.
 */
import type { Result } from "#base";
import { parseLatticeObject, type LatticeObject } from "#crds";
import { findField, isJsonObject, type FieldStep, type Json } from "#kube";
import { UNREAD_TYPE } from "#service-compiler";
import { isScore, parseScore, type ScoreOptions } from "./score.ts";

export type PartialContext = {
  /** For a document without a legal name. */
  readonly name: string;
  readonly score: ScoreOptions;
};

/** undefined: the rest cannot be checked. `paths`: fields with mistakes. */
export function readPartially(value: Json, paths: readonly string[], { name, score }: PartialContext): LatticeObject | undefined {
  const root = isScore(value) ? [] : ["spec"];
  const left = withoutMistakes(value, paths, { root, name });
  if (left === undefined) return undefined;
  const parsed: Result<LatticeObject, unknown> = root.length === 0 ? parseScore(left.value, score) : parseLatticeObject(left.value);
  return parsed.ok ? withUnread(parsed.value, left.unread) : undefined;
}

type Left = { readonly value: Json; readonly unread: ReadonlySet<string> };
/** `root`: the path of containers and resources. */
type Place = { readonly root: readonly string[]; readonly name: string };

function withoutMistakes(value: Json, paths: readonly string[], { root, name }: Place): Left | undefined {
  const unread = new Set<string>();
  let left = value;
  // in reverse order: removing an item of a list shifts the later ones
  for (const { path, steps, complete } of paths.map((one) => ({ path: one, ...findField(value, one) })).toSorted(lastFirst)) {
    const inside = root.every((step, at) => steps[at] === step) ? steps.slice(root.length) : [];
    const standIn = standInFor(path, inside, { root, name });
    if (standIn !== undefined) left = replaced(left, standIn.steps, standIn.value);
    else if (inside[0] === "resources" && typeof inside[1] === "string") {
      unread.add(inside[1]);
      left = removed(left, [...root, "resources", inside[1]]);
    } else if (steps.length > root.length) left = removed(left, steps);
    else if (complete) return undefined;
  }
  return { value: left, unread };
}

/** Replacements for required fields, so that the surrounding object is kept. */
function standInFor(
  path: string,
  inside: readonly FieldStep[],
  { root, name }: Place,
): { steps: readonly FieldStep[]; value: Json } | undefined {
  if (path === "metadata.name") return { steps: ["metadata", "name"], value: name };
  if (path === [...root, "containers"].join(".")) return { steps: [...root, "containers"], value: { main: { image: "unknown" } } };
  if (inside[0] === "containers" && path.endsWith(".image"))
    return { steps: [...root, "containers", inside[1] ?? "", "image"], value: "unknown" };
  const [first, second, port] = inside;
  const isPort = first === "service" && second === "ports" && typeof port === "string" && inside.length <= 4;
  return isPort ? { steps: [...root, "service", "ports", port], value: { port: portFor(port) } } : undefined;
}

const FIRST_STAND_IN = 60_000;

/** Port numbers that are rarely used, so that two replacements do not conflict. */
function portFor(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 5_000;
  return FIRST_STAND_IN + sum;
}

function lastFirst(a: { readonly steps: readonly FieldStep[] }, b: { readonly steps: readonly FieldStep[] }): number {
  for (const [at, step] of a.steps.entries()) {
    const other = b.steps[at];
    if (typeof step === "number" && typeof other === "number" && step !== other) return other - step;
  }
  return 0;
}

function removed(value: Json, [step, ...rest]: readonly FieldStep[]): Json {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (rest.length === 0) return items.filter((_, at) => at !== step);
    return items.map((item, at) => (at === step ? removed(item, rest) : item));
  }
  if (!isJsonObject(value) || typeof step !== "string") return value;
  const { [step]: inner, ...others } = value;
  return rest.length === 0 || inner === undefined ? others : { ...others, [step]: removed(inner, rest) };
}

function replaced(value: Json | undefined, [step, ...rest]: readonly FieldStep[], by: Json): Json {
  if (step === undefined) return by;
  const fields = isJsonObject(value) ? value : {};
  return { ...fields, [step]: replaced(fields[step], rest, by) };
}

/** Templates that read one of these are not checked until it is fixed. */
function withUnread(object: LatticeObject, unread: ReadonlySet<string>): LatticeObject {
  if (object.kind !== "LatticeService" || unread.size === 0) return object;
  const entries = [...unread].map(
    (name) => [name, { type: UNREAD_TYPE, direction: "outbound" as const, params: {}, metadata: {} }] as const,
  );
  return { ...object, spec: { ...object.spec, resources: { ...object.spec.resources, ...Object.fromEntries(entries) } } };
}
