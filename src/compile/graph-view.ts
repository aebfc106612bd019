/** The mesh as a picture: every edge that somebody declared, and whether it is open. As text, for Graphviz, or as JSON. */
import { allEdges, type Edge, type EdgeState } from "#mesh-compiler";
import type { World } from "./world.ts";

/** As a table for people, for Graphviz, or as JSON. */
export type GraphFormat = "text" | "dot" | "json";

const WORDS: Readonly<Record<EdgeState["kind"], string>> = {
  agreed: "open",
  "no-port": "closed: no port that both mean",
  "caller-only": "closed: only the caller declares it",
  "callee-only": "closed: only the callee declares it",
  "unknown-callee": "closed: there is no such callee",
  "unknown-caller": "closed: there is no such caller",
  managed: "open on the caller's side; not ours on the other",
  external: "open to the outside",
  "external-closed": "closed: the external service does not name the caller",
};

const OPEN = new Set<EdgeState["kind"]>(["agreed", "managed", "external"]);

/**
 * Every edge that somebody declared, and whether it is open.
 *
 * @example writeFileSync("mesh.dot", formatGraph(world, "dot"));
 */
export function formatGraph(world: World, format: GraphFormat): string {
  const edges = allEdges(world.mesh.graph);
  if (format === "json") return `${JSON.stringify(asJson(world, edges), undefined, 2)}\n`;
  return format === "dot" ? asDot(world, edges) : asText(edges);
}

function portsOf({ state }: Edge): string {
  if (state.kind === "managed") return `:${state.port}`;
  return state.kind === "agreed" ? `:${state.ports.map(({ port }) => port).join(",")}` : "";
}

function asText(edges: readonly Edge[]): string {
  if (edges.length === 0) return "no edges are declared\n";
  const rows = edges.map((edge) => [edge.caller, `${edge.callee}${portsOf(edge)}`, WORDS[edge.state.kind]] as const);
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
      const colour = OPEN.has(edge.state.kind) ? "black" : "red";
      return `  ${quoted(edge.caller)} -> ${quoted(edge.callee)} [style=${style}, color=${colour}, label=${quoted(portsOf(edge).slice(1))}];`;
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
    edges: edges.map(({ caller, callee, state }) => ({
      caller,
      callee,
      open: OPEN.has(state.kind),
      state: state.kind,
      ...(state.kind === "agreed"
        ? { ports: state.ports.map(({ port }) => port) }
        : state.kind === "managed"
          ? { ports: [state.port] }
          : {}),
    })),
  };
}
