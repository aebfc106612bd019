/** Builds dist/ if it is not of the sources as they are, so that benches and stories never run an old build. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../process/project.ts";
import { buildEntries, ENTRIES } from "./entries.ts";
import { buildWithKey, keyOfClone, type KeyedBuild } from "./keyed-build.ts";

const DIST = join(projectRoot, "dist");
/** Written after everything else: a build that is interrupted is repeated. `npm run build` deletes it with dist/. */
const RECORD = ".sources";

export async function freshDist(dist: string = DIST): Promise<string> {
  if (isFresh(dist)) return dist;
  console.log(`${dist} is missing or not of these sources: building it`);
  rmSync(join(dist, RECORD), { force: true });
  const built = await buildWithKey<readonly string[]>(
    () => buildEntries(dist),
    (sentence) => [sentence],
  );
  if (!built.ok) throw new Error(built.error.join("\n"));
  writeFileSync(join(dist, RECORD), JSON.stringify(built.value));
  return dist;
}

function isFresh(dist: string): boolean {
  const record = join(dist, RECORD);
  if (![record, ...ENTRIES.map(({ file }) => join(dist, file))].every((file) => existsSync(file))) return false;
  const { key, dependencies } = JSON.parse(readFileSync(record, "utf8")) as KeyedBuild;
  return keyOfClone(dependencies) === key;
}
