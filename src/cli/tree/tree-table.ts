/** A tree of clusters as a table, and as JSON. Pure. */
import { coloured, colourOfPhase, type Colour, type StyledSpan, type StyledText } from "../styled-text.ts";
import { formatTable, type TableRow } from "../terminal/table.ts";
import type { TreeNode } from "./cluster-tree.ts";

const HEADER = ["CLUSTER", "PHASE", "OWNER", "AGENT", "NODES", "HEALTH"] as const;

export function treeTable(trees: readonly TreeNode[], columns: number | undefined): StyledText {
  return formatTable([HEADER, ...trees.flatMap((tree) => rowsOf(tree, { lead: "", below: "" }))], { columns });
}

type Branch = { /** Before the name. */ readonly lead: string; /** Before the names below it. */ readonly below: string };

function rowsOf(node: TreeNode, { lead, below }: Branch): readonly TableRow[] {
  const last = node.children.length - 1;
  const rows = node.children.flatMap((child, at) => {
    const isLast = at === last;
    return rowsOf(child, { lead: `${below}${isLast ? "└─ " : "├─ "}`, below: `${below}${isLast ? "   " : "│  "}` });
  });
  const more: readonly TableRow[] = node.hidden === 0 ? [] : [[`${below}└─ … ${node.hidden} more`]];
  return [rowOf(node, lead), ...rows, ...more];
}

function rowOf(node: TreeNode, lead: string): TableRow {
  const { name, phase, ownedBy, readyNodes, totalNodes, answers } = node;
  const nodes = totalNodes === undefined ? "-" : `${readyNodes ?? 0}/${totalNodes}`;
  return [
    `${lead}${name}`,
    answers === false ? coloured("Unknown", "red") : coloured(phase === "" ? "-" : phase, node.ready ? "green" : yellowWhenReady(phase)),
    ownedBy ?? "-",
    agentCell(node),
    nodes,
    node.health,
  ];
}

/** A cluster in phase Ready may have a problem. */
function yellowWhenReady(phase: string): Colour | undefined {
  return phase === "Ready" ? "yellow" : colourOfPhase(phase);
}

function agentCell({ agent }: TreeNode): StyledSpan {
  if (agent === "none" || agent === "unknown") return "-";
  return coloured(agent, agent === "connected" ? "green" : "red");
}

export type TreeSummary = { readonly total: number; readonly healthy: number };

export function summaryOf(trees: readonly TreeNode[]): TreeSummary {
  let total = 0;
  let healthy = 0;
  for (const { ready, children, hidden } of trees) {
    const below = summaryOf(children);
    total += 1 + hidden + below.total;
    healthy += (ready ? 1 : 0) + below.healthy;
  }
  return { total, healthy };
}

export function treeJson(trees: readonly TreeNode[]): { readonly clusters: readonly object[] } {
  return { clusters: trees.map(nodeJson) };
}

function nodeJson({ children, hidden, ...node }: TreeNode): object {
  return { ...node, ...(hidden === 0 ? {} : { hidden }), children: children.map(nodeJson) };
}
