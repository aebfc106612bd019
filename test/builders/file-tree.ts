/** A small tree of files in a temporary folder that is removed when the test ends. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export async function fileTree(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "lattice-tree-"))); // on macOS the temporary folder is a link
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await addFiles(root, files);
  return root;
}

export async function addFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}
