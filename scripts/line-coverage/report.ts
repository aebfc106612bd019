/** The coverage report of `npm test`, and whether coverage is sufficient. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ok, type Result } from "#base";
import { coverageFigures, formatFigure, passes, type Figure } from "./gate.ts";
import { changedSince, chooseBase } from "./git.ts";
import { parseLcov } from "./lcov.ts";
import type { ChangedLines } from "./changed-lines.ts";

export type CoverageReport = { readonly enough: boolean; readonly lines: readonly string[] };

const SHOWN = 20;

export async function reportCoverage(root: string, wantedBase: string | undefined): Promise<CoverageReport> {
  const lcov = join(root, "coverage", "lcov.info");
  if (!existsSync(lcov)) return { enough: false, lines: ["coverage: vitest wrote no coverage/lcov.info"] };
  const compared = await compare(root, wantedBase);
  if (!compared.ok) return { enough: false, lines: [`coverage: ${compared.error}`] };
  const figures = coverageFigures(parseLcov(await readFile(lcov, "utf8")), compared.value.changed);
  return {
    enough: figures.every(passes),
    lines: [...figures.flatMap(describeFigure), compared.value.note, "coverage report: coverage/index.html"],
  };
}

type Comparison = { readonly changed: ChangedLines | undefined; readonly note: string };

async function compare(root: string, wantedBase: string | undefined): Promise<Result<Comparison, string>> {
  const base = await chooseBase(root, wantedBase);
  if (!base.ok) return base;
  switch (base.value.kind) {
    case "no-git":
      return ok({ changed: undefined, note: `coverage of changed lines was not measured: ${base.value.why}` });
    case "everything":
      return ok({ changed: undefined, note: `every line counts as changed: ${base.value.why}` });
    case "commit": {
      const changed = await changedSince(root, base.value.commit);
      const note = `changed lines are those that differ from ${base.value.name} (${base.value.commit.slice(0, 10)})`;
      return changed.ok ? ok({ changed: changed.value, note }) : changed;
    }
  }
}

function describeFigure(figure: Figure): readonly string[] {
  const line = `coverage of ${formatFigure(figure)}`;
  if (passes(figure)) return [line];
  const more = figure.missed.length > SHOWN ? [`  and ${figure.missed.length - SHOWN} more`] : [];
  return [line, ...figure.missed.slice(0, SHOWN).map((place) => `  not run: ${place}`), ...more];
}
