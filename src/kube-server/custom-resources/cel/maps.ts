/** Maps that an expression makes: literals, `transformMap`, query parameters. Keys are compared as CEL compares them. */
import { CelUint, failure, type CelFailure, type CelMap, type CelValue } from "./values.ts";

/** Undefined for a value that cannot be a key. */
export function keyText(key: CelValue): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  return typeof key === "number" && Number.isInteger(key) ? `n${BigInt(key)}` : undefined;
}

export function mapOf(entries: readonly (readonly [CelValue, CelValue])[]): CelMap | CelFailure {
  const byText = new Map<string, readonly [CelValue, CelValue]>();
  for (const entry of entries) {
    const text = keyText(entry[0]);
    if (text === undefined || typeof entry[0] === "number") return failure("unsupported key type");
    if (byText.has(text)) return failure(`Failed with repeated key: ${describeKey(entry[0])}`);
    byText.set(text, entry);
  }
  return {
    kind: "map",
    size: byText.size,
    get: (key) => byText.get(keyText(key) ?? "")?.[1],
    keys: () => [...byText.values()].map(([key]) => key),
  };
}

export function describeKey(key: CelValue): string {
  if (key instanceof CelUint) return String(key.value);
  return typeof key === "string" || typeof key === "bigint" || typeof key === "boolean" || typeof key === "number" ? String(key) : "?";
}

export function entriesOf(map: CelMap): readonly (readonly [CelValue, CelValue])[] {
  return map.keys().map((key) => [key, map.get(key) ?? null]);
}
