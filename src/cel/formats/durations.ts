/** Durations in Go's syntax ("1h30m", "-1.5s"), and the looser form that schemas also allow ("3 days"). In nanoseconds. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["μs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const LOOSE_UNITS: readonly (readonly [names: readonly string[], nanos: bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], 86_400_000_000_000n],
  [["w", "wk", "week"], 604_800_000_000_000n],
];
const LIMIT = 1n << 63n;

/** Go's `time.ParseDuration`; undefined for an invalid text, or beyond 64 bits. */
export function parseStrictDuration(text: string): bigint | undefined {
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0n;
  if (body === "") return undefined;
  let rest = body;
  let total = 0n;
  while (rest !== "") {
    const match = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/.exec(rest);
    const [all = "", whole = "", fraction = "", unit = ""] = match ?? [];
    if (match === null || (whole === "" && fraction === "")) return undefined;
    total += nanosOf(whole, fraction, UNITS.get(unit) ?? 0n);
    rest = rest.slice(all.length);
  }
  if (total > LIMIT || (total === LIMIT && !negative)) return undefined;
  return negative ? -total : total;
}

function nanosOf(whole: string, fraction: string, unit: bigint): bigint {
  const digits = fraction.slice(0, 18);
  return (
    BigInt(whole === "" ? 0 : whole.slice(0, 40)) * unit + (digits === "" ? 0n : (BigInt(digits) * unit) / 10n ** BigInt(digits.length))
  );
}

/** The format "duration" of schemas: Go's, or any text that contains a number and a unit. */
export function parseGoDuration(text: string): bigint | undefined {
  const strict = parseStrictDuration(text);
  if (strict !== undefined) return strict;
  let total: bigint | undefined;
  for (const [, digits = "", unit = ""] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (digits.length > 19 || BigInt(digits) >= LIMIT) return undefined;
    for (const nanos of looseUnits(unit.toLowerCase())) total = (total ?? 0n) + BigInt(digits) * nanos;
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}

/** A unit may be written out: the last name of each row is a prefix. */
function looseUnits(unit: string): readonly bigint[] {
  return LOOSE_UNITS.flatMap(([names, nanos]) =>
    names.filter((name, at) => name === unit || (at === names.length - 1 && unit.startsWith(name))).map(() => nanos),
  );
}

/** "1.5s": a duration in CEL's text form. */
export function formatSeconds(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${nanos < 0n ? "-" : ""}${size / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
}
