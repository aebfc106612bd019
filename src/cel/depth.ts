/**
 * The depth of a tree, counted as cel-go counts it: the checker, the cost estimate and the evaluator recurse, so a tree that is too deep for them
 * must never reach them. The depth of a sum is the number of its terms.
 *
 * The expansion of `optMap` contains its target twice, so its size doubles with every further one: the walk also limits the number of nodes.
 */
import { childrenOf, type Expression } from "./ast.ts";

const MAX_DEPTH = 250;
/** Far more than an expression of the largest size has without such macros. */
const MAX_NODES = 200_000;
/** These become balanced trees, which cel-go does not count. */
const UNCOUNTED = new Set(["_&&_", "_||_", "!_", "-_"]);

/** The error message, which is cel-go's where it has one. */
export function tooDeep(root: Expression): string | undefined {
  const ahead: { readonly node: Expression; readonly depth: number }[] = [{ node: root, depth: 0 }];
  let nodes = 0;
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    nodes += 1;
    if (nodes > MAX_NODES) return `expression has more than ${MAX_NODES} nodes`;
    const { node } = next;
    const depth = next.depth + (isCounted(node) ? 1 : 0);
    if (depth > MAX_DEPTH) return "max recursion depth exceeded";
    for (const child of childrenOf(node)) ahead.push({ node: child, depth });
  }
  return undefined;
}

/** Selections, indices, operators and method calls. A comprehension was such a call before its expansion. */
function isCounted(node: Expression): boolean {
  if (node.kind !== "call") return node.kind === "select" || node.kind === "comprehension";
  return node.target !== undefined || (node.name.includes("_") && !UNCOUNTED.has(node.name));
}
