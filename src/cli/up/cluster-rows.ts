/** Prints changes of the clusters of a laptop fleet, a line for each: phases, the steps of a pivot with their counts, and processes that end. */
import type { ClusterView } from "#fleet";
import { BOOTSTRAP } from "../install/fleet-host.ts";
import { describeState } from "../install/fleet-clients.ts";
import { coloured, colourOfPhase } from "../styled-text.ts";
import type { TreeNode } from "../tree/cluster-tree.ts";
import type { BoardTable } from "./board-table.ts";

export class ClusterRows {
  readonly #table: BoardTable;
  readonly #lines = new Map<string, string>();

  constructor(table: BoardTable) {
    this.#table = table;
  }

  /** Prints what has changed since the last call. */
  show(trees: readonly TreeNode[], clusters: readonly ClusterView[]): void {
    const shown = new Set<string>();
    for (const node of nodesOf(trees)) {
      if (node.name === BOOTSTRAP) continue;
      shown.add(node.name);
      const { phase, sentence } = stateOf(
        node,
        clusters.find(({ name }) => name === node.name),
      );
      this.#print(node.name, phase, sentence);
    }
    for (const name of this.#lines.keys()) if (!shown.has(name)) this.#print(name, "deleted", "");
  }

  #print(name: string, phase: string, sentence: string): void {
    const line = `${phase} ${sentence}`;
    if (phase === "" || this.#lines.get(name) === line) return;
    this.#table.printRow("cluster", name, coloured(phase, colourOfPhase(phase)), sentence);
    if (phase === "deleted") this.#lines.delete(name);
    else this.#lines.set(name, line);
  }
}

export function nodesOf(trees: readonly TreeNode[]): readonly TreeNode[] {
  return trees.flatMap((tree) => [tree, ...nodesOf(tree.children)]);
}

const RUNNING: ReadonlySet<ClusterView["state"]> = new Set(["Running", "Starting"]);

function stateOf(node: TreeNode, view: ClusterView | undefined): { readonly phase: string; readonly sentence: string } {
  if (view !== undefined && !RUNNING.has(view.state)) return { phase: view.state, sentence: describeState(view) };
  if (node.phase !== "Ready" || !node.ready) return { phase: node.phase, sentence: node.health };
  const nodes = node.totalNodes === 1 ? "1 node is ready" : `${node.readyNodes ?? 0} of ${node.totalNodes ?? 0} nodes are ready`;
  const agent = node.agent === "disconnected" ? "; its parent is not connected" : "";
  return {
    phase: node.phase,
    sentence: `${node.ownedBy === "self" ? "owns itself" : `is owned by ${node.ownedBy ?? "its parent"}`}; ${nodes}${agent}`,
  };
}
