/** Durations in the format of Go and Kubernetes ("1h30m", "250ms"), stored as milliseconds. */
import type { Brand } from "./brand.ts";
import { err, ok, type Result } from "./result.ts";

export type Duration = Brand<number, "Duration">;

const UNITS = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** The pattern that CRD schemas use; without nested repetition, so matching takes linear time. */
export const DURATION_PATTERN = "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$";
const WHOLE = new RegExp(DURATION_PATTERN);
const PART = /([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)/g;

export function parseDuration(raw: string): Result<Duration, string> {
  if (raw === "0") return ok(milliseconds(0));
  if (raw.length > 64 || !WHOLE.test(raw)) return err(`"${raw.slice(0, 64)}" is not a duration; write it as "30s", "5m" or "1h30m"`);
  let total = 0;
  for (const [, amount, unit] of raw.matchAll(PART)) total += Number(amount) * (UNITS.get(unit ?? "") ?? 0);
  return ok(milliseconds(total));
}

export function milliseconds(ms: number): Duration {
  return ms as Duration;
}

export function seconds(s: number): Duration {
  return milliseconds(s * 1_000);
}
