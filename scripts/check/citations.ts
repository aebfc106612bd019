/**
 * Part of the check `docs`: documents and comments cite only files and folders of this repository.
 *
 * A citation is text that looks like a path: it begins with a folder of the repository's root (`src/…`), is relative (`../NAME.ts`), or ends like
 * a file of this project (`compile.test.ts`, `FORMAT.md`). It exists when a file or folder has this path from the root, from the citing file,
 * or at the end of its own path. Text with placeholders (`NAME`, `*`, `…`) is not a citation. Numbers of ADRs must exist, and documents that
 * were never in the repository are known by name.
 */
import { posix } from "node:path";
import { withoutBlocks } from "./doc-blocks/blocks.ts";
import type { Finding } from "./finding.ts";

type Texts = ReadonlyMap<string, string>;
type Tree = { readonly files: ReadonlySet<string>; readonly folders: ReadonlySet<string>; readonly endings: ReadonlySet<string> };

const PATH = /(?<![\w@:/.$\\<>{}*-])(?:\.{1,2}\/)*[\w-][\w.-]*(?:\/[\w.-]+)*\/?(?![\w./*{<…$(-])/g;
const OF_THIS_PROJECT = /\.(?:test\.ts|[cm]?ts|md)$/;
const COMMENT = /^\s*(?:\/?\*|\/\/|#)|\s\/\/ .*$|\b(?:it|test|describe)(?:\.each\(\w+\))?\("[^"]*"/;
const OUTSIDE = /\b(?:DECISIONS|MESH-FACTS|HOUSE|STACK)(?: \d+|:)|\b[Ss]eed 0\d\d\b/g;
/** What is not in a clone but may be spoken of: made by a build or a run, or in the user's own project. */
const MADE = /^(?:dist|coverage|node_modules|\.lattice|\.git)(?:\/|$)/;

export function citationFindings(files: readonly string[], texts: Texts): readonly Finding[] {
  const tree = treeOf(files);
  const roots = new Set([...tree.folders].filter((folder) => !folder.includes("/")));
  return [...texts].flatMap(([file, text]) => {
    if (file === "CHANGELOG.md") return []; // tells of files that were
    const lines = file.endsWith(".md") ? withoutBlocks(text) : commentLines(text);
    return lines.flatMap((line, at) =>
      [
        ...citedIn(line, roots).filter((cited) => !exists(tree, file, cited)),
        ...missingRecords(line, tree),
        ...(line.match(OUTSIDE) ?? []),
      ].map((cited) => ({ file, line: at + 1, message: `cites ${cited}, which is not in the repository` })),
    );
  });
}

function treeOf(files: readonly string[]): Tree {
  const folders = new Set<string>();
  const endings = new Set<string>();
  for (const file of files) {
    for (let folder = posix.dirname(file); folder !== "."; folder = posix.dirname(folder)) folders.add(folder);
  }
  for (const path of [...files, ...folders]) {
    const parts = path.split("/");
    for (let from = 0; from < parts.length; from += 1) endings.add(parts.slice(from).join("/"));
  }
  return { files: new Set(files), folders, endings };
}

function citedIn(line: string, roots: ReadonlySet<string>): readonly string[] {
  const prose = line.replace(/https?:\/\/\S+/g, "").replace(/\]\([^)]*\)|^ {0,3}\[[^\]]+\]:.*/g, "");
  return [...prose.matchAll(PATH)]
    .map(([text]) => text.replace(/[.-]+$/, ""))
    .filter((text) => {
      if (MADE.test(text) || /(?:^|[/.-])[A-Z]{3,}(?:[/.-]|$)/.test(text.replace(/[A-Z]+\.md$/, ""))) return false;
      if (OF_THIS_PROJECT.test(text)) return /[a-zA-Z]/.test(text) && !text.endsWith(".d.ts");
      const [first = ""] = text.replace(/^(?:\.{1,2}\/)+/, "").split("/");
      return text.includes("/") && (text.startsWith("../") ? true : roots.has(first) && text !== `${first}/`);
    });
}

function exists({ files, folders, endings }: Tree, file: string, cited: string): boolean {
  const path = cited.replace(/\/$/, "");
  const here = posix.normalize(posix.join(posix.dirname(file), path));
  if (files.has(here) || folders.has(here)) return true;
  const bare = path.replace(/^(?:\.{1,2}\/)+/, "");
  return path.startsWith("../") ? false : endings.has(bare);
}

function missingRecords(line: string, { files }: Tree): readonly string[] {
  return [...line.matchAll(/\bADR (\d{4})\b/g)]
    .filter(([, number]) => ![...files].some((file) => file.startsWith(`docs/adr/${number}-`)))
    .map(([text]) => text);
}

/** Comments, and the names of tests, line for line. */
function commentLines(text: string): readonly string[] {
  return text.split("\n").map((line) => (COMMENT.exec(line)?.[0] === undefined ? "" : line.slice(COMMENT.exec(line)?.index)));
}
