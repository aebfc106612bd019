/** The mesh for people and programs: every declared edge, and whether it is open. As text, JSON, Mermaid, SVG, or for Graphviz. */
import type { Result } from "#base";
import { allEdges, type Edge, type EdgeState } from "#mesh-compiler";
import { mermaidText } from "./graph/mermaid.ts";
import { drawnGraph, isOpen, meaningOf, portsOf } from "./graph/model.ts";
import { svgText } from "./graph/svg.ts";
import type { World } from "./world.ts";

/** As a table for people, for Graphviz, as JSON, or as Mermaid text. */
export type GraphFormat = "text" | "dot" | "json" | "mermaid";

/**
 * Every declared edge, and whether it is open.
 *
 * @example writeFileSync("mesh.dot", formatGraph(world, "dot"));
 */
export function formatGraph(world: World, format: GraphFormat): string {
  const edges = allEdges(world.mesh.graph);
  if (format === "json") return `${JSON.stringify(asJson(world, edges), undefined, 2)}\n`;
  if (format === "mermaid") return mermaidText(drawnGraph(world));
  return format === "dot" ? asDot(world, edges) : asText(edges);
}

/**
 * The same as an SVG picture. The error says that the graph is too large to draw.
 *
 * @example
 * const picture = drawGraph(world);
 * if (picture.ok) writeFileSync("mesh.svg", picture.value);
 */
export function drawGraph(world: World): Result<string, string> {
  return svgText(drawnGraph(world));
}

function portText(edge: Edge): string {
  return portsOf(edge).join(",");
}

function asText(edges: readonly Edge[]): string {
  if (edges.length === 0) return "no edges are declared\n";
  const rows = edges.map((edge) => {
    const ports = portText(edge);
    return [edge.caller, `${edge.callee}${ports === "" ? "" : `:${ports}`}`, meaningOf(edge)] as const;
  });
  const [first, second] = [0, 1].map((at) => Math.max(...rows.map((row) => row[at === 0 ? 0 : 1].length)));
  return rows.map(([from, to, word]) => `${from.padEnd(first ?? 0)}  ->  ${to.padEnd(second ?? 0)}  ${word}\n`).join("");
}

const DOT_STYLES: Readonly<Partial<Record<EdgeState["kind"], string>>> = { agreed: "solid", external: "solid", managed: "bold" };

function asDot(world: World, edges: readonly Edge[]): string {
  const nodes = [...world.mesh.graph.nodes()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const lines = [
    ...nodes.map(({ id, kind }) => `  ${quoted(id)} [shape=${kind === "external" ? "cloud" : "box"}];`),
    ...edges.map((edge) => {
      const style = DOT_STYLES[edge.state.kind] ?? "dashed";
      const colour = isOpen(edge) ? "black" : "red";
      return `  ${quoted(edge.caller)} -> ${quoted(edge.callee)} [style=${style}, color=${colour}, label=${quoted(portText(edge))}];`;
    }),
  ];
  return `digraph mesh {\n${lines.join("\n")}\n}\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function asJson(world: World, edges: readonly Edge[]) {
  const nodes = [...world.mesh.graph.nodes()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    nodes: nodes.map(({ id, kind }) => ({ id, kind })),
    edges: edges.map((edge) => {
      const { caller, callee, state } = edge;
      const ports = portsOf(edge);
      return { caller, callee, open: isOpen(edge), state: state.kind, ...(ports.length === 0 ? {} : { ports }) };
    }),
  };
}
