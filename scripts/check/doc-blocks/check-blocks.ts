/**
 * Code blocks of documents that are not TypeScript: YAML is parsed, and commands of `lattice` and `npm` exist and have the flags that are
 * shown. Blocks in TypeScript are part of the check `types`.
 */
import type { Finding } from "../finding.ts";
import { docBlocks, withoutBlocks, type DocBlock } from "./blocks.ts";
import { shellProblems } from "./shell-blocks.ts";
import { yamlProblems } from "./yaml-blocks.ts";

/** Something wrong in a block; `line` counts from the block's first line, which is 0. */
export type BlockProblem = { readonly line: number; readonly message: string };

type BlockCheck = (block: DocBlock, scripts: ReadonlySet<string>) => readonly BlockProblem[];

const CHECKS: ReadonlyMap<string, BlockCheck> = new Map<string, BlockCheck>([
  ["ts", (block) => (block.marks.every(isTsMark) ? [] : [{ line: 0, message: `has a mark that is unknown: ${block.marks.join(" ")}` }])],
  ["yaml", yamlProblems],
  ["sh", shellProblems],
  ["console", shellProblems],
  ["text", textProblems],
]);

export function blockFindings(texts: ReadonlyMap<string, string>, manifest: string | undefined): readonly Finding[] {
  const { scripts = {} } = JSON.parse(manifest ?? "{}") as { readonly scripts?: Readonly<Record<string, string>> };
  const names = new Set(Object.keys(scripts));
  return [...texts]
    .filter(([file]) => file.endsWith(".md"))
    .flatMap(([file, text]) => [
      ...indentedCode(file, text),
      ...docBlocks(text).flatMap((block) =>
        problemsOf(block, names).map(({ line, message }) => ({ file, line: block.line + line, message: `code block: ${message}` })),
      ),
    ]);
}

/** Code that is only indented has no language, so it cannot be checked. A paragraph of a list item is indented, too, and is allowed. */
function indentedCode(file: string, text: string): readonly Finding[] {
  const lines = withoutBlocks(text);
  return lines.flatMap((line, at) => {
    const before = lines.slice(0, at).findLast((earlier) => earlier !== "") ?? "";
    const isCode = /^ {4}\S/.test(line) && lines[at - 1] === "" && !/^\s|^[-*] |^\d+\. /.test(before);
    return isCode ? [{ file, line: at + 1, message: "code block: is indented; put it between ``` lines with a language" }] : [];
  });
}

function problemsOf(block: DocBlock, scripts: ReadonlySet<string>): readonly BlockProblem[] {
  const check = CHECKS.get(block.language);
  if (check !== undefined) return check(block, scripts);
  return [{ line: 0, message: `the language "${block.language}" is not checked; use one of ${[...CHECKS.keys()].join(", ")}` }];
}

function isTsMark(mark: string): boolean {
  return mark === "continued" || mark.startsWith("in=");
}

/** Output, diagrams. A command belongs into a block that is checked. */
function textProblems({ text }: DocBlock): readonly BlockProblem[] {
  const line = text.split("\n").findIndex((shown) => shown.startsWith("$ "));
  return line < 0 ? [] : [{ line, message: "shows a command; make it a console block" }];
}
