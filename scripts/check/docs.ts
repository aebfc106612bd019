/**
 * The check `docs`: relative links and cited files exist, code blocks are valid (those in TypeScript: see types.ts), every folder of src
 * has a README, every ADR is in the index, public exports are documented, and a file of more than 400 lines gets a warning.
 */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { citationFindings } from "./citations.ts";
import { blockFindings } from "./doc-blocks/check-blocks.ts";
import type { Finding } from "./finding.ts";
import { folderOf } from "./layer-rules.ts";
import { undocumentedExports } from "./public-docs.ts";
import { unexportedTypes } from "./public-types.ts";
import { lineAt, listFiles, readText, readTexts } from "./tree.ts";

const README_LINES = 30;
const LOOK_AGAIN_LINES = 400;
const ADR_INDEX = "docs/adr/README.md";

export async function checkDocs(root: string): Promise<readonly Finding[]> {
  const files = await listFiles(root);
  const texts = await readTexts(
    root,
    files.filter((path) => /\.(md|[cm]?[jt]s)$/.test(path)),
  );
  const manifest = await readText(root, "package.json");
  const findings: Finding[] = [
    ...folderFindings(files, texts),
    ...adrFindings(texts),
    ...undocumentedExports(texts, manifest),
    ...unexportedTypes(texts, manifest),
    ...blockFindings(texts, manifest),
    ...citationFindings(files, texts),
  ];
  for (const [file, text] of texts) findings.push(...(file.endsWith(".md") ? brokenLinks(root, file, text) : tooLong(file, text)));
  return findings;
}

/** bin/ is a program and exports nothing, so it alone has no index.ts. */
function folderFindings(files: readonly string[], texts: ReadonlyMap<string, string>): readonly Finding[] {
  const folders = new Set(files.flatMap((path) => folderOf(path) ?? []));
  return [...folders].flatMap((folder) => {
    const file = `src/${folder}/README.md`;
    const readme = texts.get(file);
    const index = `src/${folder}/index.ts`;
    return [
      ...(readme === undefined ? [{ file, message: `is missing; say in at most ${README_LINES} lines what the folder is` }] : []),
      ...(countLines(readme ?? "") > README_LINES ? [{ file, message: `is longer than ${README_LINES} lines` }] : []),
      ...(folder !== "bin" && !texts.has(index) ? [{ file: index, message: "is missing; it names what the folder exports" }] : []),
    ];
  });
}

function adrFindings(texts: ReadonlyMap<string, string>): readonly Finding[] {
  const listed = new Set(linksIn(texts.get(ADR_INDEX) ?? "").map(({ target }) => target.replace(/^\.\//, "")));
  const records = [...texts.keys()].filter((file) => file.startsWith("docs/adr/") && file !== ADR_INDEX);
  return records.filter((file) => !listed.has(posix.basename(file))).map((file) => ({ file, message: `is not listed in ${ADR_INDEX}` }));
}

function brokenLinks(root: string, file: string, text: string): readonly Finding[] {
  return linksIn(text).flatMap(({ target, line }) => {
    const path = decodeURI(target.replace(/[#?].*$/, ""));
    const found =
      path === "" || /^[a-z][a-z+.-]*:/i.test(path) || existsSync(join(root, path.startsWith("/") ? "" : posix.dirname(file), path));
    return found ? [] : [{ file, line, message: `links to ${target}, which does not exist` }];
  });
}

/** Markdown links: inline and by reference. Links in code are examples, and not checked. */
function linksIn(text: string): readonly { readonly target: string; readonly line: number }[] {
  const prose = text.replace(/^( *)(```|~~~)[^]*?^\1\2/gm, blank).replace(/`[^`\n]*`/g, blank);
  const inline = prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const references = prose.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/gm);
  return [...inline, ...references].map((match) => ({ target: match[1] ?? "", line: lineAt(prose, match.index) }));
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

function tooLong(file: string, text: string): readonly Finding[] {
  const lines = countLines(text);
  if (lines <= LOOK_AGAIN_LINES || file.includes("/generated/")) return []; // the size of a generated file is its source's
  return [{ file, level: "warning", message: `has ${lines} lines; look again whether it is one thing` }];
}

function countLines(text: string): number {
  return text === "" ? 0 : text.trimEnd().split("\n").length;
}
