/** Prints changes of the clusters of a fleet, a line for each: their state, and whether their operators are ready. */
import type { ClusterState, ClusterView, Fleet } from "#fleet";
import { coloured, type StyledSpan } from "../styled-text.ts";
import type { BoardTable } from "./board-table.ts";

/** Prints nothing for the clusters as they are now, unless `all`. The returned function ends it. */
export function followFleet(
  fleet: Pick<Fleet, "clusters" | "subscribe">,
  table: BoardTable,
  { all }: { readonly all: boolean },
): () => void {
  const lines = new Map<string, string>();
  const show = (cluster: ClusterView, printed: boolean) => {
    const [state, sentence] = [cluster.state, describeCluster(cluster)];
    const line = `${state} ${sentence}`;
    if (printed && lines.get(cluster.name) !== line) table.printRow("cluster", cluster.name, stateCell(state), sentence);
    lines.set(cluster.name, line);
  };
  for (const cluster of fleet.clusters()) show(cluster, all);
  return fleet.subscribe(() => {
    for (const cluster of fleet.clusters()) show(cluster, true);
  });
}

const COLOURS: Readonly<Record<ClusterState, "green" | "yellow" | "red">> = {
  Running: "green",
  Starting: "yellow",
  Restarting: "red",
  Stopping: "yellow",
  Stopped: "yellow",
};

function stateCell(state: ClusterState): StyledSpan {
  return coloured(state, COLOURS[state]);
}

function describeCluster({ name, state, url, message, operators }: ClusterView): string {
  if (message !== undefined) return message;
  switch (state) {
    case "Running":
      return `${url ?? ""}; ${operatorsReady(operators)}`;
    case "Restarting":
      return "its API server ended and is started again";
    case "Stopped":
      return `lattice start ${name} starts it`;
    case "Starting":
    case "Stopping":
      return "";
  }
}

function operatorsReady(operators: ClusterView["operators"]): string {
  const ready = operators.filter((operator) => operator.ready).length;
  if (ready === 0) return "no operator is ready";
  return operators.length === 1 ? "its operator is ready" : `${ready} of ${operators.length} operators are ready`;
}
