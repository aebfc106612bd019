/**
 * Exact resource quantities ("100m", "1.5Gi", "2e3"): an integer number of billionths. Smaller fractions are rounded up, as in
 * Kubernetes.
 */
import { err, ok, type Brand, type Result } from "#base";

/** Billionths of the unit. */
export type Quantity = Brand<bigint, "Quantity">;

const NANO = 1_000_000_000n;

/** As numerator and denominator, so that "m" and "Ki" are both exact. */
const SUFFIXES = new Map<string, readonly [bigint, bigint]>([
  ["n", [1n, 10n ** 9n]],
  ["u", [1n, 10n ** 6n]],
  ["m", [1n, 10n ** 3n]],
  ["", [1n, 1n]],
  ["k", [10n ** 3n, 1n]],
  ["M", [10n ** 6n, 1n]],
  ["G", [10n ** 9n, 1n]],
  ["T", [10n ** 12n, 1n]],
  ["P", [10n ** 15n, 1n]],
  ["E", [10n ** 18n, 1n]],
  ["Ki", [1n << 10n, 1n]],
  ["Mi", [1n << 20n, 1n]],
  ["Gi", [1n << 30n, 1n]],
  ["Ti", [1n << 40n, 1n]],
  ["Pi", [1n << 50n, 1n]],
  ["Ei", [1n << 60n, 1n]],
]);

/** The pattern that Kubernetes publishes for quantities, without its redundant alternatives; also used in the CRD schemas. */
export const QUANTITY_PATTERN = "^[+-]?([0-9]+|[0-9]+\\.[0-9]*|\\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE][+-]?[0-9]+))?$";
const PARTS = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[KMGTPE]i)|[numkMGTPE]|(?:[eE][+-]?[0-9]{1,3}))?$/;

export function parseQuantity(raw: string | number): Result<Quantity, string> {
  const text = String(raw);
  const parts = text.length > 64 ? null : PARTS.exec(text);
  const [, sign, whole = "", fraction = "", suffix = ""] = parts ?? [];
  if (parts === null || (whole === "" && fraction === "")) {
    return err(`"${text.slice(0, 64)}" is not a quantity; write it as "500m", "2" or "1.5Gi"`);
  }
  const [numerator, denominator] = scaleOf(suffix);
  const digits = BigInt(whole + fraction);
  const amount = digits * NANO * numerator;
  const divisor = denominator * 10n ** BigInt(fraction.length);
  const rounded = (amount + divisor - 1n) / divisor; // rounded up, away from zero
  return ok((sign === "-" ? -rounded : rounded) as Quantity);
}

function scaleOf(suffix: string): readonly [bigint, bigint] {
  const known = SUFFIXES.get(suffix);
  if (known !== undefined) return known;
  const exponent = Number(suffix.slice(1));
  return exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];
}

export function compareQuantities(a: Quantity, b: Quantity): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return (a + b) as Quantity;
}

/** As a number, for ratios and metrics; may be rounded. */
export function quantityToNumber(quantity: Quantity): number {
  return Number(quantity) / Number(NANO);
}

/** The kind of unit of a quantity; sums are formatted in the same kind. */
export type QuantityFamily = "decimal" | "binary" | "exponent";

export function quantityFamily(text: string): QuantityFamily {
  if (text.endsWith("i")) return "binary";
  return /[eE][+-]?[0-9]+$/.test(text) ? "exponent" : "decimal";
}

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** As the API server formats it: in the largest unit that needs no fraction. Quantities too small for binary units become decimal. */
export function formatQuantity(quantity: Quantity, family: QuantityFamily): string {
  const nanos: bigint = quantity;
  const large = nanos >= 1024n * NANO || nanos <= -1024n * NANO;
  return family === "binary" && large ? binaryText(nanos) : decimalText(nanos, family === "exponent");
}

function decimalText(nanos: bigint, exponent: boolean): string {
  if (nanos === 0n) return "0";
  let amount = nanos;
  let step = 0;
  while (amount % 1000n === 0n && step < DECIMAL.length - 1) {
    amount /= 1000n;
    step += 1;
  }
  if (!exponent) return `${amount}${DECIMAL[step] ?? ""}`;
  const power = (step - 3) * 3;
  return power === 0 ? `${amount}` : `${amount}e${power}`;
}

function binaryText(nanos: bigint): string {
  const sign = nanos < 0n ? -1n : 1n;
  let amount = (nanos * sign + NANO - 1n) / NANO;
  let step = 0;
  while (amount % 1024n === 0n && step < BINARY.length - 1) {
    amount /= 1024n;
    step += 1;
  }
  return `${amount * sign}${BINARY[step] ?? ""}`;
}
