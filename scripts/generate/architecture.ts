/** The lists of folders in ARCHITECTURE.md, from layers.json. The page is written by hand except between two markers. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseLayers, type Layer, type Layers } from "../check/layers-file.ts";
import { projectRoot } from "../process/project.ts";

const PAGE = "ARCHITECTURE.md";
const MARKED = /<!-- generated: ([a-z]+) -->\n[^]*?<!-- end -->/g;

export function generateArchitecture(root: string = projectRoot): ReadonlyMap<string, string> {
  const layers = parseLayers(readFileSync(join(root, "layers.json"), "utf8"));
  if (!layers.ok) throw new Error(`layers.json: ${layers.error.join("; ")}`);
  const hasReadme = (folder: string) => existsSync(join(root, "src", folder, "README.md"));
  return new Map([[PAGE, fillArchitecture(readFileSync(join(root, PAGE), "utf8"), layers.value, hasReadme)]]);
}

/** Fills `<!-- generated: folders -->` and `<!-- generated: subfolders -->`, each up to `<!-- end -->`. */
export function fillArchitecture(text: string, layers: Layers, hasReadme: (folder: string) => boolean): string {
  const contents = new Map([
    ["folders", folderTable(layers, hasReadme)],
    ["subfolders", orderList(layers)],
  ]);
  const found = Array.from(text.matchAll(MARKED), ([, what]) => what);
  const missing = [...contents.keys()].filter((what) => !found.includes(what));
  if (missing.length > 0) throw new Error(`${PAGE} has no "<!-- generated: ${missing.join(", ")} -->"`);
  return text.replace(MARKED, (all, what: string) => {
    const content = contents.get(what);
    return content === undefined ? all : `<!-- generated: ${what} -->\n\n${content}\n\n<!-- end -->`;
  });
}

function folderTable(layers: Layers, hasReadme: (folder: string) => boolean): string {
  const rows = [...layers].map(([folder, layer], at) => {
    const name = hasReadme(folder) ? `[${folder}](src/${folder}/README.md)` : folder;
    const above = [...layers.keys()].slice(0, at);
    return `| ${name}${layer.pure ? " (pure)" : ""} | ${layer.what} | ${importsText(layer, above)} |`;
  });
  return ["| folder | what it is | may import |", "|---|---|---|", ...rows].join("\n");
}

function importsText({ may }: Layer, above: readonly string[]): string {
  if (may.length === 0) return "–";
  const others = above.filter((folder) => !may.includes(folder));
  // the shorter of the two lists, unless the folder is near the top, where names say more
  if (others.length * 2 >= may.length || may.length < 4) return may.join(", ");
  return others.length === 0 ? "all above" : `all above but ${others.join(", ")}`;
}

function orderList(layers: Layers): string {
  const ordered = [...layers].flatMap(([folder, { order }]) => (order === undefined ? [] : [`- ${folder}: ${order.join(", ")}`]));
  return ordered.join("\n");
}
