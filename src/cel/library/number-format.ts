/** Doubles in `format`: `%f` and `%e` of the server, whose locale is en_US. */
const DIGITS = 6;

/** With a thousands separator, as in the server's locale; halves are rounded to even. */
export function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  const digits = Math.min(precision, 100);
  const scaled = value * 10 ** digits;
  const isTie = Math.abs(scaled) < 2 ** 52 && Math.abs(scaled % 1) === 0.5;
  const rounded = isTie ? (2 * Math.round(scaled / 2)) / 10 ** digits : value;
  const [whole = "", fraction] = rounded.toFixed(digits).split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Surprise: always six digits, because the server uses the precision as a width. */
export function scientific(value: number, width: number): string {
  if (!Number.isFinite(value)) return fixed(value, 0);
  const [digits = "", exponent = "0"] = value.toExponential(DIGITS).split("e");
  const power = Number(exponent);
  const raised = Array.from(String(Math.abs(power)).padStart(2, "0"))
    .map((digit) => SUPERSCRIPTS[Number(digit)])
    .join("");
  return `${digits}×10${power < 0 ? "⁻" : ""}${raised}`.padStart(Math.min(width, 1000));
}
