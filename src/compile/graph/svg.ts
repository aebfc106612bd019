/**
 * The mesh as a picture that any browser shows: one SVG file without scripts, links or fonts of its own. Solid lines are open, dashed red ones closed; each line
 * has its meaning as a tooltip.
 */
import { err, ok, type Result } from "#base";
import { drawingOf, LONGEST_NAME, type Box, type Curve, type Point } from "./drawing.ts";
import type { DrawnGraph, NodeKind } from "./model.ts";

/** Larger pictures are not readable, and their layout takes too long. */
const MAX_NODES = 200;
const MAX_EDGES = 600;

const MARGIN = 28;
const LEGEND_HEIGHT = 44;
const OPEN = "#37474f";
const CLOSED = "#b3261e";

const STYLES: Readonly<
  Record<NodeKind, { readonly fill: string; readonly stroke: string; readonly dash: string; readonly radius: number }>
> = {
  service: { fill: "#e3f2fd", stroke: "#1565c0", dash: "", radius: 8 },
  external: { fill: "#f3e5f5", stroke: "#6a1b9a", dash: "", radius: 23 },
  managed: { fill: "#eceff1", stroke: "#607d8b", dash: "", radius: 2 },
  unknown: { fill: "#ffffff", stroke: CLOSED, dash: "5 4", radius: 8 },
};

const KIND_TEXTS: Readonly<Record<NodeKind, string>> = {
  service: "service",
  external: "external service",
  managed: "database outside Lattice",
  unknown: "no such service",
};

/** The error has the size of the graph and the formats to use instead. */
export function svgText(graph: DrawnGraph): Result<string, string> {
  const { nodes, edges } = graph;
  if (nodes.length > MAX_NODES || edges.length > MAX_EDGES)
    return err(
      `the graph has ${nodes.length} services and ${edges.length} edges, and a picture can have ${MAX_NODES} and ${MAX_EDGES}; pass fewer files, or use -o json or -o dot`,
    );
  const { boxes, curves, ...size } = drawingOf(graph);
  const legend = legendOf(graph);
  const width = Math.ceil(Math.max(size.width, legend.width) + 2 * MARGIN);
  const height = Math.ceil(size.height + LEGEND_HEIGHT + 2 * MARGIN);
  return ok(
    [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" role="img">`,
      `<title>Who may talk to whom</title>`,
      `<defs>${arrow("open", OPEN)}${arrow("closed", CLOSED)}</defs>`,
      `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
      `<g transform="translate(${MARGIN} ${MARGIN})">`,
      ...curves.map(curveText),
      ...boxes.map(boxText),
      ...curves.map(labelText),
      `</g>`,
      `<g transform="translate(${MARGIN} ${height - MARGIN})">${legend.text}</g>`,
      `</svg>`,
      "",
    ].join("\n"),
  );
}

function arrow(name: string, colour: string): string {
  const shape = `<path d="M0 0 L9 4 L0 8 Z" fill="${colour}"/>`;
  return `<marker id="${name}" viewBox="0 0 9 8" refX="8" refY="4" markerWidth="9" markerHeight="8" orient="auto">${shape}</marker>`;
}

function curveText({ edge, points }: Curve): string {
  const { from, to, open, ports, meaning } = edge;
  const title = `${from} -> ${to}${ports === "" ? "" : `:${ports}`}: ${meaning}`;
  const line = open ? `stroke="${OPEN}" marker-end="url(#open)"` : `stroke="${CLOSED}" stroke-dasharray="6 4" marker-end="url(#closed)"`;
  return `<path d="${pathText(points)}" fill="none" stroke-width="1.5" ${line}><title>${escaped(title)}</title></path>`;
}

/** Each curve starts and ends horizontally. */
function pathText(points: readonly Point[]): string {
  const parts = points.slice(1).map((to, at) => {
    const from = points[at] ?? to;
    const middle = (from.x + to.x) / 2;
    return from.y === to.y
      ? `L${round(to.x)} ${round(to.y)}`
      : `C${round(middle)} ${round(from.y)} ${round(middle)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
  });
  const [first = { x: 0, y: 0 }] = points;
  return `M${round(first.x)} ${round(first.y)}${parts.join("")}`;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

function labelText({ edge, label, points }: Curve): string {
  if (label === undefined) return "";
  const head = points.at(-1);
  const anchor = head !== undefined && label.x < head.x ? "end" : "start";
  const halo = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"';
  return `<text x="${round(label.x)}" y="${round(label.y)}" font-size="10.5" fill="${OPEN}" text-anchor="${anchor}" ${halo}>${escaped(edge.ports)}</text>`;
}

function boxText({ node, x, y, width, height }: Box): string {
  const { fill, stroke, dash, radius } = STYLES[node.kind];
  const [namespace, name] = [node.id.slice(0, Math.max(0, node.id.indexOf("/"))), node.id.slice(node.id.indexOf("/") + 1)];
  const [middle, centre] = [round(x + width / 2), y + height / 2];
  const dashes = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  return [
    `<g><title>${escaped(`${node.id}: ${KIND_TEXTS[node.kind]}`)}</title>`,
    `<rect x="${round(x)}" y="${round(y)}" width="${width}" height="${height}" rx="${radius}" fill="${fill}" stroke="${stroke}" stroke-width="1.3"${dashes}/>`,
    `<text x="${middle}" y="${round(centre - 1)}" font-size="13" font-weight="600" fill="#1b2327" text-anchor="middle">${escaped(shortened(name))}</text>`,
    `<text x="${middle}" y="${round(centre + 14)}" font-size="10.5" fill="#607d8b" text-anchor="middle">${escaped(shortened(namespace))}</text></g>`,
  ].join("");
}

function shortened(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const half = Math.floor((LONGEST_NAME - 1) / 2);
  return `${name.slice(0, half)}…${name.slice(-half)}`;
}

function legendOf({ nodes, edges }: DrawnGraph): { readonly text: string; readonly width: number } {
  const lines = [
    { is: edges.some(({ open }) => open), text: "open", line: `stroke="${OPEN}" marker-end="url(#open)"` },
    { is: edges.some(({ open }) => !open), text: "closed", line: `stroke="${CLOSED}" stroke-dasharray="6 4" marker-end="url(#closed)"` },
  ].flatMap(({ is, text, line }) =>
    is ? [{ text, shape: `<path d="M0 -4 H34" fill="none" stroke-width="1.5" ${line}/>`, width: 34 }] : [],
  );
  const kinds = (Object.keys(STYLES) as NodeKind[]).flatMap((kind) => {
    const { fill, stroke, dash, radius } = STYLES[kind];
    const dashes = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
    const shape = `<rect y="-11" width="22" height="14" rx="${Math.min(7, radius)}" fill="${fill}" stroke="${stroke}"${dashes}/>`;
    return nodes.some((node) => node.kind === kind) ? [{ text: KIND_TEXTS[kind], shape, width: 22 }] : [];
  });
  let x = 0;
  const parts = [...lines, ...kinds].map(({ text, shape, width }) => {
    const part = `<g transform="translate(${x} 0)">${shape}<text x="${width + 8}" font-size="11" fill="#455a64">${text}</text></g>`;
    x += width + 8 + Math.ceil(text.length * 6.2) + 22;
    return part;
  });
  return { text: parts.join(""), width: x };
}

/** Escapes markup, and replaces characters that XML does not allow. */
function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- XML does not allow these characters
  const held = text.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD").toWellFormed();
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return held.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
