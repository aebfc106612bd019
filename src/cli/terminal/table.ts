/**
 * Tables for a terminal of any width, and for pipes.
 *
 * The last column takes the remaining width and wraps; no other column is cut. Where too little width remains, the last column gets its own
 * line. Without a width (a pipe, a file, `-o wide`) each row is one line.
 */
import type { StyledSpan, StyledText } from "../styled-text.ts";
import { padText, textWidth, wrapText } from "./text-width.ts";

export type TableRow = readonly StyledSpan[];

export type TableLayout = {
  /** Widths of all columns but the last. */
  readonly widths: readonly number[];
  /** Width of the terminal; undefined: rows are not wrapped. */
  readonly columns: number | undefined;
  readonly indent?: string;
};

const GAP = "  ";
/** The minimum width of the last column. */
const NARROWEST_LAST = 28;
const HANGING = "    ";

export function formatTable(rows: readonly TableRow[], { columns, indent = "" }: Omit<TableLayout, "widths">): StyledText {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: Math.max(0, count - 1) }, (_, at) =>
    rows.reduce((widest, row) => Math.max(widest, textWidth(textOf(row[at]))), 0),
  );
  return rows.flatMap((row) => formatRow(row, { widths, columns, indent }));
}

/** One row, with a line break at its end. A cell that is wider than its column shifts the following cells. */
export function formatRow(row: TableRow, { widths, columns, indent = "" }: TableLayout): StyledText {
  const cells = row.slice(0, widths.length);
  const last = row[widths.length] ?? "";
  const ends = cells.map((cell, at) => Math.max(textWidth(textOf(cell)), widths[at] ?? 0) + GAP.length);
  const taken = ends.reduce((sum, width) => sum + width, textWidth(indent));
  const lines = linesOf(textOf(last), { columns, taken, indent });
  const alone = textOf(last) === "" || lines.below;
  const spans = cells.flatMap((cell, at): readonly StyledSpan[] => {
    const padded = at === cells.length - 1 && alone ? "" : padText(textOf(cell), ends[at] ?? 0).slice(textOf(cell).length);
    return [cell, padded];
  });
  return [indent, ...spans, ...(lines.text === textOf(last) ? [last] : [lines.text]), "\n"];
}

type Place = { readonly columns: number | undefined; readonly taken: number; readonly indent: string };

function linesOf(text: string, { columns, taken, indent }: Place): { readonly text: string; readonly below: boolean } {
  if (columns === undefined || taken + textWidth(text) <= columns) return { text, below: false };
  if (columns - taken >= NARROWEST_LAST) return { text: wrapText(text, columns - taken).join(`\n${" ".repeat(taken)}`), below: false };
  const margin = `\n${indent}${HANGING}`;
  const width = Math.max(NARROWEST_LAST, columns - margin.length + 1);
  return { text: `${margin}${wrapText(text, width).join(margin)}`, below: true };
}

function textOf(cell: StyledSpan | undefined): string {
  if (cell === undefined) return "";
  return typeof cell === "string" ? cell : cell.text;
}
