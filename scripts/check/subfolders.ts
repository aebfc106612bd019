/**
 * Imports between the subfolders of one folder of src: in the order that layers.json gives, if it gives one, and never in a cycle.
 *
 * A file directly in the folder is a separate node, so a cycle through such a file is found as well; a cycle of such files alone is not
 * reported. Tests and their support do not count.
 */
import { posix } from "node:path";
import type { Finding } from "./finding.ts";
import { folderOf, isTestFile } from "./layer-rules.ts";
import type { Layers } from "./layers-file.ts";
import type { Use } from "./scan-source.ts";
import { cyclesOf } from "./import-cycles.ts";

type LocalImport = { readonly file: string; readonly line: number; readonly target: string };

/** `imports`: by the path of the file that has them. */
export function subfolderFindings(imports: ReadonlyMap<string, readonly Use[]>, layers: Layers): readonly Finding[] {
  const local = [...imports].flatMap(([file, uses]) => localImports(file, uses));
  const counted = local.filter(({ file }) => !isTestFile(file));
  const folders = new Set([...imports.keys()].flatMap((file) => folderOf(file) ?? []));
  return [...folders].toSorted().flatMap((folder) => {
    const inside = counted.filter(({ file }) => folderOf(file) === folder);
    const subfolders = subfoldersOf(
      [...imports.keys()].filter((file) => !isTestFile(file)),
      folder,
    );
    return [
      ...orderFindings(folder, subfolders, inside, layers.get(folder)?.order),
      ...cycleFindings(folder, [...subfolders].toSorted(), inside),
    ];
  });
}

function localImports(file: string, uses: readonly Use[]): readonly LocalImport[] {
  return uses.flatMap(({ name, line }) => {
    if (!name.startsWith(".")) return [];
    const target = posix.normalize(posix.join(posix.dirname(file), name));
    return folderOf(file) !== undefined && folderOf(file) === folderOf(target) ? [{ file, line, target }] : [];
  });
}

function subfoldersOf(files: readonly string[], folder: string): ReadonlySet<string> {
  const prefix = `src/${folder}/`;
  return new Set(
    files.filter((file) => file.startsWith(prefix)).flatMap((file) => /^([^/]+)\//.exec(file.slice(prefix.length))?.[1] ?? []),
  );
}

/** The subfolder, or the file directly in the folder. */
function nodeOf(path: string): string {
  return path.split("/")[2] ?? "";
}

function orderFindings(
  folder: string,
  subfolders: ReadonlySet<string>,
  imports: readonly LocalImport[],
  order: readonly string[] | undefined,
): readonly Finding[] {
  if (order === undefined) return [];
  const later = imports.filter(
    ({ file, target }) => order.includes(nodeOf(file)) && order.indexOf(nodeOf(target)) > order.indexOf(nodeOf(file)),
  );
  return [
    ...order
      .filter((name) => !subfolders.has(name))
      .map((name) => ({ file: "layers.json", message: `src/${folder}/${name} does not exist` })),
    ...[...subfolders]
      .filter((name) => !order.includes(name))
      .map((name) => ({ file: `src/${folder}/${name}`, message: `is not in the order of ${folder} in layers.json` })),
    ...later.map(({ file, line, target }) => ({
      file,
      line,
      message: `${nodeOf(file)} may not import ${nodeOf(target)}, which comes later in the order of ${folder} (layers.json)`,
    })),
  ];
}

/** One finding for each step of a cycle, so that each can be looked at. */
function cycleFindings(folder: string, subfolders: readonly string[], imports: readonly LocalImport[]): readonly Finding[] {
  const graph = new Map<string, Map<string, LocalImport>>();
  for (const found of imports) {
    const [from, to] = [nodeOf(found.file), nodeOf(found.target)];
    if (from === to) continue;
    const edges = graph.get(from) ?? new Map<string, LocalImport>();
    if (!edges.has(to)) edges.set(to, found);
    graph.set(from, edges);
  }
  return cyclesOf(graph, subfolders).flatMap((cycle) => {
    const text = [...cycle, cycle[0]].join(" → ");
    return cycle.flatMap((name, at) => {
      const step = graph.get(name)?.get(cycle[(at + 1) % cycle.length] ?? "");
      return step === undefined ? [] : [{ file: step.file, line: step.line, message: `import cycle in ${folder}: ${text}` }];
    });
  });
}
