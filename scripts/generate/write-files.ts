/** Writes generated files that differ, and returns their paths. Unchanged files keep their time stamps. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readText } from "../check/tree.ts";
import type { GeneratedFiles } from "./generated-files.ts";

export async function writeFiles(root: string, files: GeneratedFiles): Promise<readonly string[]> {
  const written: string[] = [];
  for (const [path, content] of files) {
    if ((await readText(root, path)) === content) continue;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
    written.push(path);
  }
  return written;
}
