import { expect, test } from "vitest";
import { FakeClock } from "#base";
import type { ClusterView } from "#fleet";
import { plainText } from "../styled-text.ts";
import type { TreeNode } from "../tree/cluster-tree.ts";
import { BoardTable } from "./board-table.ts";
import { ClusterRows } from "./cluster-rows.ts";

const node = (name: string, more: Partial<TreeNode> = {}): TreeNode => ({
  name,
  phase: "Ready",
  ready: true,
  ownedBy: "self",
  agent: "connected",
  readyNodes: 2,
  totalNodes: 2,
  health: "healthy",
  hidden: 0,
  children: [],
  ...more,
});

const view = (name: string, state: ClusterView["state"]): ClusterView => ({ name, kubeconfig: "", pids: [], state, operators: [] });

function rows() {
  const lines: string[] = [];
  const table = new BoardTable({ clock: new FakeClock(), print: (text) => lines.push(plainText(text).trim()), withoutKinds: true });
  const shown = new ClusterRows(table);
  return {
    show: (trees: readonly TreeNode[], clusters: readonly ClusterView[] = []) => {
      lines.length = 0;
      shown.show(trees, clusters);
      return lines.map((line) => line.replaceAll(/ {2,}/g, "  "));
    },
  };
}

test("a line for each change, none for the bootstrap cluster, and one when a cluster is gone", () => {
  const { show } = rows();
  const bootstrap = (child: TreeNode) => [node("lattice-bootstrap", { children: [child] })];
  expect(show(bootstrap(node("mgmt", { phase: "" })))).toEqual([]);
  expect(show(bootstrap(node("mgmt", { phase: "Pivoting", ready: false, health: "copying 3 of 19 objects" })))).toEqual([
    "0.0s  mgmt  Pivoting  copying 3 of 19 objects",
  ]);
  const up = [node("mgmt", { totalNodes: 1, readyNodes: 1, agent: "none", children: [node("east")] })];
  expect(show(up)).toEqual(["0.0s  mgmt  Ready  owns itself; 1 node is ready", "0.0s  east  Ready  owns itself; 2 of 2 nodes are ready"]);
  expect(show(up)).toEqual([]);
  expect(show([node("mgmt", { totalNodes: 1, readyNodes: 1, agent: "none" })])).toEqual(["0.0s  east  deleted"]);
});

test("processes that end, parents that are gone, and clusters that their parent owns", () => {
  const { show } = rows();
  const trees = [node("mgmt", { agent: "disconnected" })];
  expect(show(trees, [view("mgmt", "Running")])).toEqual([
    "0.0s  mgmt  Ready  owns itself; 2 of 2 nodes are ready; its parent is not connected",
  ]);
  expect(show(trees, [view("mgmt", "Restarting")])).toEqual(["0.0s  mgmt  Restarting  its API server ended and is started again"]);
  expect(show(trees, [view("mgmt", "Stopped")])).toEqual(["0.0s  mgmt  Stopped  it is stopped; lattice start mgmt starts it"]);
  expect(show([node("mgmt", { ownedBy: "cell" })])).toEqual(["0.0s  mgmt  Ready  is owned by cell; 2 of 2 nodes are ready"]);
});
