/** The rows of `lattice up` and `lattice status --watch`: the time since the start, and what changed. */
import type { Clock } from "#base";
import type { StyledSpan, StyledText } from "../styled-text.ts";
import { formatRow } from "../terminal/table.ts";

export type BoardOutput = {
  readonly clock: Clock;
  readonly print: (text: StyledText) => void;
  /** Width of the terminal; undefined: lines are not wrapped. */
  readonly columns?: (() => number | undefined) | undefined;
};

const TIME_WIDTH = 7;
const WIDTHS = [TIME_WIDTH, 11, 18, 9];

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
    this.#output.print(formatRow(row, { widths: WIDTHS, columns: this.#output.columns?.() }));
  }
}
