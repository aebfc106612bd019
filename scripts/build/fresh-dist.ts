/** Builds dist/ if it is older than the newest source, so that benches and stories never run an old build. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildEntries, ENTRIES } from "./entries.ts";
import { projectRoot } from "../process/project.ts";

const DIST = join(projectRoot, "dist");
/** The inputs of a bundle: sources, dependencies, and build scripts. */
const SOURCES = ["src", "scripts/build", "package-lock.json"];

export async function freshDist(dist: string = DIST): Promise<string> {
  if (isFresh(dist)) return dist;
  console.log(`${dist} is missing or older than the sources: building it`);
  // a build that is interrupted leaves an entry missing, and is then repeated
  for (const { file } of ENTRIES) rmSync(join(dist, file), { force: true });
  const built = await buildEntries(dist);
  if (!built.ok) throw new Error(built.error.join("\n"));
  return dist;
}

function isFresh(dist: string): boolean {
  const files = ENTRIES.map(({ file }) => join(dist, file));
  if (!files.every((file) => existsSync(file))) return false;
  const oldest = Math.min(...files.map((file) => statSync(file).mtimeMs));
  return newest(SOURCES.map((path) => join(projectRoot, path))) < oldest;
}

function newest(paths: readonly string[]): number {
  return Math.max(...paths.map((path) => (statSync(path).isDirectory() ? newestIn(path) : statSync(path).mtimeMs)));
}

function newestIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}
