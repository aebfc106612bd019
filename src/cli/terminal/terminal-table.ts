/** The layout of tables that other folders fill: as wide as the terminal. */
import type { TableWriter } from "#compile";
import type { CliIo } from "../io.ts";
import { plainText } from "../styled-text.ts";
import { formatTable } from "./table.ts";

/** `margin`: columns that an indentation added later takes. */
export function terminalTable({ terminal }: Pick<CliIo, "terminal">, margin = 0): TableWriter {
  return (rows) => plainText(formatTable(rows, { columns: terminal === undefined ? undefined : terminal.columns() - margin }));
}
