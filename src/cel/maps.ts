/** Maps that an expression makes: literals, `transformMap`, query parameters. Keys are compared by CEL's rules. */
import { CelDuration, CelTimestamp, CelUint, failure, type CelFailure, type CelMap, type CelValue } from "./values.ts";

export type Entry = readonly [CelValue, CelValue];

/** Undefined for a value that cannot be a key. */
export function keyText(key: CelValue): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (key === null || typeof key === "boolean") return String(key);
  if (typeof key === "bigint") return `i${key}`;
  if (key instanceof CelUint) return `u${key.value}`;
  if (typeof key === "number") return `d${key}`;
  if (key instanceof CelTimestamp) return `t${key.instant.seconds}.${key.instant.nanos}`;
  return key instanceof CelDuration ? `p${key.nanos}` : undefined;
}

/** A number matches an equal key of another type, if there is none of its own type. */
function textsOf(key: CelValue): readonly string[] {
  const own = keyText(key);
  const whole = typeof key === "number" ? (Number.isInteger(key) ? BigInt(key) : undefined) : key instanceof CelUint ? key.value : key;
  return [...(own === undefined ? [] : [own]), ...(typeof whole === "bigint" ? [`i${whole}`, `u${whole}`, `d${Number(whole)}`] : [])];
}

/** A duplicate key has its last value, as in a Go map. */
export function mapOf(entries: readonly Entry[]): CelMap | CelFailure {
  const byText = new Map<string, Entry>();
  for (const entry of entries) {
    const text = keyText(entry[0]);
    if (text === undefined) return failure("unsupported key type");
    byText.set(text, entry);
  }
  return mapOfKeys(byText);
}

/** Entries by the texts of their keys. */
export function mapOfKeys(byText: ReadonlyMap<string, Entry>): CelMap {
  return {
    kind: "map",
    size: byText.size,
    get: (key) => byText.get(textsOf(key).find((text) => byText.has(text)) ?? "")?.[1],
    keys: () => [...byText.values()].map(([key]) => key),
  };
}

export function describeKey(key: CelValue): string {
  if (key instanceof CelUint) return String(key.value);
  return typeof key === "string" || typeof key === "bigint" || typeof key === "boolean" || typeof key === "number" ? String(key) : "?";
}

export function entriesOf(map: CelMap): readonly Entry[] {
  return map.keys().map((key) => [key, map.get(key) ?? null]);
}
