/**
 * The contract of a bench, and how its results are printed.
 *
 * A bench is a file bench/NAME.ts that exports `run`. It reports ratios: absolute figures say more about the machine than
 * about the code, so each value stands beside what it is compared with.
 */
export type BenchResult = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How many times `against`; what is compared, and which way is better, belongs into `note`. */
  readonly ratio: number;
  readonly against: string;
  readonly note?: string;
};

export type Bench = { readonly run: () => Promise<readonly BenchResult[]> };

export function formatResult(bench: string, result: BenchResult): string {
  const note = result.note === undefined ? "" : `  (${result.note})`;
  return `${bench}: ${result.name}  ${roundToThree(result.value)} ${result.unit}  ${roundToThree(result.ratio)}× ${result.against}${note}`;
}

/** Three significant digits: more would be noise. */
function roundToThree(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });
}
