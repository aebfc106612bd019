/**
 * The coverage gate: 90 % of all lines, 95 % of the critical folders, where a mistake can lose a cluster or a key, and 90 % of the lines
 * that a change touches, so that a small change without tests fails too.
 */
import type { ChangedLines } from "./changed-lines.ts";
import type { LineHits } from "./lcov.ts";

export const REQUIRED_OVERALL = 90;
export const REQUIRED_CHANGED = 90;
export const REQUIRED_CRITICAL = 95;
export const CRITICAL_FOLDERS = [
  "pivot",
  "link",
  "pki",
  "http/bootstrap",
  "controllers/cluster",
  "cluster-compiler",
  "service-compiler",
  "mesh-compiler",
] as const;

export type Figure = {
  readonly name: string;
  readonly covered: number;
  readonly total: number;
  readonly required: number;
  /** Lines that did not run, as "FILE:3-5". */
  readonly missed: readonly string[];
};

/** `changed` is undefined if the changes are unknown. */
export function coverageFigures(hits: LineHits, changed: ChangedLines | undefined): readonly Figure[] {
  const figures = [measure("all of src", REQUIRED_OVERALL, hits)];
  for (const folder of CRITICAL_FOLDERS) {
    const inside = new Map([...hits].filter(([file]) => file.startsWith(`src/${folder}/`)));
    if (inside.size > 0) figures.push(measure(`src/${folder}`, REQUIRED_CRITICAL, inside));
  }
  if (changed !== undefined) figures.push(measure("changed lines", REQUIRED_CHANGED, onlyChanged(hits, changed)));
  return figures;
}

export function passes(figure: Figure): boolean {
  return figure.covered * 100 >= figure.required * figure.total;
}

/** Rounded down: 89.96 % must not be shown as 90.0 %. */
export function formatFigure(figure: Figure): string {
  const verdict = passes(figure) ? "" : `  too low: ${figure.required} % is required`;
  if (figure.total === 0) return `${figure.name}: no lines to cover`;
  const percent = Math.floor((figure.covered * 1_000) / figure.total) / 10;
  return `${figure.name}: ${percent.toFixed(1)} % of ${figure.total} lines${verdict}`;
}

function onlyChanged(hits: LineHits, changed: ChangedLines): LineHits {
  return new Map([...hits].map(([file, lines]) => [file, new Map([...lines].filter(([line]) => changed.get(file)?.has(line) === true))]));
}

function measure(name: string, required: number, hits: LineHits): Figure {
  let covered = 0;
  let total = 0;
  const missed: string[] = [];
  for (const [file, lines] of hits) {
    const cold = [...lines].filter(([, count]) => count === 0).map(([line]) => line);
    total += lines.size;
    covered += lines.size - cold.length;
    missed.push(...ranges(cold).map((range) => `${file}:${range}`));
  }
  return { name, covered, total, required, missed };
}

function ranges(lines: readonly number[]): readonly string[] {
  const found: { first: number; last: number }[] = [];
  for (const line of lines.toSorted((a, b) => a - b)) {
    const open = found.at(-1);
    if (open !== undefined && line === open.last + 1) open.last = line;
    else found.push({ first: line, last: line });
  }
  return found.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
}
