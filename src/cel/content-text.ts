/** A text of a value that is equal for equal values, for lookups instead of pairwise comparisons. */
import { isNumber } from "./equality.ts";
import type { Meter } from "./meter.ts";
import { tooLongText } from "./size-limits.ts";
import { CelDuration, CelFailure, CelTimestamp, CelUint, isList, isMap, type CelValue } from "./values.ts";

export function contentText(value: CelValue, meter: Meter): string | CelFailure {
  const parts: string[] = [];
  const failed = write(value, parts, meter);
  return failed ?? parts.join("");
}

function write(value: CelValue, parts: string[], meter: Meter): CelFailure | undefined {
  if (isList(value)) return meter.nested(1, () => writeList(value, parts, meter));
  if (isMap(value)) return meter.nested(1, () => writeMap(value, parts, meter));
  const text = scalarText(value);
  parts.push(text);
  return tooLongText(text.length) ?? meter.work(10 + text.length);
}

function writeList(list: Extract<CelValue, { kind: "list" }>, parts: string[], meter: Meter): CelFailure | undefined {
  parts.push("[");
  for (let at = 0; at < list.size; at++) {
    const failed = write(list.get(at), parts, meter);
    if (failed !== undefined) return failed;
    parts.push(",");
  }
  parts.push("]");
  return undefined;
}

/** The order of entries is ignored. */
function writeMap(map: Extract<CelValue, { kind: "map" }>, parts: string[], meter: Meter): CelFailure | undefined {
  const entries: string[] = [];
  for (const key of map.keys()) {
    const [name, value] = [contentText(key, meter), contentText(map.get(key) ?? null, meter)];
    if (name instanceof CelFailure) return name;
    if (value instanceof CelFailure) return value;
    entries.push(`${name}:${value}`);
  }
  parts.push(`{${entries.toSorted().join()}}`);
  return meter.work(entries.length * 10);
}

function scalarText(value: CelValue): string {
  if (isNumber(value)) return `n${Number(value instanceof CelUint ? value.value : value)}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (value instanceof CelTimestamp) return `t${value.instant.seconds}.${value.instant.nanos}`;
  if (value instanceof CelDuration) return `d${value.nanos}`;
  return value instanceof Uint8Array ? `b${value.join()}` : "?";
}
