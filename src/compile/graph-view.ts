/** Every declared edge of the mesh, and whether it is open, as text, JSON, Mermaid, SVG or Graphviz. */
import type { Result } from "#base";
import type { Edge, EdgeState } from "#mesh-compiler";
import { mermaidText } from "./graph/mermaid.ts";
import { drawnGraph, graphPart, isOpen, meaningOf, portsOf, type GraphPart } from "./graph/model.ts";
import { svgText } from "./graph/svg.ts";
import { plainTable, type TableWriter } from "./plain-table.ts";
import type { World } from "./world.ts";

/** A text table, Graphviz, JSON or Mermaid. */
export type GraphFormat = "text" | "dot" | "json" | "mermaid";

/** Which part of a world to draw, and how. */
export type GraphOptions = {
  /** Only services that run or are declared there, and those they call or are called by. */
  readonly namespace?: string | undefined;
  /** Layout of the text form; absent: one line per edge. */
  readonly table?: TableWriter | undefined;
};

/**
 * Every declared edge, and whether it is open.
 *
 * @example writeFileSync("mesh.dot", formatGraph(world, "dot"));
 */
export function formatGraph(world: World, format: GraphFormat, { namespace, table = plainTable }: GraphOptions = {}): string {
  const part = graphPart(world, namespace);
  if (format === "json") return `${JSON.stringify(asJson(part), undefined, 2)}\n`;
  if (format === "mermaid") return mermaidText(drawnGraph(part));
  return format === "dot" ? asDot(part) : asText(part.edges, { namespace, table });
}

/**
 * The same as an SVG picture. It fails when the graph is too large to draw.
 *
 * @example
 * const picture = drawGraph(world);
 * if (picture.ok) writeFileSync("mesh.svg", picture.value);
 */
export function drawGraph(world: World, { namespace }: GraphOptions = {}): Result<string, string> {
  return svgText(drawnGraph(graphPart(world, namespace)));
}

function portText(edge: Edge): string {
  return portsOf(edge).join(",");
}

function asText(edges: readonly Edge[], { namespace, table }: { namespace: string | undefined; table: TableWriter }): string {
  const where = namespace === undefined ? "" : ` in namespace ${namespace}; -A shows all namespaces`;
  if (edges.length === 0) return `no edges are declared${where}\n`;
  return table(
    edges.map((edge) => {
      const ports = portText(edge);
      return [edge.caller, "->", `${edge.callee}${ports === "" ? "" : `:${ports}`}`, meaningOf(edge)];
    }),
  );
}

const DOT_STYLES: Readonly<Partial<Record<EdgeState["kind"], string>>> = { agreed: "solid", external: "solid", managed: "bold" };

function asDot({ nodes, edges }: GraphPart): string {
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

function asJson({ nodes, edges }: GraphPart) {
  return {
    nodes: nodes.map(({ id, kind }) => ({ id, kind })),
    edges: edges.map((edge) => {
      const { caller, callee, state } = edge;
      const ports = portsOf(edge);
      return { caller, callee, open: isOpen(edge), state: state.kind, ...(ports.length === 0 ? {} : { ports }) };
    }),
  };
}
