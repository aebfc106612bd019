/**
 * How deep a tree goes, counted as cel-go counts when it walks one: the checker, the estimate of costs and the evaluator recurse, so a tree
 * that is deeper than they can go must never reach them. A sum of thousands is as deep as it is long.
 *
 * `optMap` stands twice in what it expands to, and so twice as often with every one that follows: the walk counts what it meets, too.
 */
import { childrenOf, type Expression } from "./ast.ts";

const MAX_DEPTH = 250;
/** Far more than an expression of the largest size has without such macros. */
const MAX_NODES = 200_000;
/** These become balanced trees, and cel-go does not count them. */
const UNCOUNTED = new Set(["_&&_", "_||_", "!_", "-_"]);

/** What is wrong with it, in cel-go's words where it has some. */
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

/** Selections, indices, operators and calls of members. A comprehension was such a call before it was expanded. */
function isCounted(node: Expression): boolean {
  if (node.kind !== "call") return node.kind === "select" || node.kind === "comprehension";
  return node.target !== undefined || (node.name.includes("_") && !UNCOUNTED.has(node.name));
}
