/** Cycles of a directed graph. */

export type Graph = ReadonlyMap<string, { keys(): Iterable<string> }>;

/** For each group of nodes that reach each other, a shortest cycle through the first of `starts` that is in it. */
export function cyclesOf(graph: Graph, starts: readonly string[]): readonly (readonly string[])[] {
  const reported = new Set<string>();
  const cycles: (readonly string[])[] = [];
  for (const start of starts) {
    if (reported.has(start)) continue;
    const cycle = shortestCycle(graph, start);
    if (cycle === undefined) continue;
    cycles.push(cycle);
    for (const name of mutuallyReachable(graph, start)) reported.add(name);
  }
  return cycles;
}

/** Breadth first from `start` until an edge leads back to it. */
function shortestCycle(graph: Graph, start: string): readonly string[] | undefined {
  const paths = new Map<string, readonly string[]>([[start, [start]]]);
  for (const [name, path] of paths) {
    for (const next of graph.get(name)?.keys() ?? []) {
      if (next === start) return path;
      if (!paths.has(next)) paths.set(next, [...path, next]);
    }
  }
  return undefined;
}

function mutuallyReachable(graph: Graph, start: string): readonly string[] {
  return [...reachable(graph, start)].filter((name) => reachable(graph, name).has(start));
}

function reachable(graph: Graph, start: string): ReadonlySet<string> {
  const found = new Set([start]);
  for (const name of found) for (const next of graph.get(name)?.keys() ?? []) found.add(next);
  return found;
}
