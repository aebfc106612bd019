/**
 * Source with one changed text, for tests that show that a change which breaks it is found. A copy of a folder of `src` with the change is loaded beside the
 * real one. A text that is not found exactly once is an error, so that a mutant stays one when the code changes.
 */
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../../scripts/process/project.ts";

export type SourceChange = { readonly name: string; readonly file: string; readonly find: string; readonly replace: string };

/** `folder`: below src; `entry`: the module of it that is loaded. Relative imports of the copy must stay in the folder. */
export async function loadChanged<T>(folder: string, entry: string, { name, file, find, replace }: SourceChange): Promise<T> {
  // a folder that Git and the linters ignore
  const copy = join(projectRoot, ".vitest/mutants", `${folder}-${name}`.replaceAll(/[^a-z]+/g, "-"));
  await rm(copy, { recursive: true, force: true });
  await cp(join(projectRoot, "src", folder), copy, { recursive: true, filter: (path) => !/\.test(-support)?\.ts$/.test(path) });
  const path = join(copy, file);
  const text = await readFile(path, "utf8");
  if (text.split(find).length !== 2) throw new Error(`${file} does not have this text exactly once: ${find}`);
  const changed = text.replace(find, () => replace);
  await writeFile(path, changed);
  const loaded = (await import(/* @vite-ignore */ join(copy, entry))) as T;
  await rm(copy, { recursive: true, force: true });
  return loaded;
}
