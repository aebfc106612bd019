/**
 * The contract of a bench, and how its results are printed.
 *
 * A bench is a file bench/NAME.ts that exports `run`. It reports ratios: absolute figures depend on the machine, so each value is compared
 * with another one of the same run.
 */
export type BenchResult = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The ratio to `against`; `note` explains what is compared, and whether more is better. */
  readonly ratio: number;
  readonly against: string;
  readonly note?: string;
  /** A larger value makes `npm run bench` fail. */
  readonly limit?: number;
};

export type Bench = { readonly run: () => Promise<readonly BenchResult[]> };

export function formatResult(bench: string, result: BenchResult): string {
  const note = result.note === undefined ? "" : `  (${result.note})`;
  return `${isTooLarge(result) ? "TOO MUCH  " : ""}${bench}: ${result.name}  ${roundToThree(result.value)} ${result.unit}  ${roundToThree(result.ratio)}× ${result.against}${note}`;
}

export function isTooLarge({ value, limit }: BenchResult): boolean {
  return limit !== undefined && !(value <= limit);
}

/** Three significant digits: more are not reproducible. */
function roundToThree(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });
}
