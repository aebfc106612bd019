/** Rows of text as lines with aligned columns. A terminal may use another layout. */

export type TableWriter = (rows: readonly (readonly string[])[]) => string;

export const plainTable: TableWriter = (rows) => {
  const widths = new Map<number, number>();
  for (const row of rows) row.forEach((cell, at) => widths.set(at, Math.max(widths.get(at) ?? 0, cell.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths.get(at) ?? 0))).join("  ");
  return rows.map((row) => `${line(row)}\n`).join("");
};
