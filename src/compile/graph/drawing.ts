/** A graph with coordinates: boxes for nodes, curves for edges, and positions of labels. Pure geometry; `svg.ts` prints it. */
import { layersOf, type Layers } from "./layers.ts";
import type { DrawnEdge, DrawnGraph, DrawnNode } from "./model.ts";
import { positionsOf, type Positions, type Size } from "./positions.ts";

export type Point = { readonly x: number; readonly y: number };
export type Box = Point & Size & { readonly node: DrawnNode };
/** `points`: pairs, each joined to the next by a curve. The arrow is at the last. */
export type Curve = { readonly edge: DrawnEdge; readonly points: readonly Point[]; readonly label: Point | undefined };
export type Drawing = Size & { readonly boxes: readonly Box[]; readonly curves: readonly Curve[] };

/** Longer names are shortened in the middle. */
export const LONGEST_NAME = 30;
const NAME_WIDTH = 7.4;
const PORT_WIDTH = 6.2;
const SLOT = 18;
const LEAST_HEIGHT = 46;
const POINT_SIZE: Size = { width: 1, height: 6 };

export function drawingOf({ nodes, edges }: DrawnGraph): Drawing {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const connected = nodes.filter(({ id }) => joined.has(id));
  const alone = nodes.filter(({ id }) => !joined.has(id));
  const numbers = new Map(connected.map(({ id }, at) => [id, at]));
  const layers = layersOf(
    connected.length,
    edges.map(({ from, to }) => [numbers.get(from) ?? 0, numbers.get(to) ?? 0]),
  );
  const slots = slotCounts(layers);
  const sizes = connected.map((node, at) => ({ width: widthOf(node), height: Math.max(LEAST_HEIGHT, (slots[at] ?? 0) * SLOT + 14) }));
  const corridor = edges.reduce((most, { ports }) => Math.max(most, ports.length * PORT_WIDTH + 70), 100);
  const positions = positionsOf(layers, (cell) => sizes[cell] ?? POINT_SIZE, corridor);
  const boxes = connected.map((node, at): Box => {
    const size = sizes[at] ?? POINT_SIZE;
    const column = positions.columns[layers.cells[at]?.layer ?? 0];
    return { node, ...size, x: (column?.x ?? 0) + ((column?.width ?? 0) - size.width) / 2, y: (positions.y[at] ?? 0) - size.height / 2 };
  });
  const curves = curvesOf(edges, layers, { positions, boxes });
  return withAlone({ boxes, curves, width: positions.width, height: positions.height }, alone);
}

function widthOf({ id }: DrawnNode): number {
  const [namespace, name] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)];
  return Math.ceil(Math.max(96, Math.min(LONGEST_NAME, Math.max(name.length, namespace.length * 0.85)) * NAME_WIDTH + 28));
}

/** The number of edges at the side of a node that has more of them. */
function slotCounts({ routes, cells }: Layers): readonly number[] {
  const [left, right] = [Array<number>(cells.length).fill(0), Array<number>(cells.length).fill(0)];
  for (const { cells: route } of routes) {
    const [first, last] = [route[0] ?? 0, route.at(-1) ?? 0];
    right[first] = (right[first] ?? 0) + 1;
    if (last !== first) left[last] = (left[last] ?? 0) + 1;
  }
  return left.map((count, at) => Math.max(count, right[at] ?? 0));
}

type Placed = { readonly positions: Positions; readonly boxes: readonly Box[] };

function curvesOf(edges: readonly DrawnEdge[], layers: Layers, placed: Placed): readonly Curve[] {
  const { routes } = layers;
  const { y } = placed.positions;
  const starts = slotsBy(routes.map(({ cells }) => ({ node: cells[0] ?? 0, towards: y[cells[1] ?? 0] ?? 0 })));
  const ends = slotsBy(routes.map(({ cells }) => ({ node: cells.at(-1) ?? 0, towards: y[cells.at(-2) ?? 0] ?? 0 })));
  return edges.map((edge, at): Curve => {
    const { cells, reversed } = routes[at] ?? { cells: [], reversed: false };
    if (cells.length < 2) return loop(edge, placed.boxes[cells[0] ?? 0]);
    const [from, to] = [placed.boxes[cells[0] ?? 0], placed.boxes[cells.at(-1) ?? 0]];
    if (from === undefined || to === undefined) return { edge, points: [], label: undefined };
    const start = { x: from.x + from.width, y: slotOf(from, starts[at]) };
    const end = { x: to.x, y: slotOf(to, ends[at]) };
    const between = cells.slice(1, -1).flatMap((cell) => passing(cell, layers, placed.positions));
    const points = [start, ...between, end];
    const head = reversed ? start : end;
    const label = edge.ports === "" ? undefined : { x: head.x + (reversed ? 12 : -12), y: head.y - 5 };
    return { edge, points: reversed ? points.toReversed() : points, label };
  });
}

/** A long edge is straight in the columns between its ends. */
function passing(cell: number, { cells }: Layers, { y, columns }: Positions): readonly Point[] {
  const column = columns[cells[cell]?.layer ?? 0];
  const [x, width] = [column?.x ?? 0, column?.width ?? 0];
  return [
    { x, y: y[cell] ?? 0 },
    { x: x + width, y: y[cell] ?? 0 },
  ];
}

function loop(edge: DrawnEdge, box: Box | undefined): Curve {
  if (box === undefined) return { edge, points: [], label: undefined };
  const [right, middle] = [box.x + box.width, box.y + box.height / 2];
  const points = [
    { x: right, y: middle - 8 },
    { x: right + 26, y: middle },
    { x: right, y: middle + 8 },
  ];
  return { edge, points, label: { x: right + 30, y: middle + 4 } };
}

type Slot = { readonly place: number; readonly of: number };

/** Edges at one side of a node, ordered by the vertical position of their other ends. */
function slotsBy(ends: readonly { readonly node: number; readonly towards: number }[]): readonly Slot[] {
  const slots: Slot[] = [];
  const groups = Map.groupBy(ends.keys(), (at) => ends[at]?.node);
  for (const group of groups.values()) {
    const sorted = group.toSorted((a, b) => (ends[a]?.towards ?? 0) - (ends[b]?.towards ?? 0));
    for (const [place, at] of sorted.entries()) slots[at] = { place, of: sorted.length };
  }
  return slots;
}

function slotOf({ y, height }: Box, slot: Slot | undefined): number {
  const { place, of } = slot ?? { place: 0, of: 1 };
  return y + height / 2 + (place - (of - 1) / 2) * SLOT;
}

const BELOW = 40;
const LEAST_ROW = 640;

/** Nodes without an edge are placed in rows below the others. */
function withAlone(drawing: Drawing, alone: readonly DrawnNode[]): Drawing {
  const boxes = [...drawing.boxes];
  const room = Math.max(drawing.width, LEAST_ROW);
  let [x, y, width] = [0, drawing.height === 0 ? 0 : drawing.height + BELOW, drawing.width];
  for (const node of alone) {
    const size = { width: widthOf(node), height: LEAST_HEIGHT };
    if (x > 0 && x + size.width > room) [x, y] = [0, y + size.height + 20];
    boxes.push({ node, ...size, x, y });
    x += size.width + 24;
    width = Math.max(width, x - 24);
  }
  const height = alone.length === 0 ? drawing.height : y + LEAST_HEIGHT;
  return { boxes, curves: drawing.curves, width, height };
}
