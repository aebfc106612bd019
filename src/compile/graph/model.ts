/** The mesh as nodes and edges to draw: what each node is, whether each edge is open, and why not. */
import { allEdges, splitId, type Edge, type EdgeState, type ServiceId } from "#mesh-compiler";
import type { World } from "../world.ts";

/** managed: a database that is not a Lattice service. unknown: declared as a peer, but it does not exist. */
export type NodeKind = "service" | "external" | "managed" | "unknown";

export type DrawnNode = { readonly id: string; readonly kind: NodeKind };

export type DrawnEdge = {
  readonly from: string;
  readonly to: string;
  readonly open: boolean;
  /** `8080,9090`; empty where no port is agreed. */
  readonly ports: string;
  /** `open`, or `closed: only the caller declares it`. */
  readonly meaning: string;
};

export type DrawnGraph = { readonly nodes: readonly DrawnNode[]; readonly edges: readonly DrawnEdge[] };

const MEANINGS: Readonly<Record<EdgeState["kind"], string>> = {
  agreed: "open",
  "no-port": "closed: no port that both mean",
  "caller-only": "closed: only the caller declares it",
  "callee-only": "closed: only the callee declares it",
  "unknown-callee": "closed: there is no such callee",
  "unknown-caller": "closed: there is no such caller",
  managed: "open on the caller's side only",
  external: "open to the outside",
  "external-closed": "closed: the external service does not name the caller",
};

const OPEN = new Set<EdgeState["kind"]>(["agreed", "managed", "external"]);

export function meaningOf({ state }: Edge): string {
  return MEANINGS[state.kind];
}

export function isOpen({ state }: Edge): boolean {
  return OPEN.has(state.kind);
}

/** The ports of an open edge between two services, or to a database. */
export function portsOf({ state }: Edge): readonly number[] {
  if (state.kind === "managed") return [state.port];
  return state.kind === "agreed" ? state.ports.map(({ port }) => port) : [];
}

/** Services and the edges between them, in the order of their ids. */
export type GraphPart = {
  readonly nodes: readonly { readonly id: ServiceId; readonly kind: "service" | "external" }[];
  readonly edges: readonly Edge[];
};

/** The services that run or are declared in a namespace, with their callers and callees; without a namespace, everything. */
export function graphPart(world: World, namespace: string | undefined): GraphPart {
  const inside = (id: ServiceId) => namespace === undefined || isIn(world, id, namespace);
  const edges = allEdges(world.mesh.graph).filter(({ caller, callee }) => inside(caller) || inside(callee));
  const ends = new Set(edges.flatMap(({ caller, callee }) => [caller, callee]));
  const nodes = [...world.mesh.graph.nodes()].filter(({ id }) => inside(id) || ends.has(id));
  return { nodes: nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1)), edges };
}

/** A service is found by the namespace where it runs and by the one where it is declared. */
function isIn(world: World, id: ServiceId, namespace: string): boolean {
  return splitId(id).namespace === namespace || world.keyOf(id)?.startsWith(`${namespace}/`) === true;
}

export function drawnGraph({ nodes: known, edges }: GraphPart): DrawnGraph {
  const kinds = new Map<string, NodeKind>(known.map(({ id, kind }) => [id, kind]));
  for (const { caller, callee, state } of edges) {
    if (!kinds.has(callee)) kinds.set(callee, state.kind === "managed" ? "managed" : "unknown");
    if (!kinds.has(caller)) kinds.set(caller, "unknown");
  }
  const nodes = [...kinds].map(([id, kind]) => ({ id, kind })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { nodes, edges: edges.map(drawnEdge) };
}

function drawnEdge(edge: Edge): DrawnEdge {
  return { from: edge.caller, to: edge.callee, open: isOpen(edge), ports: portsOf(edge).join(","), meaning: meaningOf(edge) };
}
