/**
 * The files of a tree, as paths with forward slashes relative to its root, sorted.
 *
 * It reads folders without git: the checks must have the same result in an unpacked tarball, and include files that are not added yet.
 * Folders of .gitignore are skipped.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const SKIPPED_FOLDERS = new Set([".git", "node_modules", "dist", "coverage", ".vitest"]);

export async function listFiles(root: string, under = ""): Promise<readonly string[]> {
  const entries = await readdir(join(root, under), { withFileTypes: true }).catch(absent);
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) found.push(...(await listFiles(root, path)));
    if (entry.isFile() && !entry.name.endsWith(".log")) found.push(path);
  }
  return found;
}

/** The text of a file, or undefined if it does not exist. */
export async function readText(root: string, path: string): Promise<string | undefined> {
  return readFile(join(root, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** The text of every text file. A file with a zero byte in its first few thousand bytes is binary, as in git. */
export async function readTexts(root: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const path of paths) {
    const bytes = await readFile(join(root, path));
    if (!bytes.subarray(0, 8_000).includes(0)) texts.set(path, bytes.toString("utf8"));
  }
  return texts;
}

/** The 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function absent(error: NodeJS.ErrnoException): never[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
