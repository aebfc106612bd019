/**
 * Quantities as the API server writes them back: "0.5" becomes "500m", "1024Mi" becomes "1Gi", "1000" becomes "1k".
 *
 * The unit family a client chose is kept (binary, decimal or exponent); only amounts too small for binary units turn decimal.
 */
import { err, ok, type Result } from "#base";
import { formatQuantity, parseQuantity, quantityFamily } from "#kube";

const FORM = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const NUMBER = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$/;
const SUFFIX = /^([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+|)$/;
const WRONG_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

export function canonicalQuantity(raw: string): Result<string, string> {
  const text = raw.trim();
  const [, amount = "", suffix = ""] = FORM.exec(text) ?? [];
  if (amount === "") return err(WRONG_FORM);
  if (!NUMBER.test(amount)) return err("unable to parse numeric part of quantity");
  if (!SUFFIX.test(suffix)) return err("unable to parse quantity's suffix");
  const parsed = parseQuantity(text.replace(/^\+/, ""));
  if (!parsed.ok) return err(WRONG_FORM);
  return ok(formatQuantity(parsed.value, quantityFamily(suffix)));
}
