/** Coordinates of each cell of a layered graph: columns from left to right, and within a column as near to its neighbours as the order allows. */
import { meanPlace, type Layers } from "./layers.ts";

export type Size = { readonly width: number; readonly height: number };

export type Positions = {
  /** Centre of each cell from the top. */
  readonly y: Float64Array;
  /** Left edge and width of each column. */
  readonly columns: readonly { readonly x: number; readonly width: number }[];
  readonly width: number;
  readonly height: number;
};

const GAP = 22;
const ROUNDS = 12;

/** `corridor`: the space between two columns. */
export function positionsOf({ cells, columns }: Layers, sizeOf: (cell: number) => Size, corridor: number): Positions {
  const y = new Float64Array(cells.length);
  const half = (cell: number) => sizeOf(cell).height / 2;
  for (const column of columns) stack(column, y, half);
  for (let round = 0; round < ROUNDS; round++) {
    const forth = round % 2 === 1;
    for (const column of forth ? columns : columns.toReversed()) {
      const wanted = column.map((cell) => meanPlace(forth ? cells[cell]?.before : cells[cell]?.after, y) ?? y[cell] ?? 0);
      spread(column, wanted, y, half);
    }
  }
  const top = y.reduce((least, centre, cell) => Math.min(least, centre - half(cell)), Infinity);
  for (const cell of y.keys()) y[cell] = (y[cell] ?? 0) - top;
  const height = y.reduce((most, centre, cell) => Math.max(most, centre + half(cell)), 0);
  let x = 0;
  const placed = columns.map((column) => {
    const width = column.reduce((most, cell) => Math.max(most, sizeOf(cell).width), 0);
    const left = x;
    x += width + corridor;
    return { x: left, width };
  });
  return { y, columns: placed, width: Math.max(0, x - corridor), height };
}

type Half = (cell: number) => number;

/** One below the other, around the middle. */
function stack(column: readonly number[], y: Float64Array, half: Half): void {
  const total = column.reduce((sum, cell) => sum + 2 * half(cell) + GAP, -GAP);
  let at = -total / 2;
  for (const cell of column) {
    y[cell] = at + half(cell);
    at += 2 * half(cell) + GAP;
  }
}

/**
 * The positions nearest to the desired ones that keep the order and the gaps: isotonic regression. Cells that would overlap form a block, which is placed at
 * the mean of the desired positions of its cells.
 */
function spread(column: readonly number[], wanted: readonly number[], y: Float64Array, half: Half): void {
  const blocks: { sum: number; count: number; first: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [at, cell] of column.entries()) {
    const previous = column[at - 1];
    offset += previous === undefined ? 0 : half(previous) + GAP + half(cell);
    offsets.push(offset);
    let block = { sum: (wanted[at] ?? 0) - offset, count: 1, first: at };
    for (let last = blocks.at(-1); last !== undefined && last.sum / last.count > block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count, first: last.first };
      blocks.pop();
    }
    blocks.push(block);
  }
  for (const { sum, count, first } of blocks)
    for (let at = first; at < first + count; at++) y[column[at] ?? 0] = sum / count + (offsets[at] ?? 0);
}
