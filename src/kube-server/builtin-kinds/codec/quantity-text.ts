/**
 * Quantities as the API server writes them back: "0.5" becomes "500m", "1024Mi" becomes "1Gi", "1000" becomes "1k".
 *
 * The unit family a client chose is kept (binary, decimal or exponent); only amounts too small for binary units turn decimal.
 */
import { err, ok, type Result } from "#base";
import { parseQuantity } from "#kube";

const FORM = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const NUMBER = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$/;
const SUFFIX = /^([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+|)$/;
const WRONG_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const NANO = 1_000_000_000n;

export function canonicalQuantity(raw: string): Result<string, string> {
  const text = raw.trim();
  const [, amount = "", suffix = ""] = FORM.exec(text) ?? [];
  if (amount === "") return err(WRONG_FORM);
  if (!NUMBER.test(amount)) return err("unable to parse numeric part of quantity");
  if (!SUFFIX.test(suffix)) return err("unable to parse quantity's suffix");
  const parsed = parseQuantity(text.replace(/^\+/, ""));
  if (!parsed.ok) return err(WRONG_FORM);
  const nanos: bigint = parsed.value;
  if (suffix.endsWith("i") && (nanos >= 1024n * NANO || nanos <= -1024n * NANO)) return ok(binaryText(nanos));
  const exponent = /^[eE][+-]?[0-9]/.test(suffix);
  return ok(decimalText(nanos, exponent));
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
