/**
 * Assigns the nodes of a graph to columns so that edges point from left to right, and orders each column so that few edges cross (the method of Sugiyama:
 * longest path, then barycentres). An edge over several columns gets a point in each column that it passes.
 *
 * The order of nodes and edges decides every tie, so the same graph always gives the same picture.
 */

export type Cell = {
  /** Index of the node; undefined for a point of a long edge. */
  readonly node: number | undefined;
  readonly layer: number;
  /** Cells of the next column that an edge leads to, and of the one before. */
  readonly after: number[];
  readonly before: number[];
};

export type Layers = {
  readonly cells: readonly Cell[];
  /** Cells of each column, from top to bottom. */
  readonly columns: readonly (readonly number[])[];
  /** For each edge: the cells that it passes, from left to right. `reversed`: it leads from right to left. */
  readonly routes: readonly { readonly cells: readonly number[]; readonly reversed: boolean }[];
};

/** By the numbers of two nodes. */
export type Arc = readonly [from: number, to: number];

export function layersOf(count: number, arcs: readonly Arc[]): Layers {
  const reversed = backArcs(count, arcs);
  const forward = arcs.map(([from, to], at): Arc => (reversed.has(at) ? [to, from] : [from, to]));
  const layers = longestPaths(count, forward);
  const cells: Cell[] = layers.map((layer, node) => ({ node, layer, after: [], before: [] }));
  const routes = forward.map(([from, to], at) => ({ cells: from === to ? [from] : routed(cells, from, to), reversed: reversed.has(at) }));
  const columns: number[][] = [];
  for (const [at, { layer }] of cells.entries()) (columns[layer] ??= []).push(at);
  return { cells, columns: ordered(cells, columns), routes };
}

/** Arcs that close a cycle, found depth first without recursion. */
function backArcs(count: number, arcs: readonly Arc[]): ReadonlySet<number> {
  const out: number[][] = Array.from({ length: count }, () => []);
  for (const [at, [from]] of arcs.entries()) out[from]?.push(at);
  const state = new Uint8Array(count); // 0: new, 1: on the path, 2: done
  const found = new Set<number>();
  for (let start = 0; start < count; start++) {
    if (state[start] !== 0) continue;
    const path = [{ node: start, next: 0 }];
    state[start] = 1;
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const arc = out[top.node]?.[top.next++];
      const to = arc === undefined ? undefined : arcs[arc]?.[1];
      if (arc === undefined || to === undefined) {
        state[top.node] = 2;
        path.pop();
      } else if (state[to] === 1) {
        if (to !== top.node) found.add(arc);
      } else if (state[to] === 0) {
        state[to] = 1;
        path.push({ node: to, next: 0 });
      }
    }
  }
  return found;
}

/** Length of the longest path to each node; the arcs have no cycle except loops. */
function longestPaths(count: number, arcs: readonly Arc[]): number[] {
  const real = arcs.filter(([from, to]) => from !== to);
  const layers = Array<number>(count).fill(0);
  const waiting = Array<number>(count).fill(0);
  const out: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of real) {
    out[from]?.push(to);
    waiting[to] = (waiting[to] ?? 0) + 1;
  }
  const ready = waiting.flatMap((left, node) => (left === 0 ? [node] : []));
  for (const node of ready) {
    for (const to of out[node] ?? []) {
      layers[to] = Math.max(layers[to] ?? 0, (layers[node] ?? 0) + 1);
      waiting[to] = (waiting[to] ?? 0) - 1;
      if (waiting[to] === 0) ready.push(to);
    }
  }
  return layers;
}

function routed(cells: Cell[], from: number, to: number): readonly number[] {
  const [first, last] = [cells[from]?.layer ?? 0, cells[to]?.layer ?? 0];
  const route = [from];
  for (let layer = first + 1; layer < last; layer++) route.push(cells.push({ node: undefined, layer, after: [], before: [] }) - 1);
  route.push(to);
  for (const [at, cell] of route.entries()) {
    const next = route[at + 1];
    if (next === undefined) break;
    cells[cell]?.after.push(next);
    cells[next]?.before.push(cell);
  }
  return route;
}

const SWEEPS = 12;

/** Moves each cell to the mean position of its neighbours, column by column, forwards and backwards. */
function ordered(cells: readonly Cell[], columns: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const place = new Float64Array(cells.length);
  const result = columns.map((column) => [...column]);
  const settle = (column: readonly number[]) => column.forEach((cell, at) => (place[cell] = at));
  result.forEach(settle);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forth = sweep % 2 === 0;
    for (const column of forth ? result : result.toReversed()) {
      const mean = new Map(
        column.map((cell) => [cell, meanPlace(forth ? cells[cell]?.before : cells[cell]?.after, place) ?? place[cell] ?? 0]),
      );
      column.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0));
      settle(column);
    }
  }
  return result;
}

export function meanPlace(neighbours: readonly number[] | undefined, place: Float64Array): number | undefined {
  if (neighbours === undefined || neighbours.length === 0) return undefined;
  return neighbours.reduce((sum, cell) => sum + (place[cell] ?? 0), 0) / neighbours.length;
}
