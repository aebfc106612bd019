/**
 * The `ts` blocks of documents as modules that tsc can check together with the rest of the tree.
 *
 * Each block is a module; a block marked `continued` belongs to the module of the block before it. Code keeps the line that it has in its
 * document, so that an error of tsc names the line in the document. `in=FOLDER` says in which folder of the tree the shown file would be:
 * its relative imports are resolved there.
 */
import { join, posix } from "node:path";
import { docBlocks, type DocBlock } from "./blocks.ts";

export type DocModule = { readonly document: string; readonly text: string };

export function tsModules(root: string, document: string, markdown: string): readonly DocModule[] {
  const chains: DocBlock[][] = [];
  for (const block of docBlocks(markdown).filter(({ language }) => language === "ts")) {
    if (block.marks.includes("continued")) chains.at(-1)?.push(block);
    else chains.push([block]);
  }
  return chains.map((chain) => ({ document, text: moduleText(chain, (specifier) => resolved(root, document, chain, specifier)) }));
}

/** `export {}` makes a block without imports a module, so that its names are its own and `await` is allowed. */
function moduleText(chain: readonly DocBlock[], resolve: (specifier: string) => string): string {
  const lines: string[] = [];
  for (const { line, text } of chain) text.split("\n").forEach((code, at) => (lines[line - 1 + at] = code));
  const text = Array.from(lines, (line) => line ?? "").join("\n");
  return `${text.replace(/(\bfrom |\bimport )"(\.{1,2}\/[^"]+)"/g, (_, word: string, path: string) => `${word}"${resolve(path)}"`)}\nexport {};\n`;
}

function resolved(root: string, document: string, chain: readonly DocBlock[], specifier: string): string {
  const mark = chain.flatMap(({ marks }) => marks).find((text) => text.startsWith("in="));
  return join(root, mark?.slice("in=".length) ?? posix.dirname(document), specifier);
}
