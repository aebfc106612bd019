/**
 * What changed between two values, as the unified diff that stands in some refusals: Go's difflib over JSON with one space of indentation.
 *
 * It is not the shortest diff: difflib looks for the longest run of equal lines first, as Python's does. Runs that other algorithms would
 * split stay together, so that the message equals that of a real server.
 */
import type { Json } from "#kube";

const CONTEXT = 3;

/** Limit of lines of both sides: the time grows more than quadratically with their number. */
const MOST_LINES = 4_000;

export function jsonDiff(before: Json, after: Json): string {
  const [a, b] = [linesOf(before), linesOf(after)];
  if (a.length + b.length > MOST_LINES) return `(${a.length} and ${b.length} lines: too many to compare)\n`;
  return unifiedDiff(a, b);
}

function linesOf(value: Json): readonly string[] {
  return JSON.stringify(value, null, 1).split("\n");
}

type Match = { readonly a: number; readonly b: number; readonly size: number };
type Op = { readonly tag: "equal" | "change"; readonly a1: number; readonly a2: number; readonly b1: number; readonly b2: number };

export function unifiedDiff(a: readonly string[], b: readonly string[]): string {
  return groupsOf(opsOf(a, b))
    .map((group) => hunk(group, a, b))
    .join("");
}

function hunk(group: readonly Op[], a: readonly string[], b: readonly string[]): string {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return "";
  const lines = group.flatMap(({ tag, a1, a2, b1, b2 }) =>
    tag === "equal"
      ? a.slice(a1, a2).map((line) => ` ${line}`)
      : [...a.slice(a1, a2).map((line) => `-${line}`), ...b.slice(b1, b2).map((line) => `+${line}`)],
  );
  return `@@ -${range(first.a1, last.a2)} +${range(first.b1, last.b2)} @@\n${lines.map((line) => `${line}\n`).join("")}`;
}

function range(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

/** Changes with three lines around them; those that are near each other share a hunk. */
function groupsOf(ops: readonly Op[]): readonly (readonly Op[])[] {
  const groups: Op[][] = [];
  let group: Op[] = [];
  for (const [index, op] of ops.entries()) {
    if (op.tag === "change") {
      group.push(op);
      continue;
    }
    const [leads, ends, length] = [index === 0, index === ops.length - 1, op.a2 - op.a1];
    const tail = { ...op, a2: Math.min(op.a2, op.a1 + CONTEXT), b2: Math.min(op.b2, op.b1 + CONTEXT) };
    const head = { ...op, a1: Math.max(op.a1, op.a2 - CONTEXT), b1: Math.max(op.b1, op.b2 - CONTEXT) };
    if (leads) group.push(head);
    else if (ends) group.push(tail);
    else if (length <= 2 * CONTEXT) group.push(op);
    else {
      groups.push([...group, tail]);
      group = [head];
    }
  }
  return group.some(({ tag }) => tag === "change") ? [...groups, group] : groups;
}

function opsOf(a: readonly string[], b: readonly string[]): readonly Op[] {
  const ops: Op[] = [];
  let [i, j] = [0, 0];
  for (const match of [...merged(blocksOf(a, b)), { a: a.length, b: b.length, size: 0 }]) {
    if (i < match.a || j < match.b) ops.push({ tag: "change", a1: i, a2: match.a, b1: j, b2: match.b });
    [i, j] = [match.a + match.size, match.b + match.size];
    if (match.size > 0) ops.push({ tag: "equal", a1: match.a, a2: i, b1: match.b, b2: j });
  }
  return ops;
}

function merged(blocks: readonly Match[]): readonly Match[] {
  const out: Match[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (last !== undefined && last.a + last.size === block.a && last.b + last.size === block.b)
      out[out.length - 1] = { ...last, size: last.size + block.size };
    else out.push(block);
  }
  return out;
}

type Part = { readonly a1: number; readonly a2: number; readonly b1: number; readonly b2: number };

function blocksOf(a: readonly string[], b: readonly string[]): readonly Match[] {
  const places = placesIn(b);
  const blocks = ({ a1, a2, b1, b2 }: Part): readonly Match[] => {
    const match = longestMatch(a, b, places, { a1, a2, b1, b2 });
    if (match.size === 0) return [];
    const left = a1 < match.a && b1 < match.b ? blocks({ a1, a2: match.a, b1, b2: match.b }) : [];
    const [i, j] = [match.a + match.size, match.b + match.size];
    return [...left, match, ...(i < a2 && j < b2 ? blocks({ a1: i, a2, b1: j, b2 }) : [])];
  };
  return blocks({ a1: 0, a2: a.length, b1: 0, b2: b.length });
}

/** In long texts, very frequent lines are ignored when runs are searched. */
function placesIn(b: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of b.entries()) places.set(line, [...(places.get(line) ?? []), index]);
  const popular = b.length >= 200 ? Math.floor(b.length / 100) + 1 : Number.POSITIVE_INFINITY;
  return new Map([...places].filter(([, at]) => at.length <= popular));
}

function longestMatch(a: readonly string[], b: readonly string[], places: ReadonlyMap<string, readonly number[]>, part: Part): Match {
  let best: Match = { a: part.a1, b: part.b1, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = part.a1; i < part.a2; i += 1) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? "") ?? []) {
      if (j < part.b1 || j >= part.b2) continue;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  return extended(a, b, part, best);
}

function extended(a: readonly string[], b: readonly string[], part: Part, match: Match): Match {
  let { a: i, b: j, size } = match;
  while (i > part.a1 && j > part.b1 && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < part.a2 && j + size < part.b2 && a[i + size] === b[j + size]) size += 1;
  return { a: i, b: j, size };
}
