/** The rows of `lattice up` and `lattice status --watch`: the time since the start, and what changed. */
import type { Clock } from "#base";
import type { StyledSpan, StyledText } from "../styled-text.ts";
import { formatRow } from "../terminal/table.ts";

export type BoardOutput = {
  readonly clock: Clock;
  readonly print: (text: StyledText) => void;
  /** Width of the terminal; undefined: lines are not wrapped. */
  readonly columns?: (() => number | undefined) | undefined;
  /** Without the column of kinds, so that sentences fit beside the others. */
  readonly withoutKinds?: boolean | undefined;
};

const TIME_WIDTH = 7;
const WIDTHS = [TIME_WIDTH, 11, 18, 9];
/** Names tell clusters from services, and phases of clusters are longer. */
const WIDTHS_WITHOUT_KINDS = [TIME_WIDTH, 18, 12];

export class BoardTable {
  readonly #output: BoardOutput;
  readonly #since: number;

  constructor(output: BoardOutput) {
    this.#output = output;
    this.#since = output.clock.monotonic();
  }

  printHeader(): void {
    this.#print(["TIME".padStart(TIME_WIDTH), "KIND", "NAME", "PHASE", "STATUS"]);
  }

  printRow(...cells: readonly StyledSpan[]): void {
    const seconds = (this.#output.clock.monotonic() - this.#since) / 1_000;
    this.#print([`${seconds.toFixed(1)}s`.padStart(TIME_WIDTH), ...cells]);
  }

  #print(row: readonly StyledSpan[]): void {
    const { withoutKinds = false } = this.#output;
    const widths = withoutKinds ? WIDTHS_WITHOUT_KINDS : WIDTHS;
    this.#output.print(formatRow(withoutKinds ? row.toSpliced(1, 1) : row, { widths, columns: this.#output.columns?.() }));
  }
}
